#!/usr/bin/env python3
"""Simulates frequency oracles of the local model by dither and by multi-freq-ldpy, in one run, beside the closed form.

    python3 -m venv venv && venv/bin/pip install multi-freq-ldpy==0.2.5 'xxhash<4'
    venv/bin/python tools/peers/local.py

2,048 people have 1,024 values, two people each. The figures are n times the mean squared error of a frequency over all
values, with the standard deviation of the simulated mean. The reports of multi-freq-ldpy are those of its clients. Its
aggregators clip negative estimates, which biases them, so the unbiased estimate is computed here from its reports.
Nothing here is needed to build, test or run dither.
"""

import json
import math
import statistics
import subprocess

import numpy as np
import xxhash
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

K, N, RUNS = 1024, 2048, 10
PEOPLE = [i % K for i in range(N)]


def krr(e):
    a = math.exp(e)
    counts = np.zeros(K)
    for v in PEOPLE:
        counts[GRR_Client(v, K, e)] += 1
    return counts, a / (a + K - 1), 1 / (a + K - 1)


def unary(e, optimal):
    counts = np.zeros(K)
    for v in PEOPLE:
        counts += UE_Client(v, K, e, optimal)
    a = math.exp(e if optimal else e / 2)
    return counts, (0.5 if optimal else a / (a + 1)), 1 / (a + 1)


def olh(e):
    g = round(math.exp(e)) + 1
    counts = np.zeros(K)
    names = [str(v) for v in range(K)]
    for v in PEOPLE:
        value, seed = LH_Client(v, K, e, True)
        counts += np.fromiter((xxhash.xxh32(x, seed=seed).intdigest() % g == value for x in names), float, K)
    return counts, math.exp(e) / (math.exp(e) + g - 1), 1 / g


def ss(e):
    w = max(1, round(K / (math.exp(e) + 1)))
    p = w * math.exp(e) / (w * math.exp(e) + K - w)
    counts = np.zeros(K)
    for v in PEOPLE:
        counts[np.asarray(SS_Client(v, K, e), dtype=int)] += 1
    return counts, p, p * (w - 1) / (K - 1) + (1 - p) * w / (K - 1)


PEERS = {"krr": krr, "sue": lambda e: unary(e, False), "oue": lambda e: unary(e, True), "olh": olh, "ss": ss}


def simulated(oracle, e):
    squares = []
    for _ in range(RUNS):
        counts, p, q = oracle(e)
        estimates = (counts - N * q) / (p - q) / N
        squares.append(float(np.mean((estimates - 1 / K) ** 2)) * N)
    return statistics.mean(squares), statistics.stdev(squares) / math.sqrt(RUNS)


for e in (1, 4):
    out = subprocess.run(
        ["go", "run", "./cmd/dither", "local", "simulate", "--mechanism", ",".join(PEERS), "--k", str(K), "--n", str(N), "--epsilon", str(e), "--shape", "uniform", "--runs", str(RUNS), "--format", "json"],
        check=True, capture_output=True, text=True,
    )
    for ours in json.loads(out.stdout)["mechanisms"]:
        mean, sd = simulated(PEERS[ours["mechanism"]], e)
        print(
            f"| {ours['mechanism']} | {e} | {ours['stated_variance'] * N:.4g} | {ours['simulated_variance'] * N:.4g} ± {ours['simulated_stddev'] * N:.2g} | {mean:.4g} ± {sd:.2g} |",
            flush=True,
        )
