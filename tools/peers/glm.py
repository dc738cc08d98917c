#!/usr/bin/env python3
"""Fits the same rows by dither, by noisy gradients (DP-SGD) and by a noisy objective (AMP) at equal (ε, δ), and prints the errors.

    python3 -m venv venv && venv/bin/pip install 'numpy>=2'
    venv/bin/python tools/peers/glm.py [RUNS]

All are add/remove, of tables whose unit is the row. dither gets ρ, the largest whose zCDP implies (ε, δ). The rows and the
error are those of logistic.py, and "exact" is the minimum without noise. The other two are in NumPy, and the settings of
each are the best of nine, chosen at no charge.

DP-SGD [Abadi et al. 2016] clips the rows' gradients to half of their bound R. Its noise is the least that dither's certified
accountant of Poisson sampling permits at (ε, δ) (`fit logistic --method gradient --explain`). The coefficients are the means
over the last quarter of the steps.

AMP (approximate minima perturbation) [Iyengar et al. 2019] releases the minimum of F(θ) + (Λ/2)‖θ‖² + ⟨b, θ⟩, where F is the
sum of the rows' losses and b ~ N(0, σ²I). Here it gets the exact minimum at no charge, so it adds no noise to the minimum.
Its rows' gradients are clipped to C, which keeps F convex [Song, Steinke, Thakkar & Thakurta 2021]. σ is less than in both
publications [Redberg, Koskela & Wang 2023 too]. Claim: (ε, δ) holds if a Gaussian mechanism with sensitivity C and noise σ
has (ε − ln(1 + R²/4Λ), δ). Proof. θ determines b = −∇F(θ) − Λθ. For neighbours that differ in the row (x, y), the two b of
the same θ differ by sx, where |s|·‖x‖ ≤ C, and the sign of s depends on y alone. The determinants ∂b/∂θ differ by a factor
between 1 and 1 + R²/4Λ. The logarithm of the ratio of the densities of b is (s²‖x‖² ± 2s⟨b, x⟩)/2σ². It is convex in s, so it is
at most the larger of 0, for s = 0, and of its value at the end of the range of s, which is the loss of the Gaussian mechanism. ∎
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
# the parts of ε for the curvature, and of R to which the rows' gradients are clipped
PERTURBED = [(part, clip) for part in (0.05, 0.1, 0.2) for clip in (1, 0.6, 0.5)]
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


def normal(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def gaussian(epsilon, delta):
    """The least σ of a Gaussian mechanism with sensitivity 1 [Balle & Wang 2018, theorem 8]."""
    excess = lambda s: normal(0.5 / s - epsilon * s) - math.exp(epsilon) * normal(-0.5 / s - epsilon * s) - delta
    low, high = 1e-3, 1e4
    for _ in range(80):
        mid = math.sqrt(low * high)
        low, high = (mid, high) if excess(mid) > 0 else (low, mid)
    return high


def minimum(x, y, most, penalty, b):
    """The minimum, with the magnitude of each row's derivative clipped to `most`, by damped Newton steps."""
    theta = np.zeros(x.shape[1])

    def gradient(theta):
        p = 1 / (1 + np.exp(-x @ theta))
        return x.T @ np.clip(p - y, -most, most) + penalty * theta + b, p * (1 - p) * (np.abs(p - y) < most)

    at, weight = gradient(theta)
    for _ in range(200):
        step = np.linalg.solve((x * weight[:, None]).T @ x + (penalty + 1e-9) * np.eye(len(theta)), at)
        part = 1.0
        while part > 1e-6:
            after, weight = gradient(theta - part * step)
            if np.linalg.norm(after) < np.linalg.norm(at):
                break
            part /= 2
        theta, at = theta - part * step, after
        if np.linalg.norm(at) < 1e-6 * len(x):
            return theta
    raise ArithmeticError("no minimum")


def perturbed(rng, x, y, epsilon, delta, part, clip):
    x = np.c_[np.ones(len(x)), x]
    bound = math.sqrt(x.shape[1])
    penalty = bound**2 / 4 / math.expm1(part * epsilon)
    b = rng.normal(0, clip * bound * gaussian((1 - part) * epsilon, delta), x.shape[1])
    return minimum(x, y, np.minimum(1, clip * bound / np.linalg.norm(x, axis=1)), penalty, b)[1:]


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    rng = np.random.default_rng(2)
    rms = lambda errors: math.sqrt(np.mean(np.square(errors)))
    program = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as built:
        if program is None:
            program = built + "/dither"
            subprocess.run(["go", "build", "-o", program, "./cmd/dither"], check=True)
        print("| rows | predictors | (ε, δ) | exact | dither | DP-SGD | its steps, sample, optimiser | AMP | its part, clip "
              "| dither / DP-SGD | dither / AMP |\n" + "|---" * 11 + "|")
        for n, d, epsilon, delta in [(1000, 3, 1, 1e-5), (1000, 5, 2, 1e-5), (5000, 5, 0.5, 1e-6), (20000, 5, 0.2, 1e-6), (20000, 5, 1, 1e-6)]:
            exact, ours, noisy, inside, multipliers = [], [], {s: [] for s in SETTINGS}, {s: [] for s in PERTURBED}, {}
            truth, r = SLOPES[:d], "%.5f" % rho(epsilon, delta)
            for _ in range(runs):
                x = rng.uniform(-1, 1, (n, d))
                y = rng.random(n) < 1 / (1 + np.exp(-(0.5 + x @ truth)))
                exact.append(minimum(np.c_[np.ones(n), x], y, 1, 0, 0)[1:] - truth)
                with tempfile.TemporaryDirectory() as folder:
                    home = Home(program, folder, x, y, "{rho: 10, delta: 1e-2, selection_delta: 5e-3}", r, 4)
                    if not multipliers:
                        multipliers = {s[:2]: home.multiplier(epsilon, delta, *s[:2]) for s in SETTINGS}
                    ours.append(home.slopes("--rho", r) - truth)
                for s in SETTINGS:
                    noisy[s].append(descent(rng, x, y, multipliers[s[:2]], *s) - truth)
                for s in PERTURBED:
                    inside[s].append(perturbed(rng, x, y, epsilon, delta, *s) - truth)
            sgd, amp = min(SETTINGS, key=lambda s: rms(noisy[s])), min(PERTURBED, key=lambda s: rms(inside[s]))
            print("| %d | %d | (%g, %g) | %.3f | %.3f | %.3f | %d, %g, %s %g | %.3f | %g, %g | %.2f | %.2f |" % (
                n, d, epsilon, delta, rms(exact), rms(ours), rms(noisy[sgd]), *sgd, rms(inside[amp]), *amp,
                rms(ours) / rms(noisy[sgd]), rms(ours) / rms(inside[amp])), flush=True)


if __name__ == "__main__":
    main()
