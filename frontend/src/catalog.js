/**
 * What can be read in a cluster: which attributes and capacities its devices have.
 *
 * The server sends `{"devices": 10245, "attributes": [entry], "capacity": [entry]}`, an entry
 * being `{"domain", "name", "types": ["string"], "devices": 8192, "distinct": 3,
 * "examples": ["H100"]}`: on how many devices, how many different values, the most common ones.
 */

const SECONDS = 15;

const texts = (list) => (Array.isArray(list) ? list.filter((one) => typeof one === "string") : []);
const count = (number) => (Number.isFinite(number) ? number : 0);

function entries(list) {
  if (!Array.isArray(list)) return [];
  return list
    .filter((one) => typeof one?.domain === "string" && typeof one.name === "string")
    .map((one) => ({
      domain: one.domain,
      name: one.name,
      types: texts(one.types),
      devices: count(one.devices),
      distinct: count(one.distinct),
      examples: texts(one.examples),
    }));
}

export class Catalog {
  /** @param {object} json what the server sent; what is not as it should be is left out */
  constructor(json = {}) {
    this.devices = count(json?.devices);
    this.maps = { attributes: entries(json?.attributes), capacity: entries(json?.capacity) };
  }

  /** The domains of a map: `{domain, names, devices}`, on most devices first. */
  domains(map) {
    const found = new Map();
    for (const { domain, devices } of this.maps[map]) {
      const one = found.get(domain) ?? { domain, names: 0, devices: 0 };
      one.names += 1;
      // The same device has many attributes: at least as many as its most common one has.
      one.devices = Math.max(one.devices, devices);
      found.set(domain, one);
    }
    return [...found.values()].sort((a, b) => b.devices - a.devices);
  }

  /** The entries of a domain; of all domains, one each name, if it is null. */
  names(map, domain) {
    if (domain !== null) return this.maps[map].filter((entry) => entry.domain === domain);
    const found = new Map();
    for (const entry of this.maps[map]) {
      if (!(found.get(entry.name)?.devices >= entry.devices)) found.set(entry.name, entry);
    }
    return [...found.values()];
  }

  /** The entry of one attribute or capacity; null if no device has it. */
  find({ map, domain, name }) {
    const all = this.maps[map].filter(
      (entry) => entry.name === name && (domain === null || entry.domain === domain),
    );
    return all[0] ?? null;
  }
}

const NOTHING = new Catalog();
const asked = new Map();

async function ask(url) {
  const answer = await fetch(url, {
    headers: { Accept: "application/json" },
    credentials: "same-origin",
    signal: AbortSignal.timeout(SECONDS * 1000),
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return new Catalog(await answer.json());
}

/**
 * The catalog at this address, asked for once a page. Without one, or when it cannot be had,
 * an empty one: functions are still completed. The next call asks again after a failure.
 */
export function catalogAt(url) {
  if (!url) return Promise.resolve(NOTHING);
  if (!asked.has(url)) {
    const answer = ask(url).catch(() => {
      asked.delete(url);
      return NOTHING;
    });
    asked.set(url, answer);
  }
  return asked.get(url);
}
