#!/usr/bin/env python3
"""Fits the Adult census rows by dither at (ε, δ), and prints the accuracy beside published ones.

    python3 -m venv venv && venv/bin/pip install 'numpy>=2'
    venv/bin/python tools/peers/adult.py ADULT.csv [RUNS]

ADULT.csv has the 48,842 rows of UCI's "Adult" as coded in data/adult.csv of github.com/ryan112358/private-pgm (SHA-256
de1b8341…). Numbers are in at most 100 classes there. As in the benchmark of Iyengar et al. 2019, rows with a missing value
are left out, four fifths of the others are the rows of the fit, in a random split for each run, and the accuracy is that on
the last fifth. The predictors are the same: eight categories (here the grade of education stands for its name, which has the
same values) and six numbers. δ is one over the square of the number of rows of the fit, and neighbours differ in the values
of one row. dither gets ρ, the largest whose zCDP implies (ε, δ), and is otherwise as by default.

The published accuracies are those of table 2 of "Gradient Perturbation is Underrated for Differentially Private Convex
Optimization" [Yu, Zhang, Chen, Yin & Liu 2020] as submitted to ICLR 2020: means over 20 runs.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from glm import rho

# the number of values of each category without the missing one, and the largest number
CATEGORIES = {"workclass": 8, "education": 16, "marital-status": 7, "occupation": 14, "relationship": 6, "race": 5, "sex": 2,
              "native-country": 41}
NUMBERS = {"age": 85, "fnlwgt": 100, "education-num": 16, "capital-gain": 100, "capital-loss": 100, "hours-per-week": 99}
PUBLISHED = {0.1: "without privacy 84.8, DP-GD 80.9, DP-SGD 80.4, AMP 79.3, output perturbation 77.4"}


def rows(path):
    for row in csv.DictReader(open(path)):
        row = {name: int(x) for name, x in row.items()}
        row["education"] = row["education-num"]
        if all(row[name] < size for name, size in CATEGORIES.items()):
            yield row


def column(name):
    return name.replace("-", "_")


def accuracy(program, train, test, epsilon):
    with tempfile.TemporaryDirectory() as folder:
        run = lambda *args: subprocess.run(
            [program, *args, "-C", "home"], cwd=folder, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "XDG_STATE_HOME": folder + "/state"}).stdout
        names = [*CATEGORIES, *NUMBERS]
        with open(folder + "/people.csv", "w") as out:
            out.write(",".join(map(column, names)) + ",rich\n")
            for row in train:
                out.write(",".join(["v%d" % row[c] for c in CATEGORIES] + ["%d" % row[c] for c in NUMBERS]))
                out.write(",true\n" if row["income>50K"] else ",false\n")
        subprocess.run([program, "init", "home"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        policy = ["version: 1", "population: {name: people, neighbours: change-one}",
                  "budget: {rho: 10, delta: 1e-2, selection_delta: 5e-3}", "price: {minimum: 0.00001, default: 1, maximum: 3}",
                  "tables:", "  people:", "    source: {csv: people.csv}", "    unit: row", "    expected_rows: %d" % len(train),
                  "    columns:", "      rich: {type: boolean}"]
        for name, size in CATEGORIES.items():
            policy.append("      %s: {type: text, values: [%s]}" % (column(name), ", ".join("v%d" % i for i in range(size))))
        policy += ["      %s: {type: integer, bounds: [0, %d]}" % (column(name), high) for name, high in NUMBERS.items()]
        with open(folder + "/home/policy.yaml", "w") as out:
            out.write("\n".join(policy) + "\n")
        os.rename(folder + "/people.csv", folder + "/home/people.csv")
        run("seal")
        fit = json.loads(run("fit", "logistic", "--table", "people", "--formula", "rich ~ " + " + ".join(map(column, names)),
                             "--rho", "%.9f" % rho(epsilon, len(train) ** -2), "--format", "json"))
    theta = {c["name"]: c["estimate"] for c in fit["coefficients"]}
    right = 0
    for row in test:
        z = theta["(Intercept)"] + sum(theta[column(c)] * row[c] for c in NUMBERS)
        z += sum(theta.get("%s[v%d]" % (column(c), row[c]), 0) for c in CATEGORIES)
        right += (z > 0) == (row["income>50K"] == 1)
    return 100 * right / len(test)


def main():
    every, runs = list(rows(sys.argv[1])), int(sys.argv[2]) if len(sys.argv) > 2 else 10
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        program = folder + "/dither"
        subprocess.run(["go", "build", "-o", program, "./cmd/dither"], check=True)
        for epsilon, published in PUBLISHED.items():
            found = []
            for _ in range(runs):
                shuffled, cut = [every[i] for i in rng.permutation(len(every))], len(every) * 4 // 5
                found.append(accuracy(program, shuffled[:cut], shuffled[cut:], epsilon))
            print("ε = %g, %d rows: dither %.1f ± %.1f (mean of %d, and its standard error); published: %s" % (
                epsilon, len(every) * 4 // 5, np.mean(found), np.std(found, ddof=1) / runs**0.5, runs, published), flush=True)


main()
