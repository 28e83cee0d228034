"""Random questions about one node in which everything meets everything.

Small enough to be answered by trying.
"""

from __future__ import annotations

from random import Random
from typing import Any

from dra.allocation import Features
from tests.dra.allocation.world import (
    cluster,
    distinct,
    everything,
    exactly,
    first_of,
    match,
    wanted,
)
from tests.dra.builders import DRIVER, Json, claim, consumes, counter_set, device, piece

OTHER = "nic.example.com"
KIND = "device.attributes[device.driver].kind"


class Questions:
    """A cluster of one node, and claims of one pod; different for each ``random``."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lists = self.chance(0.35)
        self.grouped = self.chance(0.3)
        self.counted = self.chance(0.6)
        self.shared = self.chance(0.35)
        self.tainted = self.chance(0.3)
        self.features = Features.preset("1.36").override(
            {
                "listTypeAttributes": self.lists,
                "deviceCompatibilityGroups": self.grouped,
            }
        )
        drivers = (DRIVER, OTHER)[: random.choice([1, 1, 2])]
        pools = [(d, f"p{n}") for d in drivers for n in range(random.choice([1, 1, 2]))]
        made = {pool: self.devices(pool[0]) for pool in pools}
        self.snapshot = cluster(
            *(part for pool in pools for part in self.slices(*pool, made[pool])),
            *self.holders(made),
        )
        self.claims = [self.claim(n) for n in range(random.choice([1, 1, 1, 2]))]

    def chance(self, likely: float) -> bool:
        return self.random.random() < likely

    def slices(self, driver: str, pool: str, made: list[Json]) -> list[Json]:
        of = 2 if self.counted else 1
        name = f"{driver}-{pool}"
        found = [piece(name, *made, driver=driver, pool=pool, of=of)]
        if self.counted:
            sets = [
                counter_set(s, **{n: str(self.random.randint(1, 5)) for n in "mn"})
                for s in ("s0", "s1")
            ]
            spec: Json = {"driver": driver, "pool": pool, "of": of}
            found.append(piece(f"{name}-s", sharedCounters=sets, **spec))
        return found

    def devices(self, driver: str) -> list[Json]:
        most = 7 if self.shared or self.counted else 9
        prefix = "" if driver == DRIVER else f"{DRIVER}/"
        return [
            device(f"g{i}", **self.fields(prefix))
            for i in range(self.random.randint(2, most))
        ]

    def fields(self, prefix: str) -> Json:
        random = self.random
        attributes: Json = {"kind": {"string": random.choice("xxyyz")}}
        for name in "ab":
            if self.lists and self.chance(0.5):
                some = sorted(random.sample(range(4), random.randint(1, 2)))
                attributes[prefix + name] = {"ints": some}
            elif self.chance(0.92):
                attributes[prefix + name] = {"int": random.randrange(4)}
        fields: Json = {"attributes": attributes}
        if self.counted and self.chance(0.8):
            sets = random.sample(["s0", "s1"], random.choice([1, 1, 2]))
            fields["consumesCounters"] = [self.draws(name) for name in sets]
        if self.shared and self.chance(0.6):
            fields["allowMultipleAllocations"] = True
        if self.shared and self.chance(0.8):
            memory: Json = {"value": str(random.choice([4, 8, 10]))}
            if "allowMultipleAllocations" in fields and self.chance(0.6):
                limits = {"min": "1", "step": "1", "max": "10"}
                memory["requestPolicy"] = {"default": "1", "validRange": limits}
            fields["capacity"] = {"memory": memory}
        if self.tainted and self.chance(0.3):
            taint = {"key": random.choice("kl"), "effect": "NoSchedule"}
            fields["taints"] = [taint]
        return fields

    def draws(self, name: str) -> Json:
        random = self.random
        counters = random.sample("mn", random.randint(1, 2))
        use = consumes(
            name, **{c: str(random.choice([0, 1, 1, 2, 3])) for c in counters}
        )
        if self.grouped and self.chance(0.6):
            groups = random.sample(["t", "u", "v"], random.randint(1, 2))
            use["compatibilityGroups"] = groups
        return use

    def holders(self, made: dict[tuple[str, str], list[Json]]) -> list[Json]:
        found: list[Json] = []
        for (driver, pool), devices in made.items():
            for part in devices:
                if not self.chance(0.12):
                    continue
                held: Json = {
                    "request": "r",
                    "driver": driver,
                    "pool": pool,
                    "device": part["name"],
                }
                if part.get("allowMultipleAllocations"):
                    number = f"{len(found):012}"
                    held["shareID"] = f"11111111-1111-4111-8111-{number}"
                    if "capacity" in part:
                        amount = str(self.random.choice([1, 2, 4]))
                        held["consumedCapacity"] = {"memory": amount}
                elif self.chance(0.1):
                    held["adminAccess"] = True
                found.append(claim(f"held-{len(found)}", held))
        return found

    def claim(self, number: int) -> Any:
        name = f"claim-{number}"
        return self.pairs(name) if self.chance(0.3) else self.anything(name)

    def pairs(self, name: str) -> Any:
        """Devices of two kinds, side by side."""
        random = self.random
        requests, rules = [], []
        rule, value = (
            random.choice([match, match, match, distinct]),
            random.choice("ab"),
        )
        for n in range(random.randint(2, 4)):
            both = [f"{kind}{n}" for kind in "xy"]
            rules.append(rule(value, *both))
            for one in both:
                wanted_kind = f'{KIND} == "{one[0]}"'
                requests.append(exactly(one, random.choice([1, 1, 1, 2]), wanted_kind))
        if self.chance(0.5):
            random.shuffle(requests)
        if self.chance(0.4):
            rules.append(distinct(random.choice("ab"), "x0", "x1"))
        return wanted(*requests, name=name, constraints=rules)

    def anything(self, name: str) -> Any:
        random = self.random
        requests, names = [], []
        for r in range(random.randint(1, 4)):
            own = f"r{r}"
            names.append(own)
            if self.chance(0.25):
                subs = [self.request(f"s{s}") for s in range(random.randint(2, 3))]
                requests.append(first_of(own, *subs))
                names += [f"{own}/{sub['name']}" for sub in subs]
            else:
                admin = {"adminAccess": True} if self.chance(0.05) else {}
                requests.append(self.request(own, **admin))
        rules = []
        for _ in range(random.choice([0, 1, 1, 2, 3])):
            meant = random.sample(names, random.randint(1, min(3, len(names))))
            rule = random.choice([match, distinct])
            rules.append(
                rule(random.choice("ab"), *(meant if self.chance(0.5) else ()))
            )
        return wanted(*requests, name=name, constraints=rules)

    def request(self, name: str, **fields: Any) -> Json:
        random = self.random
        expressions = []
        if self.chance(0.6):
            expressions.append(f'{KIND} == "{random.choice("xy")}"')
        if self.chance(0.15):
            expressions.append(f'device.driver == "{random.choice([DRIVER, OTHER])}"')
        if self.shared and self.chance(0.5):
            amount = str(random.choice([1, 2, 3, 5]))
            fields["capacity"] = {"requests": {"memory": amount}}
        if self.tainted and self.chance(0.4):
            key = {"key": "k"} if self.chance(0.5) else {}
            fields["tolerations"] = [{"operator": "Exists", **key}]
        if self.chance(0.12):
            return everything(name, *expressions, **fields)
        return exactly(
            name, random.choice([1, 1, 2, 2, 3, 4, 5]), *expressions, **fields
        )
