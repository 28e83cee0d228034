/** The functions and macros of Kubernetes' CEL; functions.json is checked against dra.cel. */

import table from "./functions.json" with { type: "json" };

/** Functions that stand alone: `{name, signature, result, text, macro}`. */
export const GLOBALS = table.globals;

const GLOBAL_BY_NAME = new Map(GLOBALS.map((row) => [row.name, row]));

/** The first words of `cel.bind`, `lists.range` and so on. */
export const NAMESPACES = new Set(
  GLOBALS.filter(({ name }) => name.includes(".")).map(({ name }) => name.split(".")[0]),
);

export const globalFunction = (name) => GLOBAL_BY_NAME.get(name) ?? null;

/** The methods of a kind of value, such as "string"; none for a kind that has none. */
export const methodsOf = (kind) => table.methods[kind] ?? [];

export const methodOf = (kind, name) => methodsOf(kind).find((row) => row.name === name) ?? null;

/** Kinds of values that have methods, those first that attributes mostly are. */
export const KINDS_WITH_METHODS = Object.keys(table.methods);
