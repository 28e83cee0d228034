/**
 * Draws every `[data-usage-chart]` of the page, whenever one comes.
 *
 * Inside it are a script of data, `{times, step, series: [{name, label, values, stack}]}`, a place for the
 * picture and one for words. Colours are those of the legend's keys, so the style sheets decide. What is
 * drawn is in a table beside it as well.
 */

import uPlot from "uplot";

import { parsed } from "./answers.js";
import { stacked, widened, worded } from "./stacking.js";
import { wheneverLoaded } from "./whenever.js";

const HEIGHT = 200;
const MINUTE = 60;
const HOUR = 3600;
const DAY = 24 * HOUR;
const MONTH = 28 * DAY;
/** From how many seconds between ticks: the label, and what stands below where a year or a day begins. */
const TICKS = [
  [MONTH, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [DAY, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [HOUR, "{HH}:{mm}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
  [MINUTE, "{HH}:{mm}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
];
const charts = new Map();

class UsageChart {
  constructor(root) {
    this.root = root;
    this.place = root.querySelector("[data-chart-place]");
    this.said = root.querySelector("[data-chart-said]");
    this.data = parsed(root.querySelector("script[type='application/json']"));
    this.plot = null;
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(this.place);
  }

  resize() {
    const width = Math.floor(this.place.clientWidth);
    if (!width) return;
    if (!this.plot) this.draw();
    else if (width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
  }

  draw() {
    this.plot?.destroy();
    const { times, step, series } = this.data;
    const layers = series.filter((one) => one.stack);
    const lines = series.filter((one) => !one.stack);
    this.shown = [...layers, ...lines];
    const edges = stacked(layers.map((one) => one.values));
    const options = {
      width: Math.floor(this.place.clientWidth),
      height: HEIGHT,
      // As everywhere in the portal.
      tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { range: () => this.range() }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
      axes: this.axes(),
      series: [{}, ...this.shown.map((one) => this.line(one))],
      bands: layers.slice(1).map((_, at) => ({ series: [at + 2, at + 1] })),
      hooks: { setCursor: [(plot) => this.say(wide.places[plot.cursor.idx])] },
    };
    const wide = widened(times, step, [...edges, ...lines.map((one) => one.values)]);
    this.plot = new uPlot(options, [wide.times, ...wide.lines], this.place);
  }

  range() {
    const { times, step } = this.data;
    return [times[0], times.at(-1) + step];
  }

  line(one) {
    const colour = this.colour(one.name);
    return {
      label: one.label,
      stroke: one.stack ? colour : this.ink("--text"),
      width: one.stack ? 0 : 1.5,
      dash: one.stack ? undefined : [4, 3],
      fill: one.stack ? colour : undefined,
      paths: uPlot.paths.stepped({ align: 1 }),
      points: { show: false },
    };
  }

  axes() {
    const axis = {
      stroke: this.ink("--text-3"),
      grid: { stroke: this.ink("--line"), width: 1 },
      ticks: { show: false },
      font: `12px ${getComputedStyle(this.root).fontFamily}`,
    };
    const whole = (_, values) => values.map((value) => (Number.isInteger(value) ? worded(value) : ""));
    return [{ ...axis, values: TICKS }, { ...axis, size: 56, values: whole }];
  }

  /** A canvas knows no variables: what the browser made of them is asked of an element. */
  ink(variable) {
    this.said.style.setProperty("color", `var(${variable})`);
    const { color } = getComputedStyle(this.said);
    this.said.style.removeProperty("color");
    return color;
  }

  colour(name) {
    const key = this.root.querySelector(`[data-chart-key="${CSS.escape(name)}"]`);
    if (!key) return this.ink("--muted-solid");
    const { fill, fillOpacity } = getComputedStyle(key);
    return fill.replace(/^rgb\((.*)\)$/, `rgba($1, ${fillOpacity})`);
  }

  say(at) {
    const { times } = this.data;
    if (at === null || at === undefined || times[at] === undefined) {
      this.said.textContent = "";
      return;
    }
    const parts = this.shown
      .filter((one) => one.values[at])
      .map((one) => `${one.label} ${worded(one.values[at])}`);
    const known = this.shown.some((one) => one.values[at] !== null);
    const words = known ? parts.join(" · ") || "nothing" : "nobody looked";
    const when = new Date(times[at] * 1000).toISOString().slice(0, 16).replace("T", " ");
    this.said.textContent = `${when} UTC: ${words}`;
  }

  end() {
    this.sizes.disconnect();
    this.plot?.destroy();
  }
}

function forget() {
  for (const [root, chart] of charts) {
    if (root.isConnected) continue;
    chart.end();
    charts.delete(root);
  }
}

function redraw() {
  for (const chart of charts.values()) if (chart.plot) chart.draw();
}

wheneverLoaded((root) => {
  forget();
  const found = [...root.querySelectorAll("[data-usage-chart]")];
  if (root instanceof Element && root.matches("[data-usage-chart]")) found.push(root);
  for (const element of found) {
    if (!charts.has(element)) charts.set(element, new UsageChart(element));
  }
});
new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
