// The randomizers of dither's Go package `local`, choice for choice: from the same random bytes both make the same
// reports. Probabilities are multiples of 2⁻¹²⁸. They are computed with integers alone, and rounded towards more privacy.
// The proofs are in the comments of the Go code. This file is not exported: nobody but tests chooses the random bytes.

const one = 1n << 320n; // the fixed point of e^x
const prime = (1n << 61n) - 1n;
const functions = 1024; // of flh, cms and hcms, and the number of their cells

const refuse = (condition, message) => {
  if (condition) throw new RangeError(`dither: ${message}`);
};

/** Source draws integers from random bytes. `fill` replaces the bytes of a buffer; without it, the buffer is all there is. */
export class Source {
  constructor(buffer, fill) {
    this.buffer = buffer;
    this.fill = fill;
    this.at = fill ? buffer.length : 0;
  }
  byte() {
    if (this.at === this.buffer.length) {
      if (!this.fill) throw new Error("dither: the random bytes are exhausted");
      this.fill(this.buffer);
      this.at = 0;
    }
    return this.buffer[this.at++];
  }
  /** A uniform integer of at most 32 bits. */
  bits(width) {
    let v = 0;
    for (let i = 0; i < width; i += 8) v |= this.byte() << i;
    return width < 32 ? v & ((1 << width) - 1) : v >>> 0;
  }
  /** A uniform integer below n ≤ 2³², by rejection. */
  below(n) {
    const width = widthOf(n);
    for (;;) {
      const v = this.bits(width);
      if (v < n) return v;
    }
  }
  /** A uniform integer below 2⁶¹ − 1, by rejection. */
  belowPrime() {
    for (;;) {
      const low = this.bits(32), high = this.bits(29);
      const v = (BigInt(high) << 32n) | BigInt(low);
      if (v < prime) return v;
    }
  }
  /** True with the probability of the coin: a uniform number of 128 bits is below the coin's. */
  toss(coin) {
    for (let i = 0; i < 16; i++) {
      const b = this.byte();
      if (b !== coin[i]) return b < coin[i];
    }
    return false;
  }
  wipe() {
    this.buffer.fill(0);
    this.at = this.buffer.length;
  }
}

/** The number of bits of the integers below n. */
const widthOf = (n) => 32 - Math.clz32(n - 1);

/** Writes a field of at most 32 bits. The most significant bit is first. */
function put(report, at, width, v) {
  for (let i = width - 1; i >= 0; i--, at++) if ((v >>> i) & 1) report[at >> 3] |= 0x80 >> (at & 7);
}
function get(report, at, width) {
  let v = 0;
  for (let i = 0; i < width; i++, at++) v = v * 2 + ((report[at >> 3] >> (7 - (at & 7))) & 1);
  return v;
}
function putPrime(report, at, v) {
  put(report, at, 29, Number(v >> 32n));
  put(report, at + 29, 32, Number(v & 0xffffffffn));
}

// Numbers

/** Reads ε: a decimal or a fraction, as two integers. */
export function parse(text) {
  const m = /^\+?(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text), f = /^(\d+)\/(\d+)$/.exec(text);
  let num, den;
  refuse(text.length > 4096, "ε has too many digits");
  if (f) [num, den] = [BigInt(f[1]), BigInt(f[2])];
  else {
    refuse(!m || !(m[1] || m[2]) || text.length > 64 || Math.abs(m[3] ?? 0) > 64, `"${text}" is no ε`);
    const power = Number(m[3] ?? 0) - (m[2] ?? "").length;
    num = BigInt(m[1] + (m[2] ?? "")) * 10n ** BigInt(Math.max(power, 0));
    den = 10n ** BigInt(Math.max(-power, 0));
  }
  refuse(den === 0n || num > 40n * den || num * 1000000n < den, "ε is from 0.000001 to 40");
  let [a, b] = [num, den];
  while (b) [a, b] = [b, a % b];
  [num, den] = [num / a, den / a];
  refuse(den >> 256n, "ε has too many digits");
  return { num, den };
}
/** The text of ε: a decimal if it has a finite one, otherwise a fraction. */
function format({ num, den }) {
  let [a, b] = [num, den];
  while (b) [a, b] = [b, a % b];
  [num, den] = [num / a, den / a];
  for (let places = 0; places <= 256; places++) {
    const scale = 10n ** BigInt(places);
    if (scale % den) continue;
    const digits = String((num * scale) / den).padStart(places + 1, "0"), at = digits.length - places;
    return places ? `${digits.slice(0, at)}.${digits.slice(at)}` : digits;
  }
  return `${num}/${den}`;
}
const share = (e, parts) => ({ num: e.num, den: e.den * BigInt(parts) });
const below = (a, b) => a.num * b.den < b.num * a.den;

/**
 * e^x for x from 0 to 40, times `one`, rounded down by a share of less than 2⁻²⁵⁶: the series of x/2¹⁶ has 40 terms that are
 * rounded, and each of 16 squarings doubles the error.
 */
function exp({ num, den }) {
  const y = (num * one) / den >> 16n;
  let sum = one;
  for (let term = one, i = 1n; term; sum += term) term = ((term * y) / one) / i++;
  for (let i = 0; i < 16; i++) sum = (sum * sum) / one;
  return sum;
}
const above = (e) => e + (e >> 256n) + 1n; // an upper bound on the number of which e is the lower one
const round = (num, den) => (2n * num + den) / (2n * den);

/** The digits of a coin, from its probability times 2¹²⁸. */
function coin(n) {
  const digits = new Uint8Array(16);
  for (let i = 15; i >= 0; i--, n >>= 8n) digits[i] = Number(n & 255n);
  return digits;
}
const up = (num, den) => ((num << 128n) + den - 1n) / den; // num/den in units of 2⁻¹²⁸, rounded up
const flip = (e, parts) => up(one, exp(share(e, parts)) + one); // 1/(e^(ε/parts) + 1)

/** k-ary response on 0 … k − 1: a lie with probability (k − 1)/(e^ε + k − 1), else the truth. `grown` is e^ε. */
function response(k, grown) {
  const others = BigInt(k - 1) * one, lie = coin(up(others, grown + others));
  return (s, v) => {
    const lies = s.toss(lie), other = s.below(k - 1); // both drawn in any case
    return !lies ? v : other < v ? other : other + 1;
  };
}

// Hash functions

const constants = Uint32Array.from(
  ("428a2f9871374491b5c0fbcfe9b5dba53956c25b59f111f1923f82a4ab1c5ed5d807aa9812835b01243185be550c7dc372be5d7480deb1fe" +
    "9bdc06a7c19bf174e49b69c1efbe47860fc19dc6240ca1cc2de92c6f4a7484aa5cb0a9dc76f988da983e5152a831c66db00327c8bf597fc7" +
    "c6e00bf3d5a7914706ca63511429296727b70a852e1b21384d2c6dfc53380d13650a7354766a0abb81c2c92e92722c85a2bfe8a1a81a664b" +
    "c24b8b70c76c51a3d192e819d6990624f40e3585106aa07019a4c1161e376c082748774c34b0bcb5391c0cb34ed8aa4a5b9cca4f682e6ff3" +
    "748f82ee78a5636f84c878148cc7020890befffaa4506cebbef9a3f7c67178f2").match(/.{8}/g),
  (x) => parseInt(x, 16));

/** SHA-256 of 16 bytes: two integers of 64 bits. It returns four of these. */
function sha256(a, b) {
  const w = new Uint32Array(64), turn = (x, n) => (x >>> n) | (x << (32 - n));
  w.set([a >> 32n, a & 0xffffffffn, b >> 32n, b & 0xffffffffn].map(Number));
  w[4] = 0x80000000;
  w[15] = 128;
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15], y = w[i - 2];
    w[i] = w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
  }
  const start = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
  const h = Uint32Array.from(start);
  for (let i = 0; i < 64; i++) {
    const [a, b, c, , e, f, g] = h;
    const t = h[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i];
    const u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h.copyWithin(1, 0, 7);
    h[4] += t;
    h[0] = t + u;
  }
  start.forEach((x, i) => (h[i] += x));
  return [0, 2, 4, 6].map((i) => (BigInt(h[i]) << 32n) | BigInt(h[i + 1]));
}

/** The cell of v, of g cells, under a polynomial modulo 2⁶¹ − 1. */
function cell([c2, c1, c0], v, g) {
  const x = (((c2 * v + c1) % prime) * v + c0) % prime;
  return Number((x * BigInt(g)) >> 61n);
}

/** The public hash functions of a seed, by number. */
function family(seed) {
  const known = [];
  return (f, v, g) => cell((known[f] ??= sha256(seed, BigInt(f)).slice(0, 3).map((x) => x % prime)), BigInt(v), g);
}

// Mechanisms. Each is a function of its parameters, and returns the size of a report in bits and `draw`, which packs a
// report of zeros. Those with a memory have the parts of a device instead.

const krrOf = (k, draw) => ({ bits: widthOf(k), draw: (s, v, report) => put(report, 0, widthOf(k), draw(s, v)) });
const halfUp = 1n << 127n, whole = 1n << 128n;
const twoCoins = coin(1n << 126n);

function unaryOf(k, own, other) {
  return {
    bits: k,
    draw(s, v, report, at = 0) {
      for (let i = 0; i < k; i++) if (s.toss(i === v ? own : other)) put(report, at + i, 1, 1);
    },
  };
}
function sue(k, e) {
  const f = flip(e, 2);
  return unaryOf(k, coin(whole - f), coin(f));
}

/** The number of cells with the least variance: round(e^ε) + 1, at most 2¹⁶. */
const cells = (grown) => Math.min(Number(round(grown, one)) + 1, 1 << 16);

/** Floyd's method: a uniform set of `size` numbers below n. */
function sample(s, n, size, has, add) {
  for (let j = n - size; j < n; j++) {
    const i = s.below(j + 1);
    add(has(i) ? j : i);
  }
}

const mechanisms = {
  coin: () => krrOf(2, (s, v) => {
    const lies = s.toss(twoCoins);
    return lies ? 1 - v : v;
  }),
  krr: ({ k, grown }) => krrOf(k, response(k, grown)),
  sue: ({ k, e }) => sue(k, e),
  oue: ({ k, e }) => unaryOf(k, coin(halfUp), coin(flip(e, 1))),
  olh({ grown }) {
    const g = cells(grown), respond = response(g, grown);
    return {
      bits: 122 + widthOf(g),
      draw(s, v, report) {
        const c1 = s.belowPrime(), c0 = s.belowPrime();
        putPrime(report, 0, c1);
        putPrime(report, 61, c0);
        put(report, 122, widthOf(g), respond(s, cell([0n, c1, c0], v, g)));
      },
    };
  },
  flh({ grown, hash }) {
    const g = cells(grown), respond = response(g, grown);
    return {
      bits: 10 + widthOf(g),
      draw(s, v, report) {
        const f = s.below(functions);
        put(report, 0, 10, f);
        put(report, 10, widthOf(g), respond(s, hash(f, v, g)));
      },
    };
  },
  ss({ k, grown }) {
    const w = Math.min(Math.max(Number(round(BigInt(k) * one, grown + one)), 1), k - 1);
    const rest = BigInt(k - w) * one, out = coin(up(rest, BigInt(w) * grown + rest));
    return {
      bits: k,
      draw(s, v, report) {
        const place = (i) => (i >= v ? i + 1 : i), kept = !s.toss(out); // value i of the other values
        if (kept) put(report, v, 1, 1);
        sample(s, k - 1, kept ? w - 1 : w, (i) => get(report, place(i), 1), (i) => put(report, place(i), 1, 1));
      },
    };
  },
  hr({ k, grown }) {
    const t = Math.min((grown / one + 1n).toString(2).length, 8), m = widthOf(k), respond = response(1 << t, grown);
    return {
      bits: t * m + t,
      draw(s, v, report) {
        let bits = 0;
        for (let i = 0; i < t; i++) {
          const r = s.below(2 ** m);
          put(report, i * m, m, r);
          bits = (bits << 1) | parity(r & v);
        }
        put(report, t * m, t, respond(s, bits));
      },
    };
  },
  rappor({ k, e }) {
    const permanent = sue(k, e);
    return {
      bits: k,
      memory: k,
      states: k,
      begin: () => [],
      state: (own, v) => v,
      keep: (s, own, v, memo) => permanent.draw(s, v, memo),
      send(s, own, memo, report) {
        report.set(memo);
        for (let i = 0; i < k; i++) if (s.toss(twoCoins)) report[i >> 3] ^= 0x80 >> (i & 7);
      },
      valid: (own) => own.length === 0,
    };
  },
  loloha({ e, grown, first }) {
    const r = exp(first), g = cells(r), n = BigInt(g), width = widthOf(g);
    const b = (r * (grown + (n - 2n) * one) - (n - 1n) * one * one) / (above(grown) - r); // see the proof of the Go code
    const permanent = response(g, grown), instant = response(g, b);
    return {
      bits: 122 + width,
      memory: width,
      states: g,
      begin: (s) => [s.belowPrime(), s.belowPrime()],
      state: (own, v) => cell([0n, ...own], v, g),
      keep: (s, own, state, memo) => put(memo, 0, width, permanent(s, state)),
      send(s, own, memo, report) {
        putPrime(report, 0, own[0]);
        putPrime(report, 61, own[1]);
        put(report, 122, width, instant(s, get(memo, 0, width)));
      },
      valid: (own, memo) => own.length === 2 && own.every((c) => c < prime) && get(memo, 0, width) < g,
    };
  },
  dbit({ k, e, d }) {
    const f = coin(flip(e, d === 1 ? 1 : 2)), width = widthOf(k);
    return {
      bits: d * width + d,
      memory: d,
      states: Math.min(d + 1, k),
      begin(s) {
        const own = new Set();
        sample(s, k, d, (i) => own.has(i), (i) => own.add(i));
        return [...own].sort((a, b) => a - b).map(BigInt);
      },
      state: (own, v) => (own.indexOf(BigInt(v)) + d + 1) % (d + 1), // d if it has no position
      keep(s, own, state, memo) {
        for (let i = 0; i < d; i++) if (s.toss(f) !== (i === state)) put(memo, i, 1, 1);
      },
      send(s, own, memo, report) {
        own.forEach((v, i) => put(report, i * width, width, Number(v)));
        own.forEach((v, i) => put(report, d * width + i, 1, get(memo, i, 1)));
      },
      valid: (own) => own.length === d && own.every((v, i) => v < k && (i === 0 || v > own[i - 1])),
    };
  },
  cms({ e, hash }) {
    const bits = sue(functions, e);
    return {
      bits: 10 + functions,
      draw(s, v, report) {
        const f = s.below(functions);
        put(report, 0, 10, f);
        bits.draw(s, hash(f, v, functions), report, 10);
      },
    };
  },
  hcms({ e, hash }) {
    const lie = coin(flip(e, 1));
    return {
      bits: 21,
      draw(s, v, report) {
        const f = s.below(functions), r = s.below(functions);
        put(report, 0, 10, f);
        put(report, 10, 10, r);
        const sign = parity(r & hash(f, v, functions));
        put(report, 20, 1, s.toss(lie) ? 1 - sign : sign);
      },
    };
  },
};

function parity(x) {
  for (let i = 16; i; i >>= 1) x ^= x >> i;
  return x & 1;
}

/** The scheme of parameters: its size, and `draw(source, value, report)`. */
export function scheme({ mechanism, values, epsilon, seed = 0, first, positions }) {
  refuse(!Object.hasOwn(mechanisms, mechanism), `there is no mechanism "${mechanism}"`);
  const hashed = mechanism === "olh" || mechanism === "loloha";
  const k = integer(values), most = mechanism === "coin" ? 2n : hashed ? 1n << 60n : 1n << 24n;
  refuse(!(k >= 2n && k <= most), `${mechanism} has 2 to ${most} values`);
  const p = { k: Number(k) };
  if (mechanism !== "coin") {
    p.e = parse(String(epsilon));
    p.grown = exp(p.e);
  }
  refuse(first !== undefined && mechanism !== "loloha", "`first` is for loloha");
  if (mechanism === "loloha") {
    p.first = first === undefined ? share(p.e, 2) : parse(String(first));
    refuse(!below(p.first, p.e), "the ε of one report must be below that of the permanent response");
    refuse(p.first.num * 1000000n < p.first.den, "the ε of one report is at least 0.000001");
  }
  refuse(positions !== undefined && mechanism !== "dbit", "`positions` is for dbit");
  p.d = Number(integer(positions ?? 1));
  refuse(p.d < 1 || p.d > Math.min(p.k, 4096), "a device has 1 to 4096 positions, and not more than values");
  const number = integer(seed);
  refuse(number < 0n || number >> 64n, "a seed is from 0 to 2⁶⁴ − 1");
  p.hash = family(number);
  const out = mechanisms[mechanism](p);
  out.bytes = Math.ceil(out.bits / 8);
  // the parameters that a device depends on, as its memory has them
  out.for = `{"mechanism":"${mechanism}","values":${k},"epsilon":"${p.e && format(p.e)}"` +
    `${p.first ? `,"first":"${format(p.first)}"` : ""}${mechanism === "dbit" ? `,"positions":${p.d}` : ""}}`;
  out.value = (v) => {
    if (!hashed && typeof v === "number" && v >= 0 && v < p.k && Number.isInteger(v)) return v;
    const n = integer(v);
    refuse(n < 0n || n >= k, `a value is from 0 to ${k - 1n}`);
    return hashed ? n : Number(n);
  };
  out.draw ??= (s, v, report) => {
    const own = out.begin(s), memo = new Uint8Array(Math.ceil(out.memory / 8));
    out.keep(s, own, out.state(own, v), memo);
    out.send(s, own, memo, report);
  };
  return out;
}

function integer(v) {
  refuse(!(typeof v === "bigint" || Number.isSafeInteger(v)), "a number is no integer");
  return BigInt(v);
}

/** The memory of one person's device. */
export class Memory {
  constructor(scheme, own, memos = new Map()) {
    Object.assign(this, { scheme, own, memos });
  }
  report(s, value) {
    const { scheme, own, memos } = this, state = scheme.state(own, value);
    let memo = memos.get(state);
    if (!memo) {
      memo = new Uint8Array(Math.ceil(scheme.memory / 8));
      scheme.keep(s, own, state, memo);
      memos.set(state, memo);
    }
    const report = new Uint8Array(scheme.bytes);
    scheme.send(s, own, memo, report);
    return report;
  }
  /** The stored form, JSON as that of the Go package. Its integers may be beyond 2⁵³. */
  stored() {
    const memos = {};
    for (const [state, memo] of this.memos) memos[state] = btoa(Array.from(memo, (b) => String.fromCharCode(b)).join(""));
    return `{"for":${this.scheme.for},"own":${this.own.length ? `[${this.own}]` : null},"memos":${JSON.stringify(memos)}}`;
  }
  static open(scheme, text) {
    const size = Math.ceil(scheme.memory / 8), spare = size * 8 - scheme.memory;
    const bad = new RangeError("dither: this is no stored device of the mechanism");
    let j, own, memos = new Map();
    try {
      j = JSON.parse(text.replace(/("own"\s*:\s*\[)([^\]"]*)\]/, (_, a, list) => a + list.replace(/\d+/g, '"$&"') + "]"));
      // a memory of another oracle has responses with another ε; those from before parameters were stored have none
      if (j.for && JSON.stringify(j.for) !== JSON.stringify(JSON.parse(scheme.for))) throw bad;
      own = (j.own ?? []).map((n) => BigInt(n));
      for (const [state, memo] of Object.entries(j.memos ?? {})) {
        memos.set(Number(state), Uint8Array.from(atob(memo), (c) => c.charCodeAt(0)));
      }
    } catch {
      throw bad;
    }
    if (!scheme.valid(own, new Uint8Array(size))) throw bad;
    for (const [state, memo] of memos) {
      const fits = Number.isInteger(state) && state >= 0 && state < scheme.states && memo.length === size;
      if (!fits || memo[size - 1] & ((1 << spare) - 1) || !scheme.valid(own, memo)) throw bad;
    }
    return new Memory(scheme, own, memos);
  }
}

// Means of numbers from −1 to 1

const m = 1024n, a = 1024n; // the steps of the input's grid, and those of the output's grid for each of them

/** Rounds x·steps to an integer, with the fraction as the probability of rounding up. For one step, to −1 or 1. */
function roundAt(s, x, steps) {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, x);
  const raw = bits.getBigUint64(0), exponent = (raw >> 52n) & 2047n, mantissa = raw & ((1n << 52n) - 1n);
  let n = exponent ? (mantissa | (1n << 52n)) << (exponent - 1n) : mantissa, places = 1074n; // |x| = n/2^places
  if (raw >> 63n) n = -n;
  if (steps === 1n) [n, places] = [n + (1n << places), places + 1n]; // (x + 1)/2
  else n *= steps;
  let at = n >> places; // rounds down
  const fraction = ((n - (at << places)) << 128n) >> places;
  if (fraction && s.toss(coin(fraction))) at++;
  return steps === 1n ? 2n * at - 1n : at;
}

/** The randomizer of numbers. `draw(source, x)` returns the line of a report: "+", "-" or an integer. */
export function numbers({ mechanism, epsilon }) {
  refuse(!["duchi", "piecewise", "hybrid"].includes(mechanism), `there is no mechanism "${mechanism}" of means`);
  const e = parse(String(epsilon)), grown = exp(e), lie = coin(flip(e, 1));
  const half = exp(share(e, 2)), h = round(a * m * one, half), rest = 2n * a * m;
  const out = coin(up(rest * one, (2n * h + 1n) * grown + rest * one));
  const both = mechanism === "hybrid" && below({ num: 61n, den: 100n }, e);
  const pick = coin(((half - one) << 128n) / half); // 1 − e^(−ε/2), rounded down
  const last = a * m + h, window = both || mechanism === "piecewise"; // the points are from −last to last
  const bits = window ? (2n * last).toString(2).length + (both ? 1 : 0) : 1;
  return {
    bits,
    /** The packed form of a report, as `mean.Randomizer.Pack` of the Go package. */
    pack(text) {
      const bytes = new Uint8Array(Math.ceil(bits / 8)), sign = text === "+" || text === "-";
      put(bytes, 0, bits, sign ? Number(text === "+") : Number(BigInt(text) + last + (both ? 1n << BigInt(bits - 1) : 0n)));
      return bytes;
    },
    draw(s, x) {
      if (mechanism === "piecewise" || (both && s.toss(pick))) {
        const low = a * roundAt(s, x, m) - h; // the first point of the window
        if (!s.toss(out)) return String(low + BigInt(s.below(Number(2n * h + 1n))));
        const at = BigInt(s.below(Number(rest))) - a * m - h;
        return String(at >= low ? at + 2n * h + 1n : at);
      }
      const up = roundAt(s, x, 1n) > 0n;
      return s.toss(lie) !== up ? "+" : "-";
    },
  };
}

/** The randomizer of vectors of `length` numbers: each report is about a few coordinates, with a part of ε each. */
export function vectors({ mechanism, epsilon, length }) {
  refuse(!(Number.isInteger(length) && length >= 1 && length <= 65536), "a vector has 1 to 65536 numbers");
  const e = parse(String(epsilon)), size = Math.min(Math.max(Number((2n * e.num) / (5n * e.den)), 1), length);
  const each = numbers({ mechanism, epsilon: `${e.num}/${e.den * BigInt(size)}` });
  return {
    draw(s, vector) {
      const out = [];
      vector.forEach((x, index) => {
        if (s.below(length - index) < size - out.length) out.push({ index, report: each.draw(s, x) });
      });
      return out;
    },
  };
}
