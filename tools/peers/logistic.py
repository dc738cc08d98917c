#!/usr/bin/env python3
"""Fits the same rows by dither and by other private methods at equal loss and neighbours, and prints the errors.

    python3 -m venv venv && venv/bin/pip install diffprivlib==0.6.6 'scikit-learn<1.8'
    venv/bin/python tools/peers/logistic.py [RUNS]

The rows have d predictors that are uniform on [-1, 1]. The error is the root mean square, over the slopes and RUNS
samples, of the distance from the coefficients that the rows were drawn from. So it has the sampling error of the rows,
which every method shares ("exact" in the table). The neighbours are change-one for all, as diffprivlib counts them, and n
is public. diffprivlib gets the norm of the predictors, √d, as data_norm, and is otherwise as by default.

With a δ, diffprivlib has no logistic regression. Beside dither stands full-batch gradient descent with Gaussian noise at
the same ρ, with its steps and its rate chosen for the least error, without charging for the choice.

Nothing here is needed to build, test or run dither.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np

SLOPES = [1, -1, 0.5, 0, 0.7]
POLICY = """version: 1
population: {name: people, neighbours: change-one}
budget: %s
price: {default: 1, maximum: 3}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    expected_rows: %d
    columns:
%s      y: {type: boolean}
"""


def rows(rng, n, d):
    x = rng.uniform(-1, 1, (n, d))
    return x, rng.random(n) < 1 / (1 + np.exp(-(0.5 + x @ SLOPES[:d])))


def exact(x, y):
    x = np.c_[np.ones(len(x)), x]
    theta = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ theta))
        theta -= np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x, x.T @ (p - y))
    return theta[1:]


def dither(program, budget, flags, x, y):
    """The slopes, and how many intervals are finite, and how many cover."""
    with tempfile.TemporaryDirectory() as folder:
        n, d = x.shape
        run = lambda *args: subprocess.run(
            [program, *args, "-C", "home"], cwd=folder, check=True, capture_output=True, text=True,
            env={**os.environ, "XDG_STATE_HOME": folder + "/state"}).stdout
        names = ["x%d" % i for i in range(d)]
        with open(folder + "/people.csv", "w") as out:
            out.write(",".join(names + ["y"]) + "\n")
            for row, positive in zip(x, y):
                out.write(",".join("%.6f" % v for v in row) + (",true\n" if positive else ",false\n"))
        subprocess.run([program, "init", "home", "--from", "people.csv"], cwd=folder, check=True, capture_output=True)
        columns = "".join("      %s: {type: real, bounds: [-1, 1]}\n" % name for name in names)
        with open(folder + "/home/policy.yaml", "w") as out:
            out.write(POLICY % (budget, n, columns))
        os.rename(folder + "/people.csv", folder + "/home/people.csv")
        run("seal")
        fit = json.loads(run("fit", "logistic", "--table", "people", "--formula", "y ~ " + " + ".join(names), "--format", "json",
                             *flags))
        slopes = fit["coefficients"][1:]
        told = [c for c in slopes if c["low"] is not None]
        covered = sum(c["low"] is None or c["low"] <= want <= c["high"] for c, want in zip(slopes, SLOPES))
        return np.array([c["estimate"] for c in slopes]), len(told), covered


def diffprivlib(epsilon, x, y):
    from diffprivlib.models import LogisticRegression

    return LogisticRegression(epsilon=epsilon, data_norm=math.sqrt(x.shape[1])).fit(x, y).coef_[0]


def descents(rng, rho, x, y):
    """Gradient descent at ρ, for several numbers of steps and rates."""
    x = np.c_[np.ones(len(x)), x]
    n, norm = len(x), math.sqrt(x.shape[1])
    for steps in (5, 20, 80):
        for rate in (1, 3, 6):
            theta = np.zeros(x.shape[1])
            sigma = 2 * norm / math.sqrt(2 * rho / steps)
            for _ in range(steps):
                gradient = x.T @ (1 / (1 + np.exp(-x @ theta)) - y) + rng.normal(0, sigma, len(theta))
                theta -= rate * gradient / n
            yield (steps, rate), theta[1:]


def main():
    warnings.filterwarnings("ignore")
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    rng = np.random.default_rng(1)
    rms = lambda errors: math.sqrt(np.mean(np.square(errors)))
    with tempfile.TemporaryDirectory() as folder:
        program = folder + "/dither"
        subprocess.run(["go", "build", "-o", program, "./cmd/dither"], check=True)
        print("| rows | predictors | loss | exact | dither | intervals | coverage | the other | dither / the other |")
        print("|---|---|---|---|---|---|---|---|---|")
        for n, d, epsilon, rho in [
            (1000, 2, 2, 0), (1000, 3, 2, 0), (1000, 5, 2, 0), (20000, 2, 0.2, 0), (20000, 3, 0.2, 0), (20000, 5, 0.2, 0),
            (20000, 5, 1, 0), (1000, 5, 0, 0.5), (5000, 5, 0, 0.02), (20000, 5, 0, 0.02),
        ]:
            plain, ours, told, covered, theirs = [], [], 0, 0, {}
            for _ in range(runs):
                x, y = rows(rng, n, d)
                plain.append(exact(x, y) - SLOPES[:d])
                if rho:
                    fit = dither(program, "{rho: 10, delta: 1e-6}", ["--rho", str(rho)], x, y)
                    for name, slopes in descents(rng, rho, x, y):
                        theirs.setdefault(name, []).append(slopes - SLOPES[:d])
                else:
                    fit = dither(program, "{epsilon: 10}", ["--epsilon", str(epsilon)], x, y)
                    theirs.setdefault("", []).append(diffprivlib(epsilon, x, y) - SLOPES[:d])
                ours.append(fit[0] - SLOPES[:d])
                told, covered = told + fit[1], covered + fit[2]
            other = min(rms(e) for e in theirs.values())
            print("| %d | %d | %s | %.3f | %.3f | %.0f %% | %.0f %% | %s %.3f | %.2f |" % (
                n, d, "ρ = %g" % rho if rho else "ε = %g" % epsilon, rms(plain), rms(ours), 100 * told / runs / d,
                100 * covered / runs / d, "gradient descent" if rho else "diffprivlib", other, rms(ours) / other), flush=True)


main()
