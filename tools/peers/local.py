#!/usr/bin/env python3
"""Simulates frequency oracles of the local model by dither, multi-freq-ldpy and pure-ldp, in one run, beside the closed
form.

    python3 -m venv venv
    venv/bin/pip install multi-freq-ldpy==0.2.5 pure-ldp==1.2.0 'xxhash<4' 'numpy<2' 'pandas<3' scikit-learn matplotlib statsmodels bitarray bitstring
    venv/bin/python tools/peers/local.py

2,048 people have 1,024 values, two people each. Devices of dbit have two positions. The figures are n times the mean
squared error of a frequency over all values, with the standard deviation of the simulated mean. The reports of multi-freq-ldpy are those of its clients. Its
aggregators clip negative estimates, which biases them, so the unbiased estimate is computed here from its reports.
pure-ldp estimates without bias by itself. Its Hadamard response sends one sign up to ε = 1; dither's sends two there. Its
RAPPOR has a Bloom filter and no instantaneous response, so that of multi-freq-ldpy is compared. multi-freq-ldpy's
longitudinal local hashing has another ε for one report, so it is not.
Nothing here is needed to build, test or run dither.
"""

import json
import math
import statistics
import subprocess

import numpy as np
import xxhash
from multi_freq_ldpy.long_freq_est.dBitFlipPM import dBitFlipPM_Client
from multi_freq_ldpy.long_freq_est.L_SUE import L_SUE_Client
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client
from pure_ldp.frequency_oracles import CMSClient, CMSServer, DEClient, DEServer, FastLHClient, FastLHServer
from pure_ldp.frequency_oracles import HadamardResponseClient, HadamardResponseServer, LHClient, LHServer, UEClient, UEServer

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


def rappor(e):
    a = math.exp(e / 2)
    p, q = (a / (a + 1) * 3 + 1 / (a + 1)) / 4, (1 / (a + 1) * 3 + a / (a + 1)) / 4
    counts = np.zeros(K)
    for v in PEOPLE:
        counts += L_SUE_Client(v, K, e, math.log(p * (1 - q) / q / (1 - p)))  # so the second response lies with 1/4
    return counts, p, q


def dbit(e):
    a, d = math.exp(e / 2), 2
    counts = np.zeros(K)
    for v in PEOPLE:
        counts += dBitFlipPM_Client(v, K, K, d, e) == 1
    return counts, d / K * a / (a + 1), d / K / (a + 1)


PEERS = {
    "krr": krr,
    "sue": lambda e: unary(e, False),
    "oue": lambda e: unary(e, True),
    "olh": olh,
    "ss": ss,
    "rappor": rappor,
    "dbit": dbit,
}


def same(v):
    return v


PURE = {
    "krr": lambda e: (DEClient(e, K, same), DEServer(e, K, same)),
    "sue": lambda e: (UEClient(e, K, False, same), UEServer(e, K, False, same)),
    "oue": lambda e: (UEClient(e, K, True, same), UEServer(e, K, True, same)),
    "olh": lambda e: (LHClient(e, K, use_olh=True, index_mapper=same), LHServer(e, K, use_olh=True, index_mapper=same)),
    "flh": lambda e: (
        FastLHClient(e, K, 1024, use_olh=True, index_mapper=same),
        FastLHServer(e, K, 1024, use_olh=True, index_mapper=same),
    ),
    "hr": lambda e: hadamard(e),
    "cms": lambda e: sketch(e, False),
    "hcms": lambda e: sketch(e, True),
}


def sketch(e, transformed):
    server = CMSServer(e, 1024, 1024, transformed)
    return CMSClient(e, server.get_hash_funcs(), 1024, transformed), server


def hadamard(e):
    server = HadamardResponseServer(e, K, same)
    return HadamardResponseClient(e, K, server.get_hash_funcs(), same), server


def of_multi(mechanism, e):
    counts, p, q = PEERS[mechanism](e)
    return (counts - N * q) / (p - q)


def of_pure(mechanism, e):
    client, server = PURE[mechanism](e)
    for v in PEOPLE:
        server.aggregate(client.privatise(v))
    return np.array([server.estimate(v, suppress_warnings=True) for v in range(K)])


def simulated(estimates, known, mechanism, e):
    if mechanism not in known:
        return "–"
    squares = [float(np.mean((estimates(mechanism, e) / N - 1 / K) ** 2)) * N for _ in range(RUNS)]
    return f"{statistics.mean(squares):.4g} ± {statistics.stdev(squares) / math.sqrt(RUNS):.2g}"


for e in (1, 4):
    out = subprocess.run(
        ["go", "run", "./cmd/dither", "local", "simulate", "--mechanism", ",".join({**PEERS, **PURE}), "--k", str(K), "--n", str(N), "--epsilon", str(e), "--shape", "uniform", "--positions", "2", "--runs", str(RUNS), "--format", "json"],
        check=True, capture_output=True, text=True,
    )
    for ours in json.loads(out.stdout)["mechanisms"]:
        name = ours["mechanism"]
        print(
            f"| {name} | {e} | {ours['stated_variance'] * N:.4g} | {ours['simulated_variance'] * N:.4g} ± {ours['simulated_stddev'] * N:.2g} "
            f"| {simulated(of_multi, PEERS, name, e)} | {simulated(of_pure, PURE, name, e)} |",
            flush=True,
        )
