/** What is wrong with a text, in words; where it stands is for diagnostics.js and marks.js. */

import { forEachDiagnostic } from "@codemirror/lint";

const WORDS = { error: "Error", warning: "Warning", info: "Note" };
const TONES = { error: "bad", warning: "warn", info: "info" };
const WORST_FIRST = Object.keys(WORDS);

/** The severity, or error for one that nobody knows. */
export const known = (severity) => (Object.hasOwn(WORDS, severity) ? severity : "error");

export const sentence = ({ severity, message }) => `${WORDS[severity]}: ${message}`;

/** One diagnostic with its severity in words: colour alone says nothing. */
export function withWords(diagnostic) {
  const renderMessage = () => {
    const line = document.createElement("span");
    line.textContent = sentence(diagnostic);
    return line;
  };
  return { ...diagnostic, renderMessage };
}

const isWorse = (one, other) => WORST_FIRST.indexOf(one) < WORST_FIRST.indexOf(other);

/** The worst diagnostic at the cursor, the first of them; or null. */
export function atCursor(state) {
  const { head } = state.selection.main;
  let here = null;
  forEachDiagnostic(state, (diagnostic, from, to) => {
    if (head < from || head > to) return;
    if (!here || isWorse(diagnostic.severity, here.severity)) here = diagnostic;
  });
  return here;
}

/** How many there are: `{error, warning, info}`. */
export function counts(state) {
  const found = { error: 0, warning: 0, info: 0 };
  forEachDiagnostic(state, ({ severity }) => {
    found[severity] += 1;
  });
  return found;
}

/** For the status line, `{text, tone}`; null if nothing is wrong at the cursor. */
export function saidHere(state) {
  const here = atCursor(state);
  return here && { text: sentence(here), tone: TONES[here.severity] };
}
