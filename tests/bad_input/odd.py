"""Parts of objects as no API server would serve them, each under what is odd about it."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

DEVICES: dict[str, Any] = {
    "null": None,
    "none": [],
    "a text": "gpu-0",
    "a number": 4,
    "a null among them": [None, {"name": "gpu-0"}],
    "without a name": [{}],
    "name is null": [{"name": None}],
    "name is a number": [{"name": 7}],
    "one name twice": [{"name": "gpu-0"}, {"name": "gpu-0"}],
    "200 devices": [{"name": f"gpu-{i}"} for i in range(200)],
    "unknown fields": [{"name": "gpu-0", "future": {"deep": [1, None, {"x": "é"}]}}],
    "attribute null": [{"name": "gpu-0", "attributes": {"a": None}}],
    "attribute without a value": [{"name": "gpu-0", "attributes": {"a": {}}}],
    "attribute with two": [
        {"name": "gpu-0", "attributes": {"a": {"int": 1, "string": "x"}}}
    ],
    "attribute of a future type": [
        {"name": "gpu-0", "attributes": {"a": {"duration": "5s"}}}
    ],
    "attribute is a list": [{"name": "gpu-0", "attributes": {"a": [1]}}],
    "attribute is text": [{"name": "gpu-0", "attributes": {"a": "x"}}],
    "attribute int is text": [{"name": "gpu-0", "attributes": {"a": {"int": "x"}}}],
    "attributes null": [{"name": "gpu-0", "attributes": None}],
    "attributes a list": [{"name": "gpu-0", "attributes": []}],
    "attribute without a name": [{"name": "gpu-0", "attributes": {"": {"int": 1}}}],
    "attribute name odd": [
        {"name": "gpu-0", "attributes": {'a/b/c "<&\n': {"string": "<b>\n\u2028"}}}
    ],
    "lists in attributes": [
        {
            "name": "gpu-0",
            "attributes": {"a": {"strings": ["x", "y"]}, "b": {"ints": []}},
        }
    ],
    "null in a list": [{"name": "gpu-0", "attributes": {"a": {"strings": [None]}}}],
    "capacity does not parse": [
        {"name": "gpu-0", "capacity": {"memory": {"value": "12 parsecs"}}}
    ],
    "capacity null": [{"name": "gpu-0", "capacity": {"memory": None}}],
    "capacity empty": [{"name": "gpu-0", "capacity": {"memory": {}}}],
    "capacity value an object": [{"name": "gpu-0", "capacity": {"m": {"value": {}}}}],
    "capacity of 1e400": [{"name": "gpu-0", "capacity": {"m": {"value": "1e400"}}}],
    "capacity negative": [{"name": "gpu-0", "capacity": {"m": {"value": "-5Gi"}}}],
    "policy odd": [
        {
            "name": "gpu-0",
            "allowMultipleAllocations": True,
            "capacity": {
                "m": {
                    "value": "1Gi",
                    "requestPolicy": {
                        "default": "x",
                        "validValues": [None, "y"],
                        "validRange": {"min": "?", "step": None},
                    },
                }
            },
        }
    ],
    "counters do not parse": [
        {
            "name": "gpu-0",
            "consumesCounters": [
                {"counterSet": "s", "counters": {"m": {"value": "many"}}}
            ],
        }
    ],
    "counters of no set": [
        {
            "name": "gpu-0",
            "consumesCounters": [{"counterSet": "s", "counters": {"m": {"value": 1}}}],
        }
    ],
    "counters null": [
        {"name": "gpu-0", "consumesCounters": [None, {"counters": None}]}
    ],
    "taints odd": [
        {"name": "gpu-0", "taints": [None, {}, {"key": "k", "effect": "Never"}]}
    ],
    "taints text": [{"name": "gpu-0", "taints": "all"}],
    "selector odd": [
        {
            "name": "gpu-0",
            "nodeSelector": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "", "operator": "Near"}]}
                ]
            },
        }
    ],
    "a name of 253 characters": [{"name": "x" * 253}],
    "a huge number": [{"name": "gpu-0", "attributes": {"a": {"int": 10**30}}}],
}

SPECS: dict[str, Json] = {
    "unknown fields": {"futureField": {"a": [1, {"b": None}]}},
    "no pool": {"pool": None},
    "pool is text": {"pool": "p"},
    "pool without a name": {"pool": {"generation": 1, "resourceSliceCount": 1}},
    "no driver": {"driver": None},
    "driver is a number": {"driver": 7},
    "driver of 253 characters": {"driver": "d" * 253},
    "driver with a slash": {"driver": "a/b"},
    "negative generation": {
        "pool": {"name": "p", "generation": -3, "resourceSliceCount": 1}
    },
    "huge generation": {
        "pool": {"name": "p", "generation": 10**25, "resourceSliceCount": 1}
    },
    "negative count": {
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": -1}
    },
    "no devices at all": {"devices": None, "sharedCounters": []},
    "two ways to nodes": {"allNodes": True},
    "node without a name": {"nodeName": ""},
    "node name is a list": {"nodeName": ["n"]},
    "selector of nodes odd": {
        "nodeName": None,
        "nodeSelector": {
            "nodeSelectorTerms": [{"matchExpressions": [{"operator": 1}]}]
        },
    },
    "counters and devices": {
        "sharedCounters": [{"name": "s", "counters": {"m": {"value": "1"}}}]
    },
    "counters that do not parse": {
        "devices": None,
        "sharedCounters": [{"name": "s", "counters": {"m": {"value": "a lot"}}}],
    },
    "counters odd": {"devices": None, "sharedCounters": [None, {"counters": None}]},
    "nothing": {"driver": None, "pool": None, "devices": None, "nodeName": None},
}

NAMES = {
    "slashes": "a/b",
    "slash first": "/a",
    "slash last": "a/",
    "two slashes": "a//b",
    "dot": ".",
    "two dots": "..",
    "percent": "100%",
    "escaped slash": "a%2Fb",
    "question": "what?is=it&so#on",
    "space": " a b ",
    "quotes": "\"'<b>&amp;",
    "unicode": "größe-图-🜁",
    "newline": "a\nb",
    "yaml": "yaml",
    "classes": "classes",
    "long": "n" * 253,
    "plus": "a+b;c=d,e@f:g",
    "backslash": "a\\b",
    "nul": "a\x00b",
    "surrogate": "a\ud800b",
}

CLAIM_SPECS: dict[str, Any] = {
    "requests null": {"devices": {"requests": None}},
    "a request null": {"devices": {"requests": [None]}},
    "a request is text": {"devices": {"requests": ["gpu"]}},
    "a request without anything": {"devices": {"requests": [{}]}},
    "capacity does not parse": {
        "devices": {
            "requests": [
                {
                    "name": "r",
                    "exactly": {
                        "deviceClassName": "good-class",
                        "capacity": {"requests": {"memory": "12 parsecs"}},
                    },
                }
            ]
        }
    },
    "capacity is a list": {
        "devices": {
            "requests": [{"name": "r", "exactly": {"capacity": {"requests": ["1Gi"]}}}]
        }
    },
    "count negative": {
        "devices": {
            "requests": [
                {"name": "r", "exactly": {"deviceClassName": "good-class", "count": -4}}
            ]
        }
    },
    "count huge": {
        "devices": {
            "requests": [
                {
                    "name": "r",
                    "exactly": {"deviceClassName": "good-class", "count": 10**24},
                }
            ]
        }
    },
    "mode of the future": {
        "devices": {
            "requests": [
                {
                    "name": "r",
                    "exactly": {
                        "deviceClassName": "good-class",
                        "allocationMode": "Some",
                    },
                }
            ]
        }
    },
    "class is a number": {
        "devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": 7}}]}
    },
    "selectors odd": {
        "devices": {
            "requests": [
                {
                    "name": "r",
                    "exactly": {
                        "deviceClassName": "good-class",
                        "selectors": [None, {}, {"cel": None}, {"cel": {}}],
                    },
                }
            ]
        }
    },
    "selectors text": {
        "devices": {"requests": [{"name": "r", "exactly": {"selectors": "x"}}]}
    },
    "alternatives odd": {
        "devices": {
            "requests": [{"name": "r", "firstAvailable": [None, {"name": "s"}]}]
        }
    },
    "alternatives text": {"devices": {"requests": [{"firstAvailable": "x"}]}},
    "constraints odd": {
        "devices": {
            "requests": [],
            "constraints": [None, {}, {"requests": "r", "matchAttribute": 4}],
        }
    },
    "constraints text": {"devices": {"constraints": "same"}},
    "config odd": {"devices": {"config": [None, {"opaque": None}, {"requests": 1}]}},
    "devices a list": {"devices": []},
    "devices text": {"devices": "gpu"},
}

CLASS_SPECS: dict[str, Any] = {
    "no CEL": {"selectors": [{"cel": {"expression": "device..driver"}}]},
    "a number": {"selectors": [{"cel": {"expression": 4}}]},
    "null selectors": {"selectors": [None, {"cel": None}]},
    "text": {"selectors": "all"},
    "config odd": {"config": [None, {"opaque": {"parameters": [1, None]}}]},
    "config text": {"config": "x"},
    "config entry text": {"config": ["x"]},
    "resource name a list": {"extendedResourceName": []},
    "fails on every device": {
        "selectors": [{"cel": {"expression": 'device.attributes["x"].y == "z"'}}]
    },
    "asks a quantity that does not parse": {
        "selectors": [{"cel": {"expression": 'quantity("1 lot") == quantity("1")'}}]
    },
}

RULE_SPECS: dict[str, Any] = {
    "no taint": {},
    "taint text": {"taint": "x"},
    "taint null": {"taint": None, "deviceSelector": None},
    "selector odd": {"deviceSelector": {"driver": 4}, "taint": {"key": "k"}},
    "selector text": {"deviceSelector": "all", "taint": {"key": "k"}},
    "effect of the future": {"taint": {"key": "k", "effect": "Slow", "value": None}},
    "everything": {"taint": {"key": "k", "effect": "None"}},
}

METAS: dict[str, Json] = {
    "labels text": {"labels": "a=b"},
    "label a number": {"labels": {"a": 1}},
    "owners odd": {"ownerReferences": [None, {"kind": 4}]},
    "owners text": {"ownerReferences": "pod"},
    "times odd": {"creationTimestamp": "yesterday", "deletionTimestamp": 5},
    "time without zone": {"creationTimestamp": "2026-01-01T00:00:00"},
    "time far away": {"creationTimestamp": "9999-12-31T23:59:59Z"},
    "uid a number": {"uid": 7, "resourceVersion": 8},
    "generation text": {"generation": "x"},
}

NO_SPECS: list[Any] = [None, 5, "x", [], {}, [None]]
NO_STATUSES: list[Any] = [5, "x", [], {"allocation": 5}, {"conditions": [None, 3]}]
