#!/usr/bin/env python3
"""Prints standard errors of dither's `fit linear --cluster` beside those of statsmodels, on the same made-up rows.

    python3 -m venv venv && venv/bin/pip install 'numpy>=2' statsmodels
    go build -o dither ./cmd/dither && venv/bin/python tools/peers/clusters.py ./dither

Persons have 1 to 4 rows, which share most of their residual and of x. Wards are clusters of persons.
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
      y: {type: real, bounds: [-5, 10]}
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


def main():
    dither = os.path.abspath(sys.argv[1])
    print("| persons | cluster | ε | dither: slope (std. error), 95 % interval | statsmodels: slope (std. error), 95 % interval |")
    print("|---|---|---|---|---|")
    for persons in (300, 5000, 20000):
        for cluster, column in (("person", 0), ("ward", 1)):
            rows = visits(persons, persons)
            fit = sm.OLS(rows[:, 3], sm.add_constant(rows[:, 2])).fit(
                cov_type="cluster", cov_kwds={"groups": rows[:, column].astype(int)}, use_t=True)
            theirs = f"{fit.params[1]:.3f} ({fit.bse[1]:.4f}), [{fit.conf_int()[1][0]:.3f}, {fit.conf_int()[1][1]:.3f}]"
            for epsilon in ("1000", "10"):
                with tempfile.TemporaryDirectory() as folder:
                    home = os.path.join(folder, "home")

                    def run(*args):
                        env = {**os.environ, "DITHER_HOME": home, "XDG_STATE_HOME": folder}
                        return subprocess.check_output([dither, *args], text=True, stderr=subprocess.DEVNULL, env=env)

                    run("init", home)
                    with open(os.path.join(home, "policy.yaml"), "w") as f:
                        f.write(POLICY % ", ".join(map(str, range(30))))
                    with open(os.path.join(home, "visits.csv"), "w") as f:
                        f.write("person,ward,x,y\n")
                        f.writelines(f"{int(p)},{int(w)},{x!r},{y!r}\n" for p, w, x, y in rows.tolist())
                    run("seal")
                    out = run("fit", "linear", "--table", "visits", "--formula", "y ~ x", "--cluster", cluster,
                              "--epsilon", epsilon, "--format", "json")
                k = json.loads(out)["coefficients"][1]
                low, high = (("−∞∞"[e == "high":][:1] if k[e] is None else f"{k[e]:.3f}") for e in ("low", "high"))
                print(f"| {persons:,} | {cluster} | {epsilon} | {k['estimate']:.3f} ({k['std_error']:.4f}), [{low}, {high}] | {theirs} |", flush=True)


if __name__ == "__main__":
    main()
