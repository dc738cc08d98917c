// Runs the shared test vectors, and some checks of the exported classes: node test.mjs. It prints the number of checks.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { Memory, Source, numbers, parse, scheme, vectors } from "./core.js";
import { Numbers, Oracle, Vectors, hex } from "./index.js";

const read = (name) => JSON.parse(readFileSync(new URL(`../testdata/${name}.json`, import.meta.url), "utf8"));
let checks = 0;

function source(v) {
  if (v.words !== undefined) return new Source(Buffer.from(v.words, "hex"));
  const blocks = [];
  for (let i = 0; i * 32 < v.used; i++) blocks.push(createHash("sha256").update(`${v.stream} ${i}`).digest());
  return new Source(Buffer.concat(blocks));
}

for (const v of read("oracles")) {
  const { mechanism, epsilon, first, positions } = v, s = source(v), at = JSON.stringify(v);
  const o = scheme({ mechanism, epsilon, first, positions, values: BigInt(v.values), seed: BigInt(v.seed ?? 0) });
  assert.equal(o.bits, v.bits, at);
  let device = v.device && new Memory(o, o.begin(s));
  const reports = v.of.map((x) => {
    if (device) {
      const report = device.report(s, o.value(BigInt(x)));
      device = Memory.open(o, device.stored());
      return hex(report);
    }
    const report = new Uint8Array(o.bytes);
    o.draw(s, o.value(BigInt(x)), report);
    return hex(report);
  });
  assert.deepEqual(reports, v.reports, at);
  assert.equal(s.at, v.used, at);
  if (device) {
    assert.equal(o.states, v.states, at);
    assert.deepEqual(JSON.parse(device.stored()), JSON.parse(v.device), at);
    assert.equal(/"own":\S+?[\]l]/.exec(device.stored())[0], /"own":\S+?[\]l]/.exec(v.device)[0], at); // all digits
    assert.equal(Memory.open(o, v.device).memos.size, device.memos.size);
  }
  checks += reports.length;
}
for (const v of read("means")) {
  const s = source(v), params = { mechanism: v.mechanism, epsilon: v.epsilon, length: v.coordinates };
  const reports = v.coordinates
    ? vectors(params).draw(s, v.of).map(({ index, report }) => `${index} ${report}`)
    : v.of.map((x) => numbers(params).draw(s, x));
  assert.deepEqual(reports, v.reports, JSON.stringify(v));
  assert.equal(s.at, v.used);
  if (!v.coordinates) {
    const { pack, bits } = numbers(params);
    assert.deepEqual(reports.map((r) => hex(pack(r))), v.packed, JSON.stringify(v));
    assert.equal(bits, v.bits);
  }
  checks += reports.length;
}

// the exported classes draw from the system, and keep the law: of 20,000 answers, the share of lies is within 6 deviations
const krr = new Oracle({ mechanism: "krr", values: 4, epsilon: "1" });
const lies = krr.randomizeAll(new Array(20000).fill(2)).filter((b) => b >> 6 !== 2).length;
const lie = 3 / (Math.E + 3), deviation = Math.sqrt(20000 * lie * (1 - lie));
assert.ok(Math.abs(lies - 20000 * lie) < 6 * deviation, `${lies} lies`);
const long = new Oracle({ mechanism: "oue", values: 20, epsilon: 0.5 });
assert.equal(long.randomizeAll([1, 2, 3]).length, 9);
assert.notEqual(hex(long.randomize(3)) + hex(long.randomize(3)), hex(long.randomize(3)) + hex(long.randomize(3)));
const d = new Oracle({ mechanism: "dbit", values: 4, epsilon: "1", positions: 4 });
const device = d.newDevice(), again = d.openDevice(device.stored());
assert.equal(hex(device.report(2)), hex(device.report(2)));
assert.notEqual(device.stored(), again.stored());
assert.match(new Numbers({ mechanism: "duchi", epsilon: 1 }).randomize(0.2), /^[+-]$/);
assert.equal(new Numbers({ mechanism: "hybrid", epsilon: 1 }).report(0.2).length, 3);
assert.equal(new Vectors({ mechanism: "piecewise", epsilon: 1, length: 3 }).randomize([0, 1, -1]).length, 1);

// bad input is a RangeError, before anything is drawn
const base = { mechanism: "krr", values: 4, epsilon: "1" };
for (const bad of [
  { mechanism: "toString" }, { mechanism: "best" }, { values: 1 }, { values: 2.5 }, { values: "4" }, { values: 2 ** 24 + 1 }, { values: NaN },
  { epsilon: "0" }, { epsilon: "41" }, { epsilon: "1e-7" }, { epsilon: "-1" }, { epsilon: "" }, { epsilon: "." }, { epsilon: "1/0" },
  { epsilon: "0x1" }, { epsilon: NaN }, { epsilon: "1e99" }, { epsilon: `1.${"1".repeat(63)}` }, { epsilon: "1 " }, { epsilon: undefined },
  { epsilon: `1/${"9".repeat(90)}` }, { seed: -1 }, { seed: 2n ** 64n }, { first: "1" }, { positions: 1 },
  { mechanism: "dbit", positions: 5 }, { mechanism: "dbit", positions: 0 }, { mechanism: "loloha", first: "1" }, { mechanism: "coin", values: 3 },
]) {
  assert.throws(() => new Oracle({ ...base, ...bad }), RangeError, JSON.stringify(bad, (_, x) => typeof x === "bigint" ? String(x) : x));
  checks++;
}
for (const bad of [-1, 4, 1.5, NaN, "1", null, undefined, 4n, [1]]) {
  assert.throws(() => krr.randomize(bad), RangeError, String(bad));
  assert.throws(() => krr.randomizeAll([0, bad]), RangeError);
  checks++;
}
for (const bad of ["", "[]", "{}", '{"own":[1]}', device.stored().replace(/"[^"]*"}}$|}}$/, '"////"}}'), null]) {
  assert.throws(() => d.openDevice(bad), RangeError, String(bad));
}
assert.throws(() => new Oracle({ mechanism: "dbit", values: 4, epsilon: "2", positions: 4 }).openDevice(device.stored()), RangeError);
d.openDevice(device.stored().replace(/"for":\{.*?\},/, ""));
assert.throws(() => krr.newDevice(), RangeError);
for (const bad of [1.01, NaN, "0", null]) assert.throws(() => new Numbers({ mechanism: "duchi", epsilon: 1 }).randomize(bad), RangeError);
assert.deepEqual(parse("1.50e1"), { num: 15n, den: 1n });
assert.throws(() => new Source(new Uint8Array(1)).bits(16), /exhausted/);
await assert.rejects(import("dither-local/core.js"), /not defined by "exports"|Cannot find/);
console.log(`${checks} checks`);
