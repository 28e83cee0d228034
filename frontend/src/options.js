/** How a proposal looks, and what it writes when it is taken. */

import { pickedCompletion } from "@codemirror/autocomplete";

import { quoted } from "./literals.js";

const NOT_AFTER_A_DOT = new Set(["in", "true", "false", "null"]);

/** Whether `map.name` can be written; else it has to be `map["name"]`. */
export const mayFollowDot = (name) => /^[A-Za-z_]\w*$/.test(name) && !NOT_AFTER_A_DOT.has(name);

const number = (value) => value.toLocaleString("en");

export function fieldOption({ name, detail, text }, boost) {
  return { label: name, detail, info: () => paragraphs([text]), boost };
}

export function domainOption({ domain, names, devices }, catalog, apply) {
  const option = {
    label: domain,
    detail: names === 1 ? "1 name" : `${number(names)} names`,
    info: () => paragraphs([onDevices(devices, catalog, names > 1 && devices < catalog.devices)]),
    boost: share(devices, catalog),
  };
  return { ...option, apply: apply ?? quoted(domain) };
}

export function entryOption(entry, catalog, apply) {
  return {
    label: entry.name,
    detail: entry.types.join(" or "),
    info: () => describe(entry, catalog),
    boost: share(entry.devices, catalog),
    ...(apply && { apply }),
  };
}

export function functionOption(row, boost = 0) {
  return {
    label: row.name,
    detail: row.macro ? "macro" : "function",
    info: () => paragraphs([row.signature, row.text]),
    boost,
    apply: writeCall(/\(\)/.test(row.signature)),
  };
}

/** Names on more devices come first; at most 90, so that better matches still win. */
const share = (devices, catalog) =>
  catalog.devices ? Math.round((90 * devices) / catalog.devices) : 0;

const onDevices = (devices, catalog, atLeast = false) =>
  `On ${atLeast ? "at least " : ""}${number(devices)} of ${number(catalog.devices)} devices.`;

function describe(entry, catalog) {
  const values = entry.distinct === 1 ? "1 value" : `${number(entry.distinct)} values`;
  const lines = [
    `${entry.domain}/${entry.name}`,
    `${entry.types.join(" or ")}, ${values}`,
    onDevices(entry.devices, catalog),
  ];
  if (entry.examples.length) lines.push(`Such as ${entry.examples.join(", ")}`);
  return paragraphs(lines);
}

function paragraphs(lines) {
  const box = document.createElement("div");
  for (const [at, line] of lines.entries()) {
    const part = document.createElement("div");
    if (at === 0 && lines.length > 1) part.className = "cel-info-head";
    part.textContent = line;
    box.append(part);
  }
  return box;
}

function write(view, option, from, to, text, cursor = text.length) {
  view.dispatch({
    changes: { from, to, insert: text },
    selection: { anchor: from + cursor },
    scrollIntoView: true,
    userEvent: "input.complete",
    annotations: pickedCompletion.of(option),
  });
}

/** A call, the cursor between its parentheses if it has arguments. */
const writeCall = (withoutArguments) => (view, option, from, to) => {
  const called = view.state.sliceDoc(to, to + 1) === "(";
  const text = called ? option.label : `${option.label}()`;
  write(view, option, from, to, text, text.length - (called || withoutArguments ? 0 : 1));
};

/** The key in `device.attributes[…]`: `string` is the open string it is in, or null. */
export const keyIn = (string) => (view, option, from, to) => {
  const end = string ? endOfContent(view.state, to, string.quote) : to;
  const close = view.state.sliceDoc(end, end + 1) === "]" ? end + 1 : end;
  const text = string ? option.label + string.quote : quoted(option.label);
  write(view, option, from, close, `${text}]`);
};

/** All of the open string's content, and its quote. */
export const contentOf = (string) => (view, option, from, to) => {
  const end = endOfContent(view.state, to, string.quote);
  write(view, option, from, end, option.label + string.quote);
};

/** Behind the quote that closes the string around `at`, or `at` if none seems to. */
function endOfContent(state, at, quote) {
  const behind = state.sliceDoc(at, at + 256);
  const content = /^[\w ./:-]*/.exec(behind)[0].length;
  return behind.startsWith(quote, content) ? at + content + quote.length : at;
}

/** Instead of the dot at `dot`, which the name cannot follow: `["gpu.nvidia.com"]`. */
export const bracketFor = (dot) => (view, option, from, to) => {
  const mark = view.state.sliceDoc(dot + 1, dot + 2) === "?" ? "?" : "";
  write(view, option, dot, to, `[${mark}${quoted(option.label)}]`);
};

const INFO_WIDTH = 400;
const INFO_LEAST = 220; // narrower than this it goes below or above the list

/** Where the description of a proposal goes: it never covers the other proposals. */
export function beside(_view, list, option, info, space) {
  const right = space.right - list.right;
  const left = list.left - space.left;
  const height = info.bottom - info.top;
  const enough = Math.min(INFO_LEAST, info.right - info.left);
  if (Math.max(right, left) >= enough) {
    const top = Math.max(space.top, Math.min(option.top, space.bottom - height)) - list.top;
    const [edge, room] = right >= enough ? ["left", right] : ["right", left];
    return { style: `top: ${top}px; ${edge}: 100%; max-width: ${Math.min(INFO_WIDTH, room)}px` };
  }
  const below = space.bottom - list.bottom;
  const edge = below >= height || below > list.top - space.top ? "top" : "bottom";
  const width = Math.min(INFO_WIDTH, space.right - list.left);
  return { style: `${edge}: 100%; left: -1px; max-width: ${width}px` };
}
