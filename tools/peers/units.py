#!/usr/bin/env python3
"""Prints errors of averages and variances beside those of OpenDP, at equal loss, where the number of rows is public.

    python3 -m venv venv && venv/bin/pip install 'numpy>=2' opendp==0.16.0
    go build -o dither ./cmd/dither && venv/bin/python tools/peers/units.py ./dither [ANSWERS]

Neighbouring tables differ in the content of one row, and ε is 1. An error is the root mean squared difference from the exact
result. If one question asks for both numbers, OpenDP spends half of the price on each. The last column has the ratio of the
standard deviations of the noise, without sampling error, where dither states one in advance.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import opendp.prelude as dp

LOWER, UPPER = 0.0, 20.0
POLICY = """version: 1
population: {name: units, neighbours: change-one}
budget: {epsilon: 1000}
price: {maximum: 1000}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    units: %d
    columns:
      x: {type: real, bounds: [0, 20]}
"""


def columns(n):
    r = np.random.default_rng(1)
    return {
        "normal, in the middle": np.clip(r.normal(10, 3, n), LOWER, UPPER),
        "uniform": r.uniform(LOWER, UPPER, n),
        "exponential, near a bound": np.clip(r.exponential(2, n), LOWER, UPPER),
        "half of the rows at a bound": np.where(r.random(n) < 0.5, 0, np.clip(r.normal(5, 2, n), LOWER, UPPER)),
    }


def opendp(x, then, epsilon, answers):
    """The scale of OpenDP's measurement of a sized, bounded column, the least that its own map permits, and its answers."""
    space = dp.vector_domain(dp.atom_domain(bounds=(LOWER, UPPER), nan=False), size=len(x)), dp.symmetric_distance()
    scale = dp.binary_search_param(lambda s: space >> then() >> dp.m.then_laplace(scale=s), d_in=2, d_out=epsilon)
    measure = space >> then() >> dp.m.then_laplace(scale=scale)
    values = x.tolist()
    return scale, [measure(values) for _ in range(answers)]


def dither(program, x, items, answers):
    """For each item: the stated deviation of its noise, or None, and a list of answers to fresh questions."""
    with tempfile.TemporaryDirectory() as home:
        with open(os.path.join(home, "policy.yaml"), "w") as f:
            f.write(POLICY % len(x))
        with open(os.path.join(home, "t.csv"), "w") as f:
            f.write("x\n" + "\n".join(map(repr, x.tolist())) + "\n")
        for command in (["init", home], ["seal"]):
            subprocess.run([program, *command, "-C", home], check=True, capture_output=True, env={**os.environ, "XDG_STATE_HOME": home})
        def ask(command, *flags):
            question = "SELECT " + ", ".join(items) + " FROM t"
            return json.loads(subprocess.run(
                [program, command, "-C", home, "--epsilon", "1", *flags, "--format", "json", question],
                check=True, capture_output=True, text=True, env={**os.environ, "XDG_STATE_HOME": home}).stdout)

        stated = [(column.get("expected") or {}).get("stddev") for column in ask("explain")["columns"]]
        out = [list(ask("query", "--fresh")["rows"][0].values()) for _ in range(answers)]
        return [(deviation, [float(cell["value"]) for cell in column]) for deviation, column in zip(stated, zip(*out))]


def error(values, exact):
    return math.sqrt(sum((v - exact) ** 2 for v in values) / len(values))


def main():
    program, answers = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    dp.enable_features("contrib")
    kinds = {"AVG(x)": (dp.t.then_mean, np.mean), "VAR_SAMP(x)": (dp.t.then_variance, lambda x: np.var(x, ddof=1))}
    print("| rows | column | question | number | exact | dither | OpenDP | dither / OpenDP | noise |")
    print("|---|---|---|---|---|---|---|---|---|")
    for n in (1000, 20000):
        for name, x in columns(n).items():
            for items in (["AVG(x)"], ["VAR_SAMP(x)"], ["AVG(x)", "VAR_SAMP(x)"]):
                for item, (stated, values) in zip(items, dither(program, x, items, answers)):
                    then, compute = kinds[item]
                    exact = compute(x)
                    ours = error(values, exact)
                    scale, of_theirs = opendp(x, then, 1 / len(items), 20 * answers)
                    theirs = error(of_theirs, exact)
                    noise = f"{stated / (math.sqrt(2) * scale):.3f}" if stated else ""
                    print(f"| {n} | {name} | {', '.join(items)} | {item} | {exact:.4g} | {ours:.3g} | {theirs:.3g} | {ours / theirs:.2f} "
                          f"| {noise} |", flush=True)


if __name__ == "__main__":
    main()
