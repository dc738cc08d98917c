#!/usr/bin/env python3
"""Times dither's mechanisms and accountants beside other libraries', in turns, in one run, and prints ratios.

    python3 -m venv venv && venv/bin/pip install opendp==0.16.0 diffprivlib==0.6.6 'scikit-learn<1.8' 'numpy>=2' dp-accounting==0.6.0
    venv/bin/python tools/peers/peers.py

The libraries are called from Python, as their users call them. Nothing here is needed to build, test or run dither.
"""

import re
import statistics
import subprocess
import time

ROUNDS = 3


def timed(once, least=0.2):
    """Seconds a call, over at least so many seconds."""
    once()
    calls, start = 0, time.perf_counter()
    while (took := time.perf_counter() - start) < least or calls < 3:
        once()
        calls += 1
    return took / calls


def opendp():
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    vector = dp.vector_domain(dp.atom_domain(T="i64"))
    scores = [i * 7919 % 1000 for i in range(1000)]
    laplace = dp.m.make_laplace(vector, dp.l1_distance(T="i64"), scale=1.0)
    gaussian = dp.m.make_gaussian(vector, dp.l2_distance(T="i64"), scale=4.2)
    response = dp.m.make_randomized_response(categories=list(range(10)), prob=0.232)
    canonical = dp.m.make_canonical_noise(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), d_in=1.0, d_out=(1.0, 1e-6))
    top = dp.m.make_noisy_max(vector, dp.linf_distance(T="i64"), dp.max_divergence(), scale=2.0)
    ten = dp.m.make_noisy_top_k(vector, dp.linf_distance(T="i64"), dp.max_divergence(), 10, 20.0)
    keyed = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T="i64"))
    threshold = dp.m.make_laplace_threshold(keyed, dp.l01inf_distance(dp.absolute_distance(T="i64")), scale=1.0, threshold=15)
    table = {str(i): s for i, s in enumerate(scores)}
    values = [i * 100 for i in range(1000)]
    quantile = dp.m.make_private_quantile(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance(), dp.max_divergence(),
        candidates=list(range(0, 100_001, 100)), alpha=0.5, scale=1.0)
    return {
        "laplace": lambda: laplace(scores),
        "analytic-gaussian": lambda: gaussian(scores),
        "randomized-response": lambda: response(3),
        "tulap": lambda: canonical(3.0),
        "noisy-max": lambda: top(scores),
        "noisy-top-10": lambda: ten(scores),
        "threshold": lambda: threshold(table),
        "quantile": lambda: quantile(values),
    }


def diffprivlib():
    import diffprivlib.mechanisms as mechanisms
    import numpy
    from diffprivlib import tools

    scores = [float(i * 7919 % 1000) for i in range(1000)]
    analytic = mechanisms.GaussianAnalytic(epsilon=1.0, delta=1e-6, sensitivity=1.0)
    staircase = mechanisms.Staircase(epsilon=1.0, sensitivity=1.0)
    exponential = mechanisms.Exponential(epsilon=1.0, sensitivity=1.0, utility=scores)
    flip = mechanisms.PermuteAndFlip(epsilon=1.0, sensitivity=1.0, utility=scores)
    laplace = mechanisms.Laplace(epsilon=1.0, sensitivity=1.0)
    values = numpy.arange(0, 100_000, 100)
    return {
        "laplace": lambda: [laplace.randomise(s) for s in scores],
        "analytic-gaussian": lambda: [analytic.randomise(s) for s in scores],
        "staircase": lambda: staircase.randomise(3.0),
        "exponential": lambda: exponential.randomise(),
        "permute-and-flip": lambda: flip.randomise(),
        "quantile": lambda: tools.quantile(values, 0.5, epsilon=1.0, bounds=(0, 100_000)),
    }


def dp_accounting():
    from dp_accounting import dp_event
    from dp_accounting.pld import pld_privacy_accountant as pld
    from dp_accounting.rdp import rdp_privacy_accountant as rdp

    def job(accountant, event):
        return lambda: accountant().compose(event).get_epsilon(1e-5)

    sampled = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(256 / 60000, dp_event.GaussianDpEvent(1.1)), 14062)
    mixed = dp_event.ComposedDpEvent([
        dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(50.0), 5000),
        dp_event.SelfComposedDpEvent(dp_event.LaplaceDpEvent(100.0), 3000),
        dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(2.0)), 2000),
    ])
    return {
        # here, one report tells both, and bounds from below
        "account-sampled": lambda: (job(pld.PLDAccountant, sampled)(), job(rdp.RdpAccountant, sampled)()),
        "account-mixed": job(pld.PLDAccountant, mixed),
    }


def ours():
    """Seconds an operation, by the last part of a benchmark's name."""
    out = subprocess.run(
        ["go", "test", "-run", "^$", "-bench", "Peers", "-benchtime", "0.2s", "./mechanism", "./account"],
        capture_output=True, text=True, check=True).stdout
    return {name: float(ns) / 1e9 for name, ns in re.findall(r"BenchmarkPeers/(\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op", out)}


def main():
    peers = {"OpenDP": opendp(), "diffprivlib": diffprivlib(), "dp_accounting": dp_accounting()}
    ran, took = {}, {}
    for _ in range(ROUNDS):
        for name, seconds in ours().items():
            ran.setdefault(name, []).append(seconds)
        for library, calls in peers.items():
            for name, once in calls.items():
                took.setdefault((name, library), []).append(timed(once))
    print("| release | dither, µs | beside it | µs | ratio |\n|---|---|---|---|---|")
    for (name, library), seconds in sorted(took.items()):
        if name in ran:
            here, there = statistics.median(ran[name]), statistics.median(seconds)
            print(f"| {name} | {here * 1e6:.3g} | {library} | {there * 1e6:.3g} | {there / here:.3g} |")
    for name, seconds in sorted(ran.items()):
        if not any(name == other for other, _ in took):
            print(f"| {name} | {statistics.median(seconds) * 1e6:.3g} | | | |")


if __name__ == "__main__":
    main()
