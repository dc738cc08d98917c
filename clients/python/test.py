"""Runs the shared test vectors, and some checks of the public classes: python3 test.py. It prints the number of checks."""

import hashlib
import json
import math
import pathlib
from fractions import Fraction

import dither_local as local

here, checks = pathlib.Path(__file__).resolve().parent, 0


class Words:
    """The injected random bytes of a vector."""

    def __init__(self, v):
        if "words" in v:
            self.bytes = bytes.fromhex(v["words"])
        else:
            blocks = (hashlib.sha256(f"{v['stream']} {i}".encode()).digest() for i in range(v["used"] // 32 + 1))
            self.bytes = b"".join(blocks)
        self.at = 0

    def take(self, n):
        out = self.bytes[self.at : self.at + n]
        assert len(out) == n, "the random bytes are exhausted"
        self.at += n
        return out


for v in json.loads((here / "../testdata/oracles.json").read_text()):
    seed, first = int(v.get("seed", 0)), v.get("first")
    o = local.Oracle(v["mechanism"], int(v["values"]), v["epsilon"], seed, first, v.get("positions"))
    words, values = Words(v), [int(x) for x in v["of"]]
    if "device" in v:
        device, reports = local.Device(o, _source=words), []
        for x in values:
            reports.append(device._report(words, x).hex())
            device = o.open_device(device.stored())
        assert o.states == v["states"] and json.loads(device.stored()) == json.loads(v["device"]), v
        o.open_device(v["device"])
    else:
        reports = [o._report(words, x).hex() for x in values]
    assert (reports, o.bits, words.at) == (v["reports"], v["bits"], v["used"]), v
    for report, x in zip(v["reports"], values):
        o.supports(bytes.fromhex(report), x)
    if "p" in v:
        assert (o.p, o.q) == (Fraction(v["p"]), Fraction(v["q"])), v
    checks += len(reports)

for v in json.loads((here / "../testdata/means.json").read_text()):
    words, numbers = Words(v), [local._number(x) for x in v["of"]]
    if "coordinates" in v:
        each = local.Vectors(v["mechanism"], v["epsilon"], v["coordinates"])
        reports = [f"{i} {r}" for i, r in each._report(words, numbers)]
    else:
        each = local.Numbers(v["mechanism"], v["epsilon"])
        reports = [each._report(words, x) for x in numbers]
        assert ([each._packed(r).hex() for r in reports], each.bits) == (v["packed"], v["bits"]), v
    assert (reports, words.at) == (v["reports"], v["used"]), v
    checks += len(reports)

# estimates of simulated people are within 6 standard deviations: a false alarm of 1e-8 for each. Shared hash functions
# add at most a deviation of 0.007 n (flh).
for name in local.MECHANISMS:
    o, n = local.Oracle(name, 2, "3"), 200
    (_, _), (count, deviation) = o.estimate(o.randomize(int(i % 4 == 0)) for i in range(n))
    assert abs(count - n / 4) < 6 * (deviation + 0.007 * n), (name, count, deviation)
    checks += 1

# bad input is a ValueError
for bad in [
    ("best", 4, "1"), ("krr", 1, "1"), ("krr", 2.0, "1"), ("krr", True, "1"), ("krr", "4", "1"), ("krr", 2**24 + 1, "1"),
    ("krr", 4, "0"), ("krr", 4, "41"), ("krr", 4, "1e-7"), ("krr", 4, "-1"), ("krr", 4, ""), ("krr", 4, "."), ("krr", 4, "1/0"),
    ("krr", 4, "0x1"), ("krr", 4, "nan"), ("krr", 4, "1_0"), ("krr", 4, " 1"), ("krr", 4, "1e99"), ("krr", 4, "1." + "1" * 63),
    ("krr", 4, "1/" + "9" * 90), ("krr", 4, None), ("krr", 4, "1\n"), ("krr", 4, "١"), ("krr", 4, "1", -1), ("krr", 4, "1", 2**64),
    ("krr", 4, "1", 0, "1"), ("krr", 4, "1", 0, None, 1), ("dbit", 4, "1", 0, None, 5), ("dbit", 4, "1", 0, None, 0),
    ("loloha", 4, "1", 0, "1"), ("coin", 3),
]:
    try:
        local.Oracle(*bad)
    except ValueError:
        checks += 1
    else:
        raise AssertionError(bad)
krr, dbit = local.Oracle("krr", 4, 0.5), local.Oracle("dbit", 4, "1", positions=4)
device = dbit.new_device()
assert device.report(1) == device.report(1)
for call, bad in [
    (local.Oracle("dbit", 4, "2", positions=4).open_device, device.stored()), (krr.randomize, -1), (krr.randomize, 4), (krr.randomize, 1.0), (krr.randomize, "1"), (krr.randomize, True),
    (dbit.open_device, ""), (dbit.open_device, "[]"), (dbit.open_device, "{}"), (dbit.open_device, '{"own":[1]}'),
    (dbit.open_device, '{"own":[0,1,2,3],"memos":{"0":"////"}}'), (dbit.open_device, '{"own":[0,1,2,3],"memos":{"5":"AA=="}}'),
    (local.Numbers("duchi", 1).randomize, 1.01), (local.Numbers("duchi", 1).randomize, math.nan),
    (local.Vectors("duchi", 1, 2).randomize, [0]), (local.Vectors("duchi", 1, 2).randomize, [0, 2]),
]:
    try:
        call(bad)
    except ValueError:
        checks += 1
    else:
        raise AssertionError((call, bad))
print(f"{checks} checks")
