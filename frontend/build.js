/**
 * Builds static/js from src. The files are committed: who runs the portal needs no npm.
 *
 * With --check nothing is written: it fails when a committed file is not what a build gives.
 */

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const OUT = join(HERE, "..", "static", "js");
/** What is built, and where the licences of what is in it are. */
const ENTRIES = new Map([
  ["cel-editor", "cel-editor.licenses.txt"],
  ["cel-highlight", "cel-editor.licenses.txt"],
  ["yaml-editor", "yaml-editor.licenses.txt"],
  ["charts", "charts.licenses.txt"],
]);

/** The SHA-256 of all that decides what is built; tests/frontend/test_bundle.py does the same. */
function fingerprint() {
  const sources = readdirSync(join(HERE, "src")).sort().map((name) => `src/${name}`);
  const hash = createHash("sha256");
  for (const name of ["build.js", "package-lock.json", ...sources]) {
    hash.update(`${name}\0`).update(readFileSync(join(HERE, name))).update("\0");
  }
  return hash.digest("hex");
}

async function bundle(name) {
  return build({
    absWorkingDir: HERE,
    entryPoints: [`src/${name}.js`],
    outdir: OUT,
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    banner: {
      js: `/* Built by "make frontend" from frontend/ ${fingerprint()}. Licenses: ${ENTRIES.get(name)} */`,
    },
  });
}

/** The licences of the packages of which anything is in the bundle. */
function notices(name, metafile) {
  const folders = new Set();
  for (const input of Object.keys(metafile.inputs)) {
    const found = /^(node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) folders.add(found[1]);
  }
  const parts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(HERE, folder, "package.json")));
    const text = readFileSync(join(HERE, folder, "LICENSE"), "utf8").trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  const head = `${name}.js contains these packages, under these licences.\n`;
  return [head, ...parts].join(`\n${"-".repeat(80)}\n\n`);
}

const files = new Map();
for (const [name, licences] of ENTRIES) {
  const { outputFiles, metafile } = await bundle(name);
  for (const { path, contents } of outputFiles) files.set(path, Buffer.from(contents));
  const isOwn = licences.startsWith(name);
  if (isOwn) files.set(join(OUT, licences), Buffer.from(notices(name, metafile)));
}

if (process.argv.includes("--check")) {
  const differs = [...files].filter(([path, contents]) => {
    try {
      return !readFileSync(path).equals(contents);
    } catch {
      return true;
    }
  });
  for (const [path] of differs) {
    console.error(`static/js/${basename(path)} is not what a build gives: run make frontend`);
  }
  process.exitCode = differs.length ? 1 : 0;
} else {
  for (const [path, contents] of files) writeFileSync(path, contents);
}
