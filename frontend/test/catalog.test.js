import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { Catalog, catalogAt } from "../src/catalog.js";

const entry = (domain, name, devices) => ({ domain, name, types: ["string"], devices, distinct: 1, examples: ["a"] });
const { fetch } = globalThis;

afterEach(() => {
  globalThis.fetch = fetch;
});

/** Answers every request with the next of these, and counts them. */
function answering(...answers) {
  const asked = [];
  globalThis.fetch = async (url) => {
    asked.push(url);
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    if (answer instanceof Error) throw answer;
    return new Response(answer, { status: answer === "" ? 500 : 200 });
  };
  return asked;
}

test("what is not as it should be is left out", () => {
  const strange = { devices: "9", attributes: [null, { name: "x" }, { domain: "d", name: "n", types: "s", examples: [1, "a"] }] };
  const catalog = new Catalog(strange);
  assert.equal(catalog.devices, 0);
  assert.deepEqual(catalog.names("attributes", "d"), [
    { domain: "d", name: "n", types: [], devices: 0, distinct: 0, examples: ["a"] },
  ]);
  assert.deepEqual(new Catalog(null).domains("capacity"), []);
});

test("domains come by devices, names without a domain once each", () => {
  const catalog = new Catalog({
    devices: 9,
    attributes: [entry("a", "x", 2), entry("b", "x", 7), entry("b", "y", 1)],
  });
  assert.deepEqual(catalog.domains("attributes"), [
    { domain: "b", names: 2, devices: 7 },
    { domain: "a", names: 1, devices: 2 },
  ]);
  assert.deepEqual(catalog.names("attributes", null).map(({ domain, name }) => [domain, name]), [["b", "x"], ["b", "y"]]);
  assert.equal(catalog.find({ map: "attributes", domain: "a", name: "y" }), null);
});

test("a catalog is asked for once", async () => {
  const asked = answering('{"devices": 3}');
  const [first, second] = await Promise.all([catalogAt("/once"), catalogAt("/once")]);
  assert.equal(first.devices, 3);
  assert.equal(first, second);
  assert.deepEqual(asked, ["/once"]);
});

test("without an address nothing is asked for", async () => {
  const asked = answering("{}");
  assert.equal((await catalogAt(undefined)).devices, 0);
  assert.deepEqual(asked, []);
});

test("a failure is an empty catalog, and the next call asks again", async () => {
  const asked = answering(new Error("offline"), "", "<html>", '{"devices": 3}');
  const devices = [];
  for (let i = 0; i < 4; i += 1) devices.push((await catalogAt("/broken")).devices);
  assert.deepEqual(devices, [0, 0, 0, 3]);
  assert.equal(asked.length, 4);
});
