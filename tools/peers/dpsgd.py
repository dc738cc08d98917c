#!/usr/bin/env python3
"""Fits the same rows by dither's Newton steps and by noisy gradients (DP-SGD) at equal (ε, δ), and prints the errors.

    python3 -m venv venv && venv/bin/pip install 'numpy>=2'
    venv/bin/python tools/peers/dpsgd.py [RUNS]

Both are add/remove, of tables whose unit is the row. The Newton steps get ρ, the largest whose zCDP implies (ε, δ). DP-SGD
[Abadi et al. 2016] clips the rows' gradients, in NumPy; its noise is the least that dither's certified accountant of Poisson
sampling permits at (ε, δ) (`fit logistic --method gradient --explain`). Its settings are the best of nine, chosen at no charge,
and the coefficients are the means over the last quarter of the steps. The rows and the error are those of logistic.py.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

SLOPES = [1, -1, 0.5, 0, 0.7]
POLICY = """version: 1
population: {name: people}
budget: %s
price: {default: %s, maximum: %s}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    expected_rows: %d
    columns:
%s      y: {type: boolean}
"""
# steps, probability that a step samples a row, optimiser, learning rate
SETTINGS = [(s, q, o, r) for s, q in [(50, 1), (200, 0.25), (500, 0.05)] for o, r in [("sgd", 2), ("sgd", 6), ("adam", 0.05)]]


def rho(epsilon, delta):
    """The largest ρ whose zCDP implies (ε, δ) [Canonne, Kamath & Steinke 2020, proposition 12]."""
    def least(r):
        a = 1 + np.logspace(-3, 4, 4000)
        return np.min(a * r + (math.log(1 / delta) + (a - 1) * np.log1p(-1 / a) - np.log(a)) / (a - 1))
    low, high = 0.0, epsilon
    for _ in range(60):
        mid = (low + high) / 2
        low, high = (mid, high) if least(mid) <= epsilon else (low, mid)
    return low


class Home:
    def __init__(self, program, folder, x, y, budget, price, maximum):
        self.program, self.folder, self.names = program, folder, ["x%d" % i for i in range(x.shape[1])]
        with open(folder + "/people.csv", "w") as out:
            out.write(",".join(self.names + ["y"]) + "\n")
            for row, positive in zip(x, y):
                out.write(",".join("%.6f" % v for v in row) + (",true\n" if positive else ",false\n"))
        self.run("init", "home")
        with open(folder + "/home/policy.yaml", "w") as out:
            out.write(POLICY % (budget, price, maximum, len(x), "".join("      %s: {type: real, bounds: [-1, 1]}\n" % n for n in self.names)))
        os.rename(folder + "/people.csv", folder + "/home/people.csv")
        self.run("seal")

    def run(self, *args):
        return subprocess.run([self.program, *args], cwd=self.folder, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, env={**os.environ, "DITHER_HOME": self.folder + "/home",
                                              "XDG_STATE_HOME": self.folder + "/state"}).stdout

    def fit(self, *flags):
        return self.run("fit", "logistic", "--table", "people", "--formula", "y ~ " + " + ".join(self.names), *flags)

    def slopes(self, *flags):
        return np.array([c["estimate"] for c in json.loads(self.fit("--format", "json", *flags))["coefficients"][1:]])

    def multiplier(self, epsilon, delta, steps, rate):
        out = self.fit("--method", "gradient", "--epsilon", str(epsilon), "--delta", str(delta), "--steps", str(steps),
                       "--rate", str(rate), "--explain", "--format", "json")
        return float(json.loads(out)["multiplier"])


def descent(rng, x, y, multiplier, steps, rate, optimiser, learning):
    x = np.c_[np.ones(len(x)), x]
    clip = math.sqrt(x.shape[1]) / 2
    theta, mean, square, kept = np.zeros(x.shape[1]), 0, 0, []
    for step in range(1, steps + 1):
        of = rng.random(len(x)) < rate
        rows = x[of] * (1 / (1 + np.exp(-x[of] @ theta)) - y[of])[:, None]
        rows *= np.minimum(1, clip / np.maximum(1e-12, np.linalg.norm(rows, axis=1)))[:, None]
        gradient = (rows.sum(0) + rng.normal(0, multiplier * clip, x.shape[1])) / (rate * len(x))
        if optimiser == "sgd":
            theta = theta - learning * gradient
        else:
            mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
            theta = theta - learning * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        if step > 0.75 * steps:
            kept.append(theta)
    return np.mean(kept, axis=0)[1:]


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    rng = np.random.default_rng(2)
    rms = lambda errors: math.sqrt(np.mean(np.square(errors)))
    program = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as built:
        if program is None:
            program = built + "/dither"
            subprocess.run(["go", "build", "-o", program, "./cmd/dither"], check=True)
        print("| rows | predictors | (ε, δ) | Newton steps | DP-SGD | its steps, sample, optimiser | Newton / DP-SGD |\n|---|---|---|---|---|---|---|")
        for n, d, epsilon, delta in [(1000, 3, 1, 1e-5), (1000, 5, 2, 1e-5), (5000, 5, 0.5, 1e-6), (20000, 5, 0.2, 1e-6), (20000, 5, 1, 1e-6)]:
            ours, theirs, multipliers = [], {s: [] for s in SETTINGS}, {}
            for _ in range(runs):
                x = rng.uniform(-1, 1, (n, d))
                y = rng.random(n) < 1 / (1 + np.exp(-(0.5 + x @ SLOPES[:d])))
                with tempfile.TemporaryDirectory() as folder:
                    r = "%.5f" % rho(epsilon, delta)
                    home = Home(program, folder, x, y, "{rho: 10, delta: 1e-2, selection_delta: 5e-3}", r, 4)
                    if not multipliers:
                        multipliers = {s[:2]: home.multiplier(epsilon, delta, *s[:2]) for s in SETTINGS}
                    ours.append(home.slopes("--rho", r) - SLOPES[:d])
                for s in SETTINGS:
                    theirs[s].append(descent(rng, x, y, multipliers[s[:2]], *s) - SLOPES[:d])
            best = min(SETTINGS, key=lambda s: rms(theirs[s]))
            print("| %d | %d | (%g, %g) | %.3f | %.3f | %d, %g, %s %g | %.2f |" % (
                n, d, epsilon, delta, rms(ours), rms(theirs[best]), *best, rms(ours) / rms(theirs[best])), flush=True)


main()
