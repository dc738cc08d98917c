#!/usr/bin/env python3
"""Prints standard errors of dither's `fit … --cluster` beside those of statsmodels, on the same made-up rows.

    python3 -m venv venv && venv/bin/pip install 'numpy>=2' statsmodels
    go build -o dither ./cmd/dither && venv/bin/python tools/peers/clusters.py ./dither

Persons have 1 to 4 rows, which share most of their residual and of x. Wards are clusters of persons. For logistic and
Poisson models, persons share x, and what else moves the mean of their responses.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import statsmodels.api as sm

POLICY = """version: 1
population: {name: visits}
budget: {epsilon: 1000}
price: {maximum: 1000}
tables:
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 4
    columns:
      person: {type: integer}
      ward: {type: integer, values: [%s]}
      x: {type: real, bounds: [0, 2]}
      y: %s
"""


def visits(persons, seed):
    r = np.random.default_rng(seed)
    wards = 0.3 * r.standard_normal(30)
    rows = []
    for person in range(persons):
        ward, shared, place = r.integers(30), r.standard_normal(), r.random()
        for _ in range(1 + r.integers(4)):
            x = place + r.random()
            rows.append((person, ward, x, np.clip(1 + 2 * x + shared + wards[ward] + 0.3 * r.standard_normal(), -5, 10)))
    return np.array(rows)


def events(persons, seed, poisson):
    r = np.random.default_rng(seed)
    wards = 0.2 * r.standard_normal(30)
    rows = []
    for person in range(persons):
        ward, shared, x = r.integers(30), r.standard_normal(), 2 * r.random()
        for _ in range(1 + r.integers(4)):
            if poisson:
                y = min(r.poisson(np.exp(0.5 * x - 0.5 + 0.5 * shared + wards[ward])), 8)
            else:
                y = r.random() < 1 / (1 + np.exp(1 - 1.5 * x - shared - wards[ward]))
            rows.append((person, ward, x, int(y)))
    return np.array(rows)


def dither(program, model, rows, response, cluster, epsilon):
    """The slope by dither: its estimate, standard error and interval, as text."""
    with tempfile.TemporaryDirectory() as folder:
        home = os.path.join(folder, "home")

        def run(*args):
            env = {**os.environ, "DITHER_HOME": home, "XDG_STATE_HOME": folder}
            return subprocess.check_output([program, *args], text=True, stderr=subprocess.DEVNULL, env=env)

        run("init", home)
        with open(os.path.join(home, "policy.yaml"), "w") as f:
            f.write(POLICY % (", ".join(map(str, range(30))), response))
        with open(os.path.join(home, "visits.csv"), "w") as f:
            f.write("person,ward,x,y\n")
            f.writelines(f"{int(p)},{int(w)},{x!r},{y if model == 'linear' else int(y)!r}\n" for p, w, x, y in rows.tolist())
        run("seal")
        about = [] if model == "linear" else ["--rows", str(len(rows))]
        out = run("fit", model, "--table", "visits", "--formula", "y ~ x", "--cluster", cluster,
                  "--epsilon", epsilon, "--format", "json", *about)
    k = json.loads(out)["coefficients"][1]
    low, high = (("−∞∞"[e == "high":][:1] if k[e] is None else f"{k[e]:.3f}") for e in ("low", "high"))
    error = "?" if k["std_error"] is None else f"{k['std_error']:.4f}"
    return f"{k['estimate']:.3f} ({error}), [{low}, {high}]"


def slope(fit):
    """The slope by statsmodels, as text."""
    low, high = fit.conf_int()[1]
    return f"{fit.params[1]:.3f} ({fit.bse[1]:.4f}), [{low:.3f}, {high:.3f}]"


def main():
    program = os.path.abspath(sys.argv[1])
    told = "dither: slope (std. error), 95 % interval | statsmodels: slope (std. error), 95 % interval"
    print(f"| persons | cluster | ε | {told} |\n|---|---|---|---|---|")
    for persons in (300, 5000, 20000):
        for cluster, column in (("person", 0), ("ward", 1)):
            rows = visits(persons, persons)
            fit = sm.OLS(rows[:, 3], sm.add_constant(rows[:, 2])).fit(
                cov_type="cluster", cov_kwds={"groups": rows[:, column].astype(int)}, use_t=True)
            for epsilon in ("1000", "10"):
                ours = dither(program, "linear", rows, "{type: real, bounds: [-5, 10]}", cluster, epsilon)
                print(f"| {persons:,} | {cluster} | {epsilon} | {ours} | {slope(fit)} |", flush=True)
    print(f"\n| model | persons | cluster | ε | {told}; for independent rows |\n|---|---|---|---|---|---|")
    for model, family, response in (("logistic", sm.families.Binomial(), "{type: integer, bounds: [0, 1]}"),
                                    ("poisson", sm.families.Poisson(), "{type: integer, bounds: [0, 8]}")):
        for persons in (500, 2000, 20000):
            for cluster, column in (("person", 0), ("ward", 1)):
                rows = events(persons, persons, model == "poisson")
                of = sm.GLM(rows[:, 3], sm.add_constant(rows[:, 2]), family=family)
                fit = of.fit(cov_type="cluster", cov_kwds={"groups": rows[:, column].astype(int)})
                for epsilon in ("1000", "10"):
                    ours = dither(program, model, rows, response, cluster, epsilon)
                    print(f"| {model} | {persons:,} | {cluster} | {epsilon} | {ours} | {slope(fit)}; ({of.fit().bse[1]:.4f}) |", flush=True)


if __name__ == "__main__":
    main()
