import assert from "node:assert/strict";
import { test } from "node:test";

import { Catalog } from "../src/catalog.js";
import { complete } from "../src/completion.js";
import { asContent, quoted } from "../src/literals.js";

const entry = (domain, name, type, devices, examples) => ({
  domain, name, types: [type], devices, distinct: examples.length, examples,
});
const CATALOG = new Catalog({
  devices: 100,
  attributes: [
    entry("gpu.nvidia.com", "productName", "string", 80, ["NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB"]),
    entry("gpu.nvidia.com", "type", "string", 90, ["gpu", "mig"]),
    entry("gpu.nvidia.com", "driverVersion", "version", 80, ["580.105.8"]),
    entry("gpu.nvidia.com", "index", "int", 10, ["0", "-1"]),
    entry("gpu.nvidia.com", "healthy", "bool", 10, ["true"]),
    entry("gpu.nvidia.com", "in", "string", 1, ["a"]),
    entry("dra.net", "rdma", "bool", 10, ["true"]),
    entry("dra.net", "alias", "string", 10, ['say "hi"', "back\\slash", "two\nlines"]),
    entry("dra.net", "modes", "strings", 10, ["a"]),
  ],
  capacity: [entry("gpu.nvidia.com", "memory", "quantity", 90, ["81559Mi"])],
});
const A = 'device.attributes["gpu.nvidia.com"]';
const K = 'device.capacity["gpu.nvidia.com"]';

const options = (text, asked = true) => complete(text, CATALOG, asked)?.options ?? [];
const labels = (text, asked = true) => options(text, asked).map(({ label }) => label);
/** Whether all of these are proposed. */
const proposes = (text, ...wanted) => {
  const got = labels(text);
  assert.deepEqual(wanted.filter((one) => !got.includes(one)), [], `${text} gave ${got.slice(0, 20)}`);
};
const never = (text, ...unwanted) => {
  const got = labels(text);
  assert.deepEqual(unwanted.filter((one) => got.includes(one)), [], text);
};

test("device has its four fields", () => {
  const fields = ["attributes", "capacity", "driver", "allowMultipleAllocations"];
  assert.deepEqual(labels("device."), fields);
  assert.deepEqual(labels("true && !device.at"), ["attributes", "allowMultipleAllocations"]);
  assert.deepEqual(labels("device.?"), fields);
  assert.equal(complete("device.at", CATALOG, false).from, 7);
});

test("domains are proposed in the brackets of a map, most devices first", () => {
  for (const text of ['device.attributes["', "device.attributes['", 'device.attributes[?"']) {
    assert.deepEqual(labels(text), ["gpu.nvidia.com", "dra.net"], text);
  }
  assert.deepEqual(labels("device.attributes["), ["gpu.nvidia.com", "dra.net"]);
  assert.deepEqual(labels('device.capacity["'), ["gpu.nvidia.com"]);
  assert.deepEqual(labels('device.attributes["gpu.n'), ["gpu.nvidia.com"]);
  assert.equal(complete('device.attributes["gpu.n', CATALOG, false).from, 'device.attributes["'.length);
});

test("domains are proposed after the dot of a map too, beside its macros", () => {
  proposes("device.attributes.", "gpu.nvidia.com", "exists", "all", "size");
});

test("names of the domain are proposed, and no others", () => {
  for (const text of [`${A}.`, `${A}.r`, `has(${A}.`, `!(${A}.`, 'device.attributes[?"gpu.nvidia.com"].?']) {
    proposes(text, "productName", "driverVersion");
    never(text, "rdma", "memory");
  }
  assert.deepEqual(labels(`${K}["`), ["memory"]);
  proposes(`${K}.`, "memory", "exists");
  never('device.attributes[?"gpu.nvidia.com"].?', "exists", "orValue");
});

test("names of all domains are proposed when the domain is not written out", () => {
  proposes("device.attributes.exists(d, device.attributes[d].", "productName", "rdma");
});

test("a name that cannot follow a dot is written in brackets", () => {
  const [inOption, plain] = ["in", "type"].map((name) => options(`${A}.`).find(({ label }) => label === name));
  assert.equal(typeof inOption.apply, "function");
  assert.equal(plain.apply, undefined);
});

test("values that the attribute has are proposed next to it", () => {
  const products = ["NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB"];
  const inString = [
    `${A}.productName == "`, `${A}.productName != '`, `${A}.productName in ["`, `${A}.productName in ["x", "NV`,
    `${A}.productName.startsWith("`, `true || ${A}.productName == "`, `${A}.?productName.orValue("") == "`,
    `cel.bind(g, ${A}, g.productName == "`, `${A}["productName"] == "`,
  ];
  for (const text of inString) assert.deepEqual(labels(text, false), products, text);
  for (const text of [`${A}.productName == `, `${A}.productName in [`, `${A}.productName in ["x", `]) {
    assert.deepEqual(labels(text, false), products.map(quoted), text);
  }
  assert.deepEqual(labels('device.driver == "'), ["gpu.nvidia.com", "dra.net"]);
});

test("values are literals of their type", () => {
  assert.deepEqual(labels(`${A}.index == `, false), ["0", "-1"]);
  assert.deepEqual(labels(`${A}.index < `, false), ["0", "-1"]);
  assert.deepEqual(labels(`${A}.healthy == `, false), ["true", "false"]);
  assert.deepEqual(labels(`${K}.memory == `, false), ['quantity("81559Mi")']);
  assert.deepEqual(labels(`${K}.memory.isGreaterThan(`, false), ['quantity("81559Mi")']);
  assert.deepEqual(labels(`${K}.memory.isGreaterThan(quantity("`, false), ["81559Mi"]);
  assert.deepEqual(labels(`${A}.driverVersion.compareTo(semver("`, false), ["580.105.8"]);
});

test("nothing is proposed that would be an error or always false", () => {
  assert.deepEqual(labels(`${A}.driverVersion == "`), []);
  assert.deepEqual(labels(`${A}.driverVersion < `, false), []);
  assert.deepEqual(labels(`${A}.driverVersion.compareTo(quantity("`), []);
  assert.deepEqual(labels(`${K}.memory > `, false), []);
  assert.deepEqual(labels(`${A}.productName == b"`), []);
});

test("values with quotes, backslashes and line breaks are escaped", () => {
  const dra = 'device.attributes["dra.net"].alias';
  assert.deepEqual(labels(`${dra} == `, false), ['"say \\"hi\\""', '"back\\\\slash"', '"two\\nlines"']);
  assert.deepEqual(labels(`${dra} == '`), ['say "hi"', "back\\\\slash", "two\\nlines"]);
  assert.deepEqual(labels(`${dra} == r"`), ["back\\slash"]);
  assert.equal(asContent("a'b", { prefix: "", quote: "'" }), "a\\'b");
});

test("methods are those of the type before the dot", () => {
  const strings = ["startsWith", "lowerAscii", "matches"];
  for (const text of [`${A}.type.`, "device.driver.", '"a".', `${A}.type.lowerAscii().`, '("a").']) {
    proposes(text, ...strings);
    never(text, "isGreaterThan", "asInteger", "exists");
  }
  for (const text of [`${K}.memory.`, 'quantity("1").', `${K}.memory.add(1).`]) {
    proposes(text, "compareTo", "isGreaterThan", "asInteger");
    never(text, "major", "startsWith");
  }
  for (const text of [`${A}.driverVersion.`, 'semver("1.2.3").']) {
    proposes(text, "compareTo", "major");
    never(text, "asInteger", "startsWith");
  }
  proposes("[1, 2].", "exists", "sum", "isSorted");
  proposes('"a,b".split(",").', "join", "all");
  proposes(`${A}.?type.`, "orValue", "hasValue");
  proposes(`${A}.?type.orValue("").`, "startsWith");
  proposes('device.attributes["dra.net"].modes.', "exists");
  proposes("cel.", "bind");
  proposes('ip("::1").', "family");
  assert.deepEqual(labels(`${A}.healthy.`), []);
  assert.deepEqual(labels("1."), []);
});

test("an attribute that nobody has may be a string or a version", () => {
  proposes(`${A}.nobody.`, "startsWith", "isGreaterThan");
});

test("names that macros make are known inside of them", () => {
  proposes(`cel.bind(gpu, ${A}, gpu.`, "productName");
  proposes(`cel.bind(v, semver("1.0.0"), v.`, "major");
  proposes(`${A}.exists(k, k.`, "startsWith");
  proposes(`device.attributes.exists(d, names, names.`, "productName");
  proposes(`["a"].all(x, x.`, "startsWith");
  proposes(`cel.bind(gpu, ${A}, [1].exists(i, `, "gpu", "i", "device");
  never(`cel.bind(gpu, ${A}, true) && g`, "gpu");
  never(`cel.bind(gpu, gpu.`, "productName");
});

test("functions are proposed where an operand may begin, once something is typed or asked for", () => {
  for (const text of ["", "true && ", "(", "[", "device.driver == ", "size(", "true ? ", "!"]) {
    assert.ok(labels(text).includes("quantity"), text);
  }
  assert.deepEqual(labels("", false), []);
  assert.deepEqual(labels("true && ", false), []);
  proposes("true && i", "isQuantity", "device", "cel.bind", "ip");
});

test("what is typed is in every proposal, in one piece", () => {
  assert.deepEqual(labels('device.attributes["NVIDIA'), ["gpu.nvidia.com"]);
  assert.deepEqual(labels("true && foo"), []);
  const { validFor } = complete("true && fo", CATALOG, false);
  assert.deepEqual(["format", "for", "foo", "fo.", "fo "].map(validFor), [true, true, false, false, false]);
});

test("nothing is proposed where nothing of the kind may stand", () => {
  for (const text of ["// dev", "true // ", '"dev', "12", "device ", "(true) ", "x.y ", 'b"', ").", "1 +.", "12.de"]) {
    assert.deepEqual(labels(text), [], text);
  }
});

test("half an expression of any kind does no harm", () => {
  const whole = `cel.bind(x, ${A}.?type.orValue("😀"), [1, {"a": x}].exists(i, j, j[?0].b == r'''x''') ? .5 : -0x1u) // end`;
  for (let at = 0; at <= whole.length; at += 1) options(whole.slice(0, at));
  for (const text of ["))))", "]]]].", "in in in.", ".....", '."".', "device.attributes[[[[", "cel.bind(,,,", "exists(x, x."]) {
    options(text);
  }
});

test("deep and long texts are answered soon", () => {
  const texts = [
    `${"(".repeat(5000)}device.`, `device${".a".repeat(3000)}.`, `${"[1].map(x, ".repeat(800)}x.`,
    `${"cel.bind(x, x, ".repeat(600)}x.`, `${"x(".repeat(2000)}${")".repeat(2000)}.`, `${"!".repeat(9000)}d`,
  ];
  for (const text of texts) {
    const started = performance.now();
    options(text);
    const took = performance.now() - started;
    assert.ok(took < 2_000, `${text.slice(0, 20)}: ${took} ms`);
  }
});
