/** What the editor proposes: attributes of this cluster, their values, functions. */

import { GLOBALS, methodsOf } from "./functions.js";
import { asContent, quoted } from "./literals.js";
import { bracketFor, contentOf, domainOption, entryOption, fieldOption, functionOption, keyIn, mayFollowDot } from "./options.js";
import { placeAt } from "./place.js";
import { inNamespace, inside } from "./types.js";

const FIELDS = [
  { name: "attributes", detail: "map", text: "Attributes of the device, by domain and name." },
  { name: "capacity", detail: "map", text: "Capacities of the device as quantities, by domain and name." },
  { name: "driver", detail: "string", text: "The driver that published the device." },
  {
    name: "allowMultipleAllocations",
    detail: "bool",
    text: "True if several claims may share the device.",
  },
];
const ANYTHING_IN_A_STRING = /^[^"'\\\n]*$/;
const WORD = /^\w*$/;

/** The kinds of value that each type of the catalog is in CEL. */
const KIND_OF_TYPE = new Map([
  ["string", "string"], ["int", "int"], ["bool", "bool"], ["version", "semver"], ["quantity", "quantity"],
  ["strings", "list"], ["ints", "list"], ["bools", "list"], ["versions", "list"],
]);

/**
 * The proposals at the end of `text`, the expression up to the cursor.
 *
 * @param {boolean} asked the person asked for them; else only what is likely to be wanted
 * @returns {{from, options, validFor} | null} as CodeMirror takes it
 */
export function complete(text, catalog, asked) {
  const place = placeAt(text);
  if (!place) return null;
  const typed = text.slice(place.from);
  const options = OPTIONS[place.place](place, catalog, asked || typed !== "");
  const of = place.string ? ANYTHING_IN_A_STRING : WORD;
  // CodeMirror also finds letters far apart: "foo" in format.dns1123Subdomain.
  const fits = (written) => of.test(written) && options.some(({ label }) => has(label, written));
  const found = options.filter(({ label }) => has(label, typed));
  return found.length ? { from: place.from, options: found, validFor: fits } : null;
}

const has = (label, typed) => label.toLowerCase().includes(typed.toLowerCase());

const OPTIONS = {
  start: (place, catalog, asked) => {
    const values = place.compared ? literals(place.compared, catalog) : [];
    const others = asked ? startOptions(place.scope) : [];
    return [...values, ...others.filter(({ label }) => !values.some((value) => value.label === label))];
  },
  member: memberOptions,
  key: (place, catalog) =>
    place.type.kind === "domains"
      ? catalog.domains(place.type.map).map((one) => domainOption(one, catalog, keyIn(place.string)))
      : catalog
          .names(place.type.map, place.type.domain)
          .map((entry) => entryOption(entry, catalog, keyIn(place.string))),
  string: (place, catalog) => stringOptions(place, catalog),
};

function startOptions(names) {
  return [
    { label: "device", detail: "the device", boost: 3 },
    ...names.map(({ name }) => ({ label: name, detail: "variable", boost: 2 })),
    ...GLOBALS.map((row) => functionOption(row)),
    { label: "true", detail: "bool" },
    { label: "false", detail: "bool" },
  ];
}

// --- after a dot -----------------------------------------------------------

function memberOptions({ type, optional, dot }, catalog) {
  const value = inside(type);
  const fields = fieldsOf(value, catalog, dot);
  // After `.?` only a field may stand.
  return optional ? fields : [...fields, ...methodOptions(type, catalog)];
}

function fieldsOf(value, catalog, dot) {
  switch (value.kind) {
    case "device":
      return FIELDS.map((field, at) => fieldOption(field, FIELDS.length - at));
    case "domains":
      return catalog.domains(value.map).map((one) => domainOption(one, catalog, bracketFor(dot)));
    case "domain":
      return catalog
        .names(value.map, value.domain)
        .map((entry) => entryOption(entry, catalog, mayFollowDot(entry.name) ? undefined : bracketFor(dot)));
    case "namespace":
      return inNamespace(value.name).map((row) => functionOption(row));
    default:
      return [];
  }
}

function methodOptions(type, catalog) {
  const rows = kindsOf(type, catalog).flatMap(methodsOf);
  const once = new Map(rows.map((row) => [row.name, row]));
  return [...once.values()].map((row) => functionOption(row, -10));
}

/** The kinds of value that methods may be called on. */
export function kindsOf(type, catalog) {
  if (type.kind === "domains" || type.kind === "domain") return ["map"];
  if (type.kind !== "attribute") return [type.kind];
  if (type.map === "capacity") return ["quantity"];
  const entry = catalog.find(type);
  if (!entry) return ["string", "semver"];
  return [...new Set(entry.types.map((name) => KIND_OF_TYPE.get(name) ?? "unknown"))];
}

// --- values ----------------------------------------------------------------

/** What the values of the other side look like: `{kind, text}`. */
function commonValues({ type }, catalog) {
  if (type.source === "driver") {
    return catalog.domains("attributes").map(({ domain }) => ({ kind: "string", text: domain }));
  }
  if (type.kind !== "attribute") return [];
  const entry = catalog.find(type);
  if (!entry || entry.types.length !== 1) return [];
  const kind = type.map === "capacity" ? "quantity" : KIND_OF_TYPE.get(entry.types[0]);
  return entry.examples.map((text) => ({ kind, text }));
}

/** Values as literals of the language: "H100", 4, true, semver("580.0.0"). */
function literals(compared, catalog) {
  const values = commonValues(compared, catalog);
  const options = values.flatMap(({ kind, text }) => {
    const literal = literalOf(kind, text, compared);
    return literal === null ? [] : [{ label: literal }];
  });
  const isBool = kindsOf(compared.type, catalog).join() === "bool" && compared.by === "equality";
  return inOrder(isBool ? [{ label: "true" }, { label: "false" }] : options);
}

function literalOf(kind, text, { by, wrapper }) {
  if (wrapper) return wrapper === kind ? quoted(text) : null;
  switch (kind) {
    case "string":
      return quoted(text);
    case "int":
      return by === "method" || !/^-?\d+$/.test(text) ? null : text;
    case "semver":
    case "quantity":
      // Their order is asked for with methods; < and > do not know them.
      return by === "order" ? null : `${kind}(${quoted(text)})`;
    default:
      return null;
  }
}

function stringOptions({ compared, string }, catalog) {
  const wanted = compared.wrapper ?? "string";
  const values = commonValues(compared, catalog).filter(({ kind }) => kind === wanted);
  return inOrder(
    values.flatMap(({ text }) => {
      const written = asContent(text, string);
      return written === null ? [] : [{ label: written, apply: contentOf(string) }];
    }),
  );
}

/** The server's order, most common first, survives equal matches. */
const inOrder = (options) =>
  options.map((option, at) => ({ ...option, boost: Math.max(99 - at, 10) }));
