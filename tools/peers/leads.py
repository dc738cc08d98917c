#!/usr/bin/env python3
"""Prints errors of means, quantiles, linear models and clusters beside those of OpenDP and diffprivlib, at equal loss.

    python3 -m venv venv && venv/bin/pip install 'numpy>=2' opendp==0.16.0 diffprivlib==0.6.6 'scikit-learn<1.8'
    go build -o dither ./cmd/dither && venv/bin/python tools/peers/leads.py ./dither [RUNS]

ε is 1, and each of RUNS tables is asked ten times. An error is the root mean squared difference from the result of the table without
noise; that of clusters is the cost by the centres less that of scikit-learn's centres, divided by the latter. Means,
quantiles and clusters are under add/remove, and linear models under change-one, as diffprivlib counts neighbours. OpenDP's
mean is a noisy sum by a noisy count, at half of ε each. Its quantile has 1,001 candidates over the bounds. dither
is as by default, but spends nothing on intervals of quantiles, since the others have none. diffprivlib gets the bounds.

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

POLICY = """version: 1
population: {name: people, neighbours: %s}
budget: {epsilon: 100}
price: {maximum: 10}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    expected_rows: %d
    columns:
%s"""
DRAWS = {
    "normal, in the middle": lambda r, n: np.clip(r.normal(10, 3, n), 0, 20),
    "exponential, near a bound": lambda r, n: np.clip(r.exponential(2, n), 0, 20),
}


ANSWERS = 10  # to each question about a table


def dither(program, neighbours, columns, *command):
    """The answers in JSON to one command on a new home, each with new noise."""
    with tempfile.TemporaryDirectory() as home:
        run = lambda *args: subprocess.run([program, *args, "-C", home], check=True, capture_output=True, text=True,
                                           env={**os.environ, "XDG_STATE_HOME": home + "/state"}).stdout
        n = len(next(iter(columns.values()))[2])
        with open(home + "/policy.yaml", "w") as f:
            f.write(POLICY % (neighbours, n, "".join("      %s: {type: real, bounds: [%g, %g]}\n" % (name, low, high)
                                                     for name, (low, high, _) in columns.items())))
        np.savetxt(home + "/t.csv", np.column_stack([v for _, _, v in columns.values()]), "%.9g", ",", header=",".join(columns), comments="")
        run("init", home)
        run("seal")
        return [json.loads(run(*command, "--epsilon", "1", "--fresh", "--format", "json")) for _ in range(ANSWERS)]


def mean(r, program, draw, n):
    import opendp.prelude as dp

    x = draw(r, n)
    ours = dither(program, "add-remove", {"x": (0, 20, x)}, "query", "SELECT AVG(x) AS m FROM t")
    space = dp.vector_domain(dp.atom_domain(bounds=(0.0, 20.0), nan=False)), dp.symmetric_distance()
    total = space >> dp.t.then_sum() >> dp.m.then_laplace(scale=20 / 0.5)
    count = space >> dp.t.then_count() >> dp.m.then_laplace(scale=1 / 0.5)
    values = x.tolist()
    return [float(a["rows"][0]["m"]["value"]) - x.mean() for a in ours], [
        total(values) / max(count(values), 1) - x.mean() for _ in range(ANSWERS)]


def quantile(r, program, draw, n, rank, other):
    x = draw(r, n)
    ours = dither(program, "add-remove", {"x": (0, 20, x)},
                  "estimate", "quantile", "--table", "t", "--column", "x", "--at", str(rank), "--no-intervals")
    if other == "diffprivlib":
        from diffprivlib.tools import quantile as q

        theirs = lambda: q(x, rank, epsilon=1, bounds=(0, 20))
    else:
        import opendp.prelude as dp

        candidates = np.linspace(0, 20, 1001).tolist()
        make = lambda s: dp.m.make_private_quantile(
            dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance(), dp.max_divergence(),
            candidates=candidates, alpha=rank, scale=s)
        measure, values = make(dp.binary_search_param(make, d_in=1, d_out=1.0)), x.tolist()
        theirs = lambda: measure(values)
    exact = np.quantile(x, rank)
    return [float(a["estimates"][0]["value"]) - exact for a in ours], [theirs() - exact for _ in range(ANSWERS)]


def linear(r, program, d, n):
    from diffprivlib.models import LinearRegression

    x = r.uniform(-1, 1, (n, d))
    slopes = np.array([1, -1, 0.5, 0, 0.7])[:d]
    y = np.clip(0.5 + x @ slopes + r.normal(0, 1, n), -5, 5)
    columns = {"x%d" % i: (-1, 1, x[:, i]) for i in range(d)}
    fits = dither(program, "change-one", {**columns, "y": (-5, 5, y)}, "fit", "linear", "--table", "t", "--formula", "y ~ " + " + ".join(columns))
    exact = np.linalg.lstsq(np.c_[np.ones(n), x], y, rcond=None)[0][1:]
    theirs = lambda: LinearRegression(epsilon=1, bounds_X=(-1, 1), bounds_y=(-5, 5)).fit(x, y).coef_
    return [[c["estimate"] for c in fit["coefficients"][1:]] - exact for fit in fits], [theirs() - exact for _ in range(ANSWERS)]


def clusters(r, program, d, n):
    from diffprivlib.models import KMeans
    from sklearn.cluster import KMeans as Plain

    middle = r.uniform(-0.8, 0.8, (4, d))
    x = np.clip(middle[r.integers(0, 4, n)] + r.normal(0, 0.1, (n, d)), -1, 1)
    columns = {"x%d" % i: (-1, 1, x[:, i]) for i in range(d)}
    ours = dither(program, "add-remove", columns, "cluster", "--table", "t", "--column", ",".join(columns), "-k", "4")
    cost = lambda centres: ((x[:, None, :] - centres[None]) ** 2).sum(2).min(1).sum()
    best = Plain(4, n_init=10).fit(x).inertia_
    return [cost(np.array([[float(v["value"]) for v in c["centre"]] for c in a["clusters"]])) / best - 1 for a in ours], [
        cost(KMeans(4, epsilon=1, bounds=(-1, 1)).fit(x).cluster_centers_) / best - 1 for _ in range(ANSWERS)]


def main():
    warnings.filterwarnings("ignore")
    import opendp.prelude as dp

    dp.enable_features("contrib")
    program, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10
    jobs = [("mean", name, mean, (draw, n), "OpenDP", n) for name, draw in DRAWS.items() for n in (1000, 20000)]
    for other in ("OpenDP", "diffprivlib"):
        for rank in (0.5, 0.9):
            jobs += [(".%d-quantile" % (rank * 10), name, quantile, (draw, 1000, rank, other), other, 1000) for name, draw in DRAWS.items()]
    jobs += [("slopes of a linear model", "%d uniform predictors" % d, linear, (d, n), "diffprivlib", n) for d in (2, 5) for n in (1000, 20000)]
    jobs += [("cost of 4 clusters, relative", "%d columns" % d, clusters, (d, n), "diffprivlib", n) for d in (2, 5) for n in (1000, 20000)]
    print("| what | rows | table | dither | the other | dither / the other |")
    print("|---|---|---|---|---|---|")
    r = np.random.default_rng(1)
    rms = lambda errors: math.sqrt(np.mean(np.square(errors)))
    for what, table, job, args, other, n in jobs:
        ours, theirs = zip(*(job(r, program, *args) for _ in range(runs)))
        print("| %s | %d | %s | %.3g | %s %.3g | %.2f |" % (what, n, table, rms(ours), other, rms(theirs), rms(ours) / rms(theirs)), flush=True)


main()
