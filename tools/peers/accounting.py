#!/usr/bin/env python3
"""Compares dither's accounting of sampled jobs with dp_accounting's, in turns, in one run.

    pip install dp-accounting
    make build && python3 tools/peers/accounting.py

It prints the CPU seconds of each job and of one calibration. dither's are those of whole processes, which report the Rényi
bound and both bounds by privacy loss distributions. dp_accounting's are those of its two accountants alone.

Nothing here is needed to build, test or run dither.
"""

import json
import resource
import subprocess

import dp_accounting as da
from dp_accounting.pld import pld_privacy_accountant
from dp_accounting.rdp import rdp_privacy_accountant

JOBS = [  # σ, sampling rate, number of steps
    ("1.1", "256/60000", 14062), ("0.8", "256/60000", 10000), ("1", "0.001", 100000), ("2", "0.01", 2000),
    ("3", "0.1", 1000), ("0.6", "0.001", 1000), ("1.5", "0.02", 5000), ("1", "0.01", 1000), ("4", "0.05", 20000),
    ("0.9", "0.004", 3000), ("1.3", "0.015", 10000), ("2.5", "0.25", 100), ("0.7", "0.0005", 50000), ("5", "0.3", 3000),
]


def rate(text):
    number, _, of = text.partition("/")
    return float(number) / float(of or 1)


def event(sigma, sampling, count):
    return da.SelfComposedDpEvent(da.PoissonSampledDpEvent(sampling, da.GaussianDpEvent(sigma)), count)


def pld():
    return pld_privacy_accountant.PLDAccountant(da.NeighboringRelation.ADD_OR_REMOVE_ONE)


def timed(who, work):
    before = resource.getrusage(who).ru_utime
    result = work()
    return result, resource.getrusage(who).ru_utime - before


def dither(*arguments):
    out = subprocess.run(["bin/dither", *arguments, "--format", "json"], check=True, capture_output=True).stdout
    return json.loads(out)


def theirs(job):
    found = []
    for accountant in (pld(), rdp_privacy_accountant.RdpAccountant()):
        accountant.compose(event(float(job[0]), rate(job[1]), job[2]))
        found.append(accountant.get_epsilon(1e-5))
    return found[0]


def main():
    ours_all = theirs_all = 0.0
    print(f"{'job':44} {'dither, s':>9} {'dp_accounting, s':>17}   bounds of dither, value of dp_accounting")
    for sigma, sampling, count in JOBS:
        spec = f"gaussian sigma={sigma} sampling={sampling} count={count}"
        ours, mine = timed(resource.RUSAGE_CHILDREN, lambda: dither("account", "--delta", "1e-5", spec))
        other, yours = timed(resource.RUSAGE_SELF, lambda: theirs((sigma, sampling, count)))
        ours_all, theirs_all = ours_all + mine, theirs_all + yours
        bounds = ours["epsilon"]["pld"]
        print(f"{spec[9:]:44} {mine:9.2f} {yours:17.2f}   {bounds['lower']:.5f} to {bounds['upper']:.5f}, {other:.5f}")
    print(f"{'all':44} {ours_all:9.2f} {theirs_all:17.2f}")
    ours, mine = timed(resource.RUSAGE_CHILDREN, lambda: dither(
        "calibrate", "--epsilon", "2", "--delta", "1e-5", "gaussian sigma=? sampling=0.01 count=10000"))
    other, yours = timed(resource.RUSAGE_SELF, lambda: da.calibrate_dp_mechanism(
        pld, lambda sigma: event(sigma, 0.01, 10000), 2, 1e-5,
        bracket_interval=da.LowerEndpointAndGuess(0.1, 1.0), tol=1e-6))
    print(f"{'calibrate, 10,000 steps, ε = 2':44} {mine:9.2f} {yours:17.2f}   {json.dumps(ours)[:90]}, {other:.6f}")


if __name__ == "__main__":
    main()
