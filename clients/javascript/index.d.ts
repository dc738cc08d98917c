/** The name of a mechanism, as in `local.Mechanisms` of the Go package. */
export type Mechanism =
  | "coin" | "krr" | "sue" | "oue" | "olh" | "flh" | "ss" | "hr" | "rappor" | "loloha" | "dbit" | "cms" | "hcms";

/** The parameters of an oracle. The collector must use the same. */
export interface OracleParams {
  mechanism: Mechanism;
  /** The number of values, k. Values are 0 … k − 1. */
  values: number | bigint;
  /** ε from 0.000001 to 40, as a decimal or a fraction of integers. Unused by "coin", whose ε is ln 3. */
  epsilon?: string | number;
  /** Selects the public hash functions of "flh", "cms" and "hcms". */
  seed?: number | bigint;
  /** ε of one report of "loloha"; half of ε by default. */
  first?: string | number;
  /** The number of positions of "dbit"; 1 by default. */
  positions?: number;
}

/** A randomizer of the values 0 … k − 1. Its reports are those of the Go package. */
export class Oracle {
  /** Throws a RangeError for parameters that no oracle has. */
  constructor(params: OracleParams);
  readonly params: Readonly<OracleParams>;
  /** The size of a report in bits. */
  readonly bits: number;
  /** The size of a report in bytes. The bits after the last one are 0. */
  readonly bytes: number;
  /** The largest number of permanent responses of a device, or undefined for mechanisms without memory. */
  readonly states: number | undefined;
  /** A report about a value, with fresh randomness of the system. Throws a RangeError for a value outside the domain. */
  randomize(value: number | bigint): Uint8Array;
  /** Independent reports about several values, one after the other. */
  randomizeAll(values: Iterable<number | bigint>): Uint8Array;
  /** A device with a new memory, for repeated questions with "rappor", "loloha" or "dbit". */
  newDevice(): Device;
  /** A stored device. */
  openDevice(stored: string): Device;
}

/**
 * The memory of one person's device. All reports about a state are made from one permanent response. The loss of all
 * reports together is ε times the number of states of the value, at most `Oracle.states`; see `local.Device` in Go.
 */
export interface Device {
  /** A report about the current value. Store the device before you send the report. */
  report(value: number | bigint): Uint8Array;
  /** The memory, as JSON. It is as secret as the values. */
  stored(): string;
}

export interface NumbersParams {
  mechanism: "duchi" | "piecewise" | "hybrid";
  epsilon: string | number;
}

/** A randomizer of numbers from −1 to 1, for means. */
export class Numbers {
  constructor(params: NumbersParams);
  readonly params: Readonly<NumbersParams>;
  /** The size of a packed report in bits, and in whole bytes. */
  readonly bits: number;
  readonly bytes: number;
  /** The text of a report: "+" or "-" for a sign, or an integer for a point of the grid. */
  randomize(x: number): string;
  /** A packed report, as surveys send it. */
  report(x: number): Uint8Array;
}

/** A randomizer of vectors of numbers from −1 to 1. A report is about a few random coordinates. */
export class Vectors {
  constructor(params: NumbersParams & { length: number });
  readonly params: Readonly<NumbersParams & { length: number }>;
  randomize(vector: readonly number[]): { index: number; report: string }[];
}

/** The hexadecimal digits of a report. */
export function hex(report: Uint8Array): string;
