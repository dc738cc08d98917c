import { Memory, Source, numbers, scheme, vectors } from "./core.js";

// Node 18 has no global of this name
const web = globalThis.crypto ?? (await import("node:crypto")).webcrypto;
const random = web.getRandomValues.bind(web);

/** Calls f with fresh random bytes, and overwrites them afterwards. */
function fresh(size, f) {
  const source = new Source(new Uint8Array(size), random);
  try {
    return f(source);
  } finally {
    source.wipe();
  }
}

/** Oracle randomizes values 0 … k − 1, as `local.Oracle` in Go. */
export class Oracle {
  #scheme;
  constructor(params) {
    this.#scheme = scheme(params);
    this.params = Object.freeze({ ...params });
    Object.freeze(this);
  }
  get bits() {
    return this.#scheme.bits;
  }
  get bytes() {
    return this.#scheme.bytes;
  }
  get states() {
    return this.#scheme.states;
  }
  randomize(value) {
    const v = this.#scheme.value(value), report = new Uint8Array(this.bytes);
    fresh(64, (s) => this.#scheme.draw(s, v, report));
    return report;
  }
  randomizeAll(values) {
    const checked = Array.from(values, this.#scheme.value), { bytes, draw } = this.#scheme;
    const reports = new Uint8Array(bytes * checked.length);
    if (bytes === 1) {
      const report = new Uint8Array(1);
      fresh(8192, (s) => checked.forEach((v, i) => {
        report[0] = 0;
        draw(s, v, report);
        reports[i] = report[0];
      }));
    } else {
      fresh(8192, (s) => checked.forEach((v, i) => draw(s, v, reports.subarray(i * bytes, (i + 1) * bytes))));
    }
    return reports;
  }
  newDevice() {
    if (!this.states) throw new RangeError("dither: the mechanism has no memory");
    return new Device(this.#scheme, new Memory(this.#scheme, fresh(64, this.#scheme.begin)));
  }
  openDevice(stored) {
    if (!this.states) throw new RangeError("dither: the mechanism has no memory");
    return new Device(this.#scheme, Memory.open(this.#scheme, stored));
  }
}

/** Device keeps the permanent responses of one person, for repeated questions. */
class Device {
  #scheme;
  #memory;
  constructor(scheme, memory) {
    this.#scheme = scheme;
    this.#memory = memory;
  }
  report(value) {
    const v = this.#scheme.value(value);
    return fresh(64, (s) => this.#memory.report(s, v));
  }
  stored() {
    return this.#memory.stored();
  }
}

/** Numbers randomizes numbers from −1 to 1, as `mean.Randomizer` in Go. */
export class Numbers {
  #draw;
  #pack;
  constructor(params) {
    const { draw, pack, bits } = numbers(params);
    [this.#draw, this.#pack, this.bits, this.bytes] = [draw, pack, bits, Math.ceil(bits / 8)];
    this.params = Object.freeze({ ...params });
    Object.freeze(this);
  }
  randomize(x) {
    check(x);
    return fresh(64, (s) => this.#draw(s, x));
  }
  report(x) {
    return this.#pack(this.randomize(x));
  }
}

/** Vectors randomizes vectors of d numbers from −1 to 1, as `mean.Vector` in Go. */
export class Vectors {
  #draw;
  constructor(params) {
    this.#draw = vectors(params).draw;
    this.params = Object.freeze({ ...params });
    Object.freeze(this);
  }
  randomize(vector) {
    if (vector.length !== this.params.length) throw new RangeError(`dither: a vector has ${this.params.length} numbers`);
    vector.forEach(check);
    return fresh(1024, (s) => this.#draw(s, vector));
  }
}

function check(x) {
  if (!(typeof x === "number" && x >= -1 && x <= 1)) throw new RangeError("dither: a number is from -1 to 1");
}

/** The hexadecimal digits of a report, as in files of reports. */
export const hex = (report) => Array.from(report, (b) => b.toString(16).padStart(2, "0")).join("");
