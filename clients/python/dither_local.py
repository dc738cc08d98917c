"""Randomize an answer before it leaves the device: local differential privacy in one file, without dependencies.

    oracle = Oracle("krr", 4, "1")          # four values, epsilon 1
    report = oracle.randomize(2)            # bytes; a lie with probability 3/(e + 3)
    oracle.estimate([report, ...])          # the estimated number of people with each value

The mechanisms are those of dither's Go package `local`. From the same random bytes, both make the same reports.
Probabilities are multiples of 2**-128, computed with integers, and rounded towards more privacy: the exact epsilon of
a report is at most the declared one, and within 1e-9 of it. The proofs are in the comments of the Go code.

Random bytes come from os.urandom, anew for each call. The module is for simulations and devices. The time of a call
depends on the random bytes, and for some mechanisms on the value: do not let others measure it.
"""

import base64
import binascii
import hashlib
import itertools
import json
import math
import os
import re
from fractions import Fraction

__all__ = ["Oracle", "Device", "Numbers", "Vectors", "Survey", "MECHANISMS"]

_ONE = 1 << 320  # the fixed point of e**x
_WHOLE = 1 << 128  # that of coins
_PRIME = (1 << 61) - 1
_FUNCTIONS = 1024  # of flh, cms and hcms, and the number of their cells


class _System:
    """Random bytes of the operating system. A new one is made for each call, so a fork repeats no bytes."""

    def __init__(self):
        self._left = iter(b"")

    def take(self, n):
        out = bytes(itertools.islice(self._left, n))
        while len(out) < n:
            self._left = iter(os.urandom(256))
            out += bytes(itertools.islice(self._left, n - len(out)))
        return out


def _bits(source, width):
    return int.from_bytes(source.take((width + 7) // 8), "little") & ((1 << width) - 1)


def _below(source, n):
    """A uniform integer below n, by rejection."""
    while True:
        v = _bits(source, _width(n))
        if v < n:
            return v


def _toss(source, coin):
    """True with probability coin/2**128: a uniform number of 128 bits is below coin, byte by byte."""
    for digit in coin.to_bytes(16, "big"):
        b = source.take(1)[0]
        if b != digit:
            return b < digit
    return False


def _width(n):
    return (n - 1).bit_length()


def _pack(fields):
    """Fields (value, width) as bytes, the most significant bit first, padded with zeros."""
    number = size = 0
    for value, width in fields:
        number, size = number << width | value, size + width
    return (number << -size % 8).to_bytes((size + 7) // 8, "big")


def _unpack(report, *widths):
    number, left = int.from_bytes(report, "big"), 8 * len(report)
    out = []
    for width in widths:
        left -= width
        out.append(number >> left & ((1 << width) - 1))
    return out


def _epsilon(text):
    """Reads a decimal or a fraction of integers, exactly."""
    text = str(text)
    decimal = re.fullmatch(r"\+?(?=\.?[0-9])[0-9]*(\.[0-9]*)?([eE]([+-]?[0-9]+))?", text)
    if len(text) > 4096 or not re.fullmatch(r"[0-9]+/0*[1-9][0-9]*", text) and (
        not decimal or len(text) > 64 or abs(int(decimal[3] or 0)) > 64
    ):
        raise ValueError(f"{text[:80]!r} is no epsilon")
    e = Fraction(text)
    if not Fraction(1, 10**6) <= e <= 40 or e.denominator >> 256:
        raise ValueError("epsilon is from 0.000001 to 40, with few digits")
    return e


def _format(e):
    """The text of epsilon: a decimal if it has a finite one, otherwise a fraction."""
    for places in range(257):
        if 10**places % e.denominator == 0:
            digits = str(e.numerator * 10**places // e.denominator).rjust(places + 1, "0")
            return digits[: len(digits) - places] + "." + digits[-places:] if places else digits
    return f"{e.numerator}/{e.denominator}"


def _exp(x):
    """e**x for x from 0 to 40, times _ONE, rounded down by a share of less than 2**-256."""
    y = (x.numerator * _ONE // x.denominator) >> 16
    total = term = _ONE
    i = 1
    while term:
        term = term * y // _ONE // i
        total, i = total + term, i + 1
    for _ in range(16):
        total = total * total // _ONE
    return total


def _round(num, den):
    return (2 * num + den) // (2 * den)


def _up(num, den):
    return -(-num * _WHOLE // den)


def _flip(e, parts):
    """The coin of 1/(e**(epsilon/parts) + 1), rounded up."""
    return _up(_ONE, _exp(e / parts) + _ONE)


class _Response:
    """k-ary response: a lie with probability (k - 1)/(grown + k - 1), else the truth."""

    def __init__(self, k, grown):
        others = (k - 1) * _ONE
        self.k, self.lie = k, _up(others, grown + others)

    def draw(self, source, v):
        lie, other = _toss(source, self.lie), _below(source, self.k - 1)  # both drawn in any case
        return other + (other >= v) if lie else v

    @property
    def truth(self):
        return 1 - Fraction(self.lie, _WHOLE)


def _cell(c2, c1, c0, v, g):
    return ((c2 * v + c1) * v + c0) % _PRIME * g >> 61


def _cells(grown):
    """The number of cells with the least variance: round(e**epsilon) + 1, at most 2**16."""
    return min(_round(grown, _ONE) + 1, 1 << 16)


def _sample(source, n, size):
    """Floyd's method: a uniform set of numbers below n."""
    drawn = set()
    for j in range(n - size, n):
        i = _below(source, j + 1)
        drawn.add(j if i in drawn else i)
    return drawn


# Mechanisms. Each has the fields of a report, p and q (the probabilities that a report supports the value of its sender,
# and another value), and `supports`. Those with a memory have the parts of a device.


class _KRR:
    def __init__(self, o):
        self.response = _Response(o.values, _exp(o.epsilon))
        self._rest(o)

    def _rest(self, o):
        self.bits = _width(o.values)
        self.p = self.response.truth
        self.q = (1 - self.p) / (o.values - 1)

    def fields(self, source, v):
        yield self.response.draw(source, v), self.bits

    def supports(self, report, v):
        return _unpack(report, self.bits)[0] == v


class _Coins(_KRR):
    def __init__(self, o):
        self.response = _Response(2, _ONE)
        self.response.lie = _WHOLE // 4
        self._rest(o)


class _Unary:
    def __init__(self, k, own, other):
        self.bits, self.own, self.other = k, own, other
        self.p, self.q = Fraction(own, _WHOLE), Fraction(other, _WHOLE)

    def fields(self, source, v):
        for i in range(self.bits):
            yield int(_toss(source, self.own if i == v else self.other)), 1

    def supports(self, report, v):
        return bool(report[v // 8] & 0x80 >> v % 8)


def _sue(k, e):
    f = _flip(e, 2)
    return _Unary(k, _WHOLE - f, f)


class _OLH:
    def __init__(self, o):
        grown = _exp(o.epsilon)
        self.g = _cells(grown)
        self.response = _Response(self.g, grown)
        self.bits, self.p, self.q = 122 + _width(self.g), self.response.truth, Fraction(1, self.g)

    def fields(self, source, v):
        c1, c0 = _below(source, _PRIME), _below(source, _PRIME)
        yield c1, 61
        yield c0, 61
        yield self.response.draw(source, _cell(0, c1, c0, v, self.g)), _width(self.g)

    def supports(self, report, v):
        c1, c0, cell = _unpack(report, 61, 61, _width(self.g))
        return _cell(0, c1, c0, v, self.g) == cell


class _Shared:
    """The public hash functions of a seed."""

    def __init__(self, seed):
        self.seed, self.known = seed, {}

    def cell(self, f, v, g):
        if f not in self.known:
            d = hashlib.sha256(self.seed.to_bytes(8, "big") + f.to_bytes(8, "big")).digest()
            self.known[f] = [int.from_bytes(d[i : i + 8], "big") % _PRIME for i in (0, 8, 16)]
        return _cell(*self.known[f], v, g)


class _FLH:
    def __init__(self, o):
        grown = _exp(o.epsilon)
        self.g, self.hash = _cells(grown), _Shared(o.seed)
        self.response = _Response(self.g, grown)
        self.bits, self.p, self.q = 10 + _width(self.g), self.response.truth, Fraction(1, self.g)

    def fields(self, source, v):
        f = _below(source, _FUNCTIONS)
        yield f, 10
        yield self.response.draw(source, self.hash.cell(f, v, self.g)), _width(self.g)

    def supports(self, report, v):
        f, cell = _unpack(report, 10, _width(self.g))
        return self.hash.cell(f, v, self.g) == cell


class _Subset:
    def __init__(self, o):
        k, grown = o.values, _exp(o.epsilon)
        self.w = w = min(max(_round(k * _ONE, grown + _ONE), 1), k - 1)
        self.bits, rest = k, (k - w) * _ONE
        self.out = _up(rest, w * grown + rest)
        out = Fraction(self.out, _WHOLE)
        self.p, self.q = 1 - out, ((1 - out) * (w - 1) + out * w) / (k - 1)

    def fields(self, source, v):
        kept = not _toss(source, self.out)
        others = _sample(source, self.bits - 1, self.w - kept)
        chosen = {i + (i >= v) for i in others} | ({v} if kept else set())
        for i in range(self.bits):
            yield int(i in chosen), 1

    supports = _Unary.supports


class _Hadamard:
    def __init__(self, o):
        grown = _exp(o.epsilon)
        self.t, self.m = min((grown // _ONE + 1).bit_length(), 8), _width(o.values)
        self.response = _Response(1 << self.t, grown)
        self.bits, self.p, self.q = self.t * self.m + self.t, self.response.truth, Fraction(1, 1 << self.t)

    def fields(self, source, v):
        cell = 0
        for _ in range(self.t):
            r = _below(source, 1 << self.m)
            cell = cell << 1 | _parity(r & v)
            yield r, self.m
        yield self.response.draw(source, cell), self.t

    def supports(self, report, v):
        *rows, sent = _unpack(report, *[self.m] * self.t, self.t)
        return all(_parity(r & v) == sent >> (self.t - 1 - i) & 1 for i, r in enumerate(rows))


def _parity(x):
    return bin(x).count("1") & 1


class _Memoised:
    """The first report of a new device."""

    def fields(self, source, v):
        own = self.begin(source)
        return self.send(source, own, self.keep(source, own, self.state(own, v)))


class _Rappor(_Memoised):
    def __init__(self, o):
        self.permanent = _sue(o.values, o.epsilon)
        self.bits = self.memory = self.states = o.values
        self.p, self.q = (x * 3 / 4 + (1 - x) / 4 for x in (self.permanent.p, self.permanent.q))

    supports = _Unary.supports

    def begin(self, source):
        return []

    def state(self, own, v):
        return v

    def keep(self, source, own, state):
        return _pack(self.permanent.fields(source, state))

    def send(self, source, own, memo):
        for bit in _unpack(memo, *[1] * self.bits):
            yield bit ^ _toss(source, _WHOLE // 4), 1

    def valid(self, own, memo):
        return not own


class _LOLOHA(_Memoised):
    def __init__(self, o):
        a, r = _exp(o.epsilon), _exp(o.first)
        self.g = self.states = g = _cells(r)
        b = (r * (a + (g - 2) * _ONE) - (g - 1) * _ONE * _ONE) // (a + (a >> 256) + 1 - r)  # see the Go code's proof
        self.permanent, self.instant = _Response(g, a), _Response(g, b)
        self.memory = _width(g)
        self.bits = 122 + self.memory
        stay = self.instant.truth
        self.p = self.permanent.truth * stay + (1 - self.permanent.truth) * (1 - stay) / (g - 1)
        self.q = Fraction(1, g)

    supports = _OLH.supports

    def begin(self, source):
        return [_below(source, _PRIME), _below(source, _PRIME)]

    def state(self, own, v):
        return _cell(0, *own, v, self.g)

    def keep(self, source, own, state):
        return _pack([(self.permanent.draw(source, state), self.memory)])

    def send(self, source, own, memo):
        yield own[0], 61
        yield own[1], 61
        yield self.instant.draw(source, _unpack(memo, self.memory)[0]), self.memory

    def valid(self, own, memo):
        return len(own) == 2 and max(own) < _PRIME and _unpack(memo, self.memory)[0] < self.g


class _DBit(_Memoised):
    def __init__(self, o):
        self.k, self.d = o.values, o.positions
        self.flip = _flip(o.epsilon, 1 if self.d == 1 else 2)
        self.width, self.memory, self.states = _width(self.k), self.d, min(self.d + 1, self.k)
        self.bits = self.d * self.width + self.d
        drawn, f = Fraction(self.d, self.k), Fraction(self.flip, _WHOLE)
        self.p, self.q = drawn * (1 - f), drawn * f

    def begin(self, source):
        return sorted(_sample(source, self.k, self.d))

    def state(self, own, v):
        return own.index(v) if v in own else self.d

    def keep(self, source, own, state):
        return _pack((int(_toss(source, self.flip) != (i == state)), 1) for i in range(self.d))

    def send(self, source, own, memo):
        for v in own:
            yield v, self.width
        for bit in _unpack(memo, *[1] * self.d):
            yield bit, 1

    def supports(self, report, v):
        fields = _unpack(report, *[self.width] * self.d, *[1] * self.d)
        return any(at == v and bit for at, bit in zip(fields, fields[self.d :]))

    def valid(self, own, memo):
        return len(own) == self.d and own == sorted(set(own)) and own[-1] < self.k


class _CMS:
    def __init__(self, o):
        self.sketch, self.hash = _sue(_FUNCTIONS, o.epsilon), _Shared(o.seed)
        self.bits, self.p = 10 + _FUNCTIONS, self.sketch.p
        self.q = self.p / _FUNCTIONS + self.sketch.q * (1 - Fraction(1, _FUNCTIONS))

    def fields(self, source, v):
        f = _below(source, _FUNCTIONS)
        yield f, 10
        yield from self.sketch.fields(source, self.hash.cell(f, v, _FUNCTIONS))

    def supports(self, report, v):
        at = 10 + self.hash.cell(_unpack(report, 10)[0], v, _FUNCTIONS)
        return _Unary.supports(self, report, at)


class _HCMS:
    bits = 21

    def __init__(self, o):
        self.flip, self.hash = _flip(o.epsilon, 1), _Shared(o.seed)
        self.p = 1 - Fraction(self.flip, _WHOLE)
        self.q = self.p / _FUNCTIONS + Fraction(1, 2) * (1 - Fraction(1, _FUNCTIONS))

    def fields(self, source, v):
        f, r = _below(source, _FUNCTIONS), _below(source, _FUNCTIONS)
        yield f, 10
        yield r, 10
        yield _parity(r & self.hash.cell(f, v, _FUNCTIONS)) ^ _toss(source, self.flip), 1

    def supports(self, report, v):
        f, r, sign = _unpack(report, 10, 10, 1)
        return _parity(r & self.hash.cell(f, v, _FUNCTIONS)) == sign


_SCHEMES = {
    "coin": _Coins,
    "krr": _KRR,
    "sue": lambda o: _sue(o.values, o.epsilon),
    "oue": lambda o: _Unary(o.values, _WHOLE // 2, _flip(o.epsilon, 1)),
    "olh": _OLH,
    "flh": _FLH,
    "ss": _Subset,
    "hr": _Hadamard,
    "rappor": _Rappor,
    "loloha": _LOLOHA,
    "dbit": _DBit,
    "cms": _CMS,
    "hcms": _HCMS,
}
MECHANISMS = tuple(_SCHEMES)


def _integer(v, low, high, name):
    if isinstance(v, bool) or not isinstance(v, int) or not low <= v <= high:
        raise ValueError(f"{name} is an integer from {low} to {high}")
    return v


class Oracle:
    """A randomizer of the values 0 ... values - 1, as local.Oracle in Go. Invalid parameters are a ValueError.

    epsilon is a text or a number, from 0.000001 to 40; "coin" does not use it. seed selects the public hash functions
    of "flh", "cms" and "hcms". first is the epsilon of one report of "loloha", half of epsilon by default. positions is
    the number of positions of "dbit".
    """

    def __init__(self, mechanism, values, epsilon=None, seed=0, first=None, positions=None):
        if mechanism not in _SCHEMES:
            raise ValueError(f"there is no mechanism {mechanism!r}")
        most = {"coin": 2, "olh": 1 << 60, "loloha": 1 << 60}.get(mechanism, 1 << 24)
        self.mechanism, self.values = mechanism, _integer(values, 2, most, "the number of values")
        self.epsilon = None if mechanism == "coin" else _epsilon(epsilon)
        self.seed = _integer(seed, 0, (1 << 64) - 1, "the seed")
        if first is not None and mechanism != "loloha" or positions is not None and mechanism != "dbit":
            raise ValueError("first is for loloha, and positions for dbit")
        self.positions = _integer(1 if positions is None else positions, 1, min(values, 4096), "positions")
        self.first = None
        if mechanism == "loloha":
            self.first = self.epsilon / 2 if first is None else _epsilon(first)
            if not Fraction(1, 10**6) <= self.first < self.epsilon:
                raise ValueError("the epsilon of one report is at least 0.000001, and below that of the permanent response")
        self._scheme = _SCHEMES[mechanism](self)
        self.bits = self._scheme.bits
        self.bytes = (self.bits + 7) // 8
        self.states = getattr(self._scheme, "states", None)
        self.p, self.q = self._scheme.p, self._scheme.q  # see local.Oracle in Go

    def randomize(self, value):
        """A report about a value, with fresh randomness. A value outside the domain is a ValueError."""
        return self._report(_System(), self._value(value))

    def _value(self, value):
        return _integer(value, 0, self.values - 1, "a value")

    def _report(self, source, value):
        return _pack(self._scheme.fields(source, value))

    def supports(self, report, value):
        """Whether a report supports a value: with probability p that of its sender, and with probability q another."""
        if len(report) != self.bytes:
            raise ValueError(f"a report has {self.bytes} bytes")
        return self._scheme.supports(report, self._value(value))

    def estimate(self, reports, values=None):
        """The estimated number of people with each value, without bias, and its standard deviation at that number.

        It takes a step for each report and value: it is for simulations. The shared functions of "flh", "cms" and
        "hcms" add to the deviation (see local.Oracle.Variance in Go).
        """
        reports, p, q = list(reports), float(self.p), float(self.q)
        out = []
        for v in range(self.values) if values is None else values:
            count = (sum(self.supports(r, v) for r in reports) - len(reports) * q) / (p - q)
            own = min(max(count, 0), len(reports))
            variance = (own * p * (1 - p) + (len(reports) - own) * q * (1 - q)) / (p - q) ** 2
            out.append((count, math.sqrt(variance)))
        return out

    def _device_for(self):
        """The parameters that a device's memory depends on."""
        out = {"mechanism": self.mechanism, "values": self.values, "epsilon": _format(self.epsilon)}
        if self.first is not None:
            out["first"] = _format(self.first)
        if self.mechanism == "dbit":
            out["positions"] = self.positions
        return out

    def new_device(self):
        """A device with a new memory, for repeated questions with "rappor", "loloha" or "dbit"."""
        return Device(self)

    def open_device(self, stored):
        """A stored device."""
        return Device(self, stored)


class Device:
    """The memory of one person's device, as local.Device in Go. Create it with Oracle.new_device or open_device.

    All reports about a state are made from one permanent response. The loss of all reports together is epsilon times
    the number of states of the value, at most Oracle.states.
    """

    def __init__(self, oracle, stored=None, _source=None):
        if oracle.states is None:
            raise ValueError(f"{oracle.mechanism} has no memory")
        self._oracle, self._scheme, self._memos = oracle, oracle._scheme, {}
        self._for = oracle._device_for()
        if stored is None:
            self._own = self._scheme.begin(_source or _System())
            return
        size = (self._scheme.memory + 7) // 8
        try:
            j = json.loads(stored)
            self._own = [_integer(v, 0, _PRIME, "a number") for v in j["own"] or []]
            for state, memo in (j.get("memos") or {}).items():
                self._memos[int(state)] = base64.b64decode(memo, validate=True)
            spare = (1 << 8 * size - self._scheme.memory) - 1
            # a memory of another oracle has responses with another epsilon; older ones have no parameters
            good = j.get("for", self._for) == self._for and self._scheme.valid(self._own, bytes(size)) and all(
                0 <= s < oracle.states and len(m) == size and not m[-1] & spare and self._scheme.valid(self._own, m)
                for s, m in self._memos.items()
            )
        except (ValueError, TypeError, KeyError, AttributeError, binascii.Error):
            good = False
        if not good:
            raise ValueError("this is no stored device of the mechanism")

    def report(self, value):
        """A report about the current value. Store the device before you send the report."""
        return self._report(_System(), self._oracle._value(value))

    def _report(self, source, value):
        state = self._scheme.state(self._own, value)
        if state not in self._memos:
            self._memos[state] = self._scheme.keep(source, self._own, state)
        return _pack(self._scheme.send(source, self._own, self._memos[state]))

    def stored(self):
        """The memory, as JSON. It is as secret as the values."""
        memos = {str(s): base64.b64encode(m).decode() for s, m in self._memos.items()}
        return json.dumps({"for": self._for, "own": self._own or None, "memos": memos}, separators=(",", ":"))


_STEPS = 1024  # of the input's grid, and those of the output's grid for each of them


class Numbers:
    """A randomizer of numbers from -1 to 1, as mean.Randomizer in Go: "duchi", "piecewise" or "hybrid"."""

    def __init__(self, mechanism, epsilon):
        if mechanism not in ("duchi", "piecewise", "hybrid"):
            raise ValueError(f"there is no mechanism {mechanism!r} of means")
        e = _epsilon(epsilon)
        grown, half = _exp(e), _exp(e / 2)
        self._window = mechanism == "piecewise"
        self._pick = (half - _ONE) * _WHOLE // half if mechanism == "hybrid" and e > Fraction(61, 100) else None
        self._flip = _flip(e, 1)
        self._h, self._rest = _round(_STEPS * _STEPS * _ONE, half), 2 * _STEPS * _STEPS
        self._out = _up(self._rest * _ONE, (2 * self._h + 1) * grown + self._rest * _ONE)
        self._last = _STEPS * _STEPS + self._h  # the points are from -_last to _last
        one = not self._window and self._pick is None
        self.bits = 1 if one else (2 * self._last).bit_length() + (not self._window)

    def randomize(self, x):
        """The text of a report: "+" or "-" for a sign, or an integer for a point of the grid."""
        return self._report(_System(), _number(x))

    def report(self, x):
        """A packed report, as surveys send it."""
        return self._packed(self.randomize(x))

    def _packed(self, text):
        if text in "+-":
            field = int(text == "+")
        else:
            field = int(text) + self._last + (0 if self._window else 1 << (self.bits - 1))
        size = (self.bits + 7) // 8
        return (field << (8 * size - self.bits)).to_bytes(size, "big")

    def _report(self, source, x):
        if self._window or self._pick is not None and _toss(source, self._pick):
            low, span = _STEPS * _rounded(source, x * _STEPS) - self._h, 2 * self._h + 1
            if not _toss(source, self._out):
                return str(low + _below(source, span))
            at = _below(source, self._rest) - _STEPS * _STEPS - self._h
            return str(at + span if at >= low else at)
        up = _rounded(source, (x + 1) / 2) > 0
        return "+" if _toss(source, self._flip) != up else "-"


def _number(x):
    if isinstance(x, bool) or not isinstance(x, (int, float, Fraction)) or not -1 <= x <= 1:
        raise ValueError("a number is from -1 to 1")
    return Fraction(x)


def _rounded(source, x):
    """One of the two integers around x, with the mean x."""
    at = math.floor(x)
    digits = math.floor((x - at) * _WHOLE)
    return at + bool(digits and _toss(source, digits))


class Vectors:
    """A randomizer of vectors of numbers from -1 to 1, as mean.Vector in Go. A report is about a few coordinates."""

    def __init__(self, mechanism, epsilon, length):
        self.length = _integer(length, 1, 1 << 16, "the length of a vector")
        e = _epsilon(epsilon)
        self._size = min(max(math.floor(e * 2 / 5), 1), length)
        self._each = Numbers(mechanism, e / self._size)

    def randomize(self, vector):
        """A list of pairs: the index of a coordinate, and the text of its report."""
        if len(vector) != self.length:
            raise ValueError(f"a vector has {self.length} numbers")
        return self._report(_System(), [_number(x) for x in vector])

    def _report(self, source, vector):
        out = []
        for i, x in enumerate(vector):
            if _below(source, self.length - i) < self._size - len(out):
                out.append((i, self._each._report(source, x)))
        return out


class Survey:
    """A survey of `dither collect`, in its public form: the text of GET /v1/survey, or the object in it.

    epsilon is that of a message, the sum over the questions. The collector chose it, so check it before you answer.
    questions has the Oracle or the Numbers of each question by its name. Other forms are a ValueError.
    """

    def __init__(self, public):
        try:
            form = json.loads(public) if isinstance(public, (str, bytes)) else public
            if form["version"] != 1:
                raise ValueError("the form of the survey is newer than this module")
            self.digest, self.reports, self._form = form["digest"], form["reports"], {}
            self.questions, self.epsilon = {}, Fraction(0)
            for q in form["questions"]:
                name, mechanism, epsilon = q["name"], q["mechanism"], q["epsilon"]
                if "low" in q:
                    each = Numbers(mechanism, epsilon)
                else:
                    each = Oracle(mechanism, q["k"], epsilon, q.get("seed", 0), q.get("first"), q.get("positions"))
                if each.bits != q["bits"] or name in self.questions:
                    raise ValueError(f"the question {name!r} is not understood")
                self.questions[name], self._form[name] = each, q
                self.epsilon += Fraction(epsilon)
        except (KeyError, TypeError, AttributeError):
            raise ValueError("this is no survey in its public form")

    def message(self, answers, devices=None):
        """The body of a POST to /v1/reports as application/json, about an answer to each question by its name.

        An answer is one of the values, or a number if the question has bounds or no list of values. Numbers beyond the
        bounds are clamped. Store the message before you send it, and send the same one until the collector answers: a
        second message about the same answers would reveal more. If the survey is repeated, devices has the Device of
        each question with a memory: store these too before you send.
        """
        if set(answers) != set(self.questions):
            raise ValueError("a message answers each question of the survey, and no other")
        values = {name: self._value(name, answers[name]) for name in self.questions}  # before anything is drawn
        repeated = [n for n, q in self.questions.items() if self.reports > 1 and getattr(q, "states", None) is not None]
        for name in repeated:
            if name not in (devices or {}) or devices[name]._for != self.questions[name]._device_for():
                raise ValueError(f"{name!r} is repeated: give the device of its oracle")
        reports = {}
        for name, each in self.questions.items():
            if name in repeated:
                report = devices[name].report(values[name])
            else:
                report = each.report(values[name]) if isinstance(each, Numbers) else each.randomize(values[name])
            reports[name] = report.hex()
        body = {"version": 1, "survey": self.digest, "id": os.urandom(16).hex(), "answers": reports}
        return json.dumps(body, separators=(",", ":"))

    def _value(self, name, answer):
        q = self._form[name]
        if "low" in q:
            if isinstance(answer, bool) or not isinstance(answer, (int, float, Fraction)) or not math.isfinite(answer):
                raise ValueError(f"the answer to {name!r} is a number")
            low, high = Fraction(q["low"]), Fraction(q["high"])
            return min(max(2 * (Fraction(answer) - low) / (high - low) - 1, Fraction(-1)), Fraction(1))
        if "values" not in q:
            return self.questions[name]._value(answer)
        if answer not in q["values"]:
            raise ValueError(f"{answer!r} is no value of {name!r}")
        return q["values"].index(answer)
