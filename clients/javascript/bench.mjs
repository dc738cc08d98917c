// Prints how many responses Node makes in a second, and in a second of the processor: node bench.mjs
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

import { Oracle } from "./index.js";

function rate(params, batch) {
  const oracle = new Oracle({ epsilon: "1", ...params }), k = params.values;
  const values = Array.from({ length: batch }, (_, i) => i % k);
  oracle.randomizeAll(values);
  const start = performance.now(), before = process.cpuUsage();
  let n = 0, elapsed = 0;
  for (; elapsed < 1500; elapsed = performance.now() - start) n += oracle.randomizeAll(values).length / oracle.bytes;
  const { user, system } = process.cpuUsage(before), a = (rate) => rate.toExponential(2);
  const rates = `${a((n / elapsed) * 1e3)} responses/s, ${a((n / (user + system)) * 1e6)} of the processor`;
  return `${params.mechanism.padEnd(7)} k = ${String(k).padEnd(7)} ${rates}`;
}
console.log(`Node ${process.version}, one thread`);
for (const values of [2, 10, 1000]) console.log(rate({ mechanism: "krr", values }, 100000));
for (const mechanism of ["oue", "ss", "hr", "flh", "olh", "rappor"]) console.log(rate({ mechanism, values: 100 }, 2000));
const size = (f) => gzipSync(readFileSync(new URL(f, import.meta.url)), { level: 9 }).length;
console.log(`size: ${size("core.js") + size("index.js")} bytes gzipped`);
