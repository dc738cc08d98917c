#!/usr/bin/env python3
"""Prints statistics of one made-up table by Python's packages beside those of dither, with their intervals.

    python3 -m venv venv && venv/bin/pip install 'numpy>=2' scipy==1.17.1 statsmodels==0.15.0 lifelines==0.30.3
    go build -o dither ./cmd/dither && venv/bin/python tools/peers/packages.py ./dither [EPSILON]

The table has 6,000 people, or visits of 2,000 persons for the model with clusters. The seed is fixed; the noise of dither is not.
Each command is paid anew with --fresh, at ε = 1 unless EPSILON says otherwise.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import scipy.stats as st
import statsmodels.api as sm
from lifelines import KaplanMeierFitter
from lifelines.statistics import multivariate_logrank_test
from statsmodels.stats.oneway import anova_oneway

POLICY = """version: 1
population: {name: people}
budget: {epsilon: 1000}
price: {maximum: 1000}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      arm: {type: text, values: [new, old, none]}
      age: {type: integer, bounds: [20, 90]}
      score: {type: real, bounds: [0, 100]}
      income: {type: real, bounds: [0, 200]}
      months: {type: integer, bounds: [1, 24]}
      died: {type: boolean}
  v:
    source: {csv: v.csv}
    unit: person
    rows_per_unit: 5
    columns:
      person: {type: integer}
      x: {type: real, bounds: [0, 10]}
      y: {type: real, bounds: [0, 40]}
"""
ARMS = ("new", "old", "none")


def made_up():
    r = np.random.default_rng(22)
    n = 6000
    arm = r.integers(0, 3, n)
    age = np.clip(np.round(r.normal(52 + 4 * arm, 12, n)), 20, 90).astype(int)
    score = np.clip(r.normal(50 + 0.6 * arm, 15, n), 0, 100).round(3)
    income = np.clip(np.exp(r.normal(3 + score / 120 + age / 80, 0.4, n)), 0, 200).round(3)
    life = np.ceil(r.exponential(30 / (1 + 0.3 * arm) * np.exp(-(age - 52) / 40), n))
    gone = r.integers(6, 25, n)
    months, died = np.clip(np.minimum(life, gone), 1, 24).astype(int), life <= gone
    t = {"arm": arm, "age": age, "score": score, "income": income, "months": months, "died": died}
    person = np.repeat(np.arange(2000), 5)
    own = r.normal(0, 3, 2000)[person]
    x = np.clip(np.repeat(r.uniform(0, 10, 2000), 5) + r.normal(0, 1, 10000), 0, 10).round(3)
    y = np.clip(8 + 1.5 * x + own + r.normal(0, 2, 10000), 0, 40).round(3)
    return t, {"person": person, "x": x, "y": y}


def write(path, columns, names=None):
    with open(path, "w") as f:
        f.write(",".join(columns) + "\n")
        for row in zip(*columns.values()):
            cells = [ARMS[v] if k == "arm" else str(bool(v)).lower() if k == "died" else str(v) for k, v in zip(columns, row)]
            f.write(",".join(cells) + "\n")


class Home:
    def __init__(self, program, home, epsilon):
        self.program, self.home, self.epsilon = program, home, epsilon

    def run(self, *command):
        said = subprocess.run([self.program, *command, "-C", self.home], capture_output=True, text=True,
                              env={**os.environ, "XDG_STATE_HOME": self.home})
        if said.returncode != 0:
            sys.exit(f"{' '.join(command)}: {said.stderr}")
        return said.stdout

    def ask(self, *command):
        return json.loads(self.run(*command, "--epsilon", self.epsilon, "--fresh", "--format", "json"))


def row(statistic, package, value, ours, low=None, high=None, about=""):
    number = lambda x: x if isinstance(x, str) else "–" if x is None else f"{float(x):.4g}"
    interval = "–" if low is None else f"[{number(low)}, {number(high)}]"
    print(f"| {statistic} | {package} | {number(value)} | {number(ours)} | {interval} | {about} |", flush=True)


def p_value(p):
    return "≤ 0.0001" if p <= 1e-4 else f"{p:.4f}"


def main():
    program, epsilon = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "1"
    t, v = made_up()
    with tempfile.TemporaryDirectory() as folder:
        home = Home(program, folder, epsilon)
        home.run("init", folder)
        with open(os.path.join(folder, "policy.yaml"), "w") as f:
            f.write(POLICY)
        write(os.path.join(folder, "t.csv"), t)
        write(os.path.join(folder, "v.csv"), v)
        home.run("seal")
        print("| statistic | package | its value | dither | 95 % interval | differs by definition |")
        print("|---|---|---|---|---|---|")
        survival(home, t)
        tests(home, t)
        components(home, t)
        rates(home, t)
        clusters(home, v)


def survival(home, t):
    curves = home.ask("estimate", "survival", "--table", "t", "--time", "months", "--event", "died", "--by", "arm")["curves"]
    for c in curves[:2]:
        of = t["arm"] == ARMS.index(c["group"])
        k = KaplanMeierFitter().fit(t["months"][of], t["died"][of])
        for p in c["points"]:
            if p["time"] in (6, 12):
                row(f"S({p['time']}), arm {c['group']}", "lifelines", k.predict(p["time"]), p["value"], p["low"], p["high"],
                    "nothing: each month is a period")
    # half-years, for which lifelines has no estimate: its curve by months, and the actuarial life table by hand
    curves = home.ask("estimate", "survival", "--table", "t", "--time", "months", "--event", "died", "--by", "arm",
                      "--periods", "4")["curves"]
    for c in curves[:1]:
        of = t["arm"] == ARMS.index(c["group"])
        k = KaplanMeierFitter().fit(t["months"][of], t["died"][of])
        table = life_table(t["months"][of], t["died"][of], [p["time"] for p in c["points"]])
        for p, by_hand in list(zip(c["points"], table))[:2]:
            row(f"S({p['time']}), arm {c['group']}, 4 periods", "lifelines", k.predict(p["time"]), p["value"], p["low"], p["high"],
                f"half of those who leave in a period are at risk: {by_hand:.4f} without noise, off by at most {p['grouping']:.4f}")
    theirs = multivariate_logrank_test(t["months"], t["arm"], t["died"])
    ours = home.ask("test", "log-rank", "--table", "t", "--time", "months", "--event", "died", "--by", "arm")
    test("log-rank", "lifelines", theirs.test_statistic, theirs.p_value, ours, "noise is in dither's variance")


def life_table(times, events, ends):
    """The actuarial life table of periods of integers, by the last one in each."""
    out, share, start = [], 1.0, -np.inf
    for end in ends:
        within = (times > start) & (times <= end)
        n, d = np.sum(times > start), np.sum(within & events)
        left = 0 if end == ends[-1] else np.sum(within & ~events)
        share *= 1 - d / (n - left / 2)
        out, start = out + [share], end
    return out


def test(name, package, statistic, p, ours, about):
    row(f"{name}: statistic", package, statistic, ours["statistic"], about=about)
    row(f"{name}: p-value", package, p_value(p), p_value(ours["p_value"]), about="dither's law includes the noise")


def tests(home, t):
    samples = [t["score"][t["arm"] == i] for i in range(3)]
    welch = anova_oneway(samples, use_var="unequal", welch_correction=True)  # scipy's f_oneway assumes equal variances
    ours = home.ask("test", "anova", "--table", "t", "--column", "score", "--by", "arm")
    test("ANOVA (Welch)", "statsmodels", welch.statistic, welch.pvalue, ours, "noise is in dither's variance")
    k = st.kruskal(*samples)
    test("Kruskal–Wallis", "scipy", k.statistic, k.pvalue,
         home.ask("test", "kruskal", "--table", "t", "--column", "score", "--by", "arm", "--bins", "20"),
         "20 bins: ties within a bin; noise is in dither's variance")
    ours = home.ask("test", "rank-correlation", "--table", "t", "--column", "score", "--by", "income")
    low, high = ours["interval"]["low"], ours["interval"]["high"]
    bins = [np.minimum(t[k] // w, 9) for k, w in (("score", 10), ("income", 20))]
    row("rank correlation", "scipy spearmanr", st.spearmanr(t["score"], t["income"]).statistic, ours["estimate"], low, high,
        "10 × 10 bins: ties within a bin")
    row("the same of the bins", "scipy spearmanr", st.spearmanr(*bins).statistic, ours["estimate"], low, high, "nothing")


def components(home, t):
    columns = ("age", "score", "income")
    values, vectors = np.linalg.eigh(np.corrcoef([t[c] for c in columns]))
    ours = {e["name"]: e for e in home.ask("estimate", "components", "--table", "t", "--column", ",".join(columns))["estimates"]}
    for k in range(3):
        e = ours[f"share of component {k + 1}"]
        row(f"share of component {k + 1}", "numpy eigh", values[2 - k] / 3, e["value"], e["low"], e["high"], "nothing")
    first = vectors[:, 2] * np.sign(vectors[np.argmax(np.abs(vectors[:, 2])), 2])
    for c, loading in zip(columns, first):
        e = ours[f"loading 1 of {c}"]
        row(f"loading 1 of {c}", "numpy eigh", loading, e["value"], e["low"], e["high"], "nothing: the largest loading is positive")


def rates(home, t):
    ours = home.ask("estimate", "rate", "--table", "t", "--event", "died", "--standardise", "age", "--by", "arm")["rates"]
    stratum = np.minimum((t["age"] - 20) // 7, 9)
    people = np.array([[np.sum((t["arm"] == g) & (stratum == j)) for j in range(10)] for g in range(3)])
    events = np.array([[np.sum((t["arm"] == g) & (stratum == j) & t["died"]) for j in range(10)] for g in range(3)])
    for r in ours:
        g = ARMS.index(r["group"])
        weight, standard = people.sum(0) / people.sum(), events.sum(0) / people.sum(0)
        for name, e, value in (
            ("direct rate", r["direct"], np.sum(weight * events[g] / people[g])),
            ("indirect ratio", r["ratio"], events[g].sum() / np.sum(people[g] * standard)),
        ):
            merged = f"merged into {len(e['strata'])} strata" if e.get("strata") else "nothing: ten strata of seven years"
            row(f"{name}, arm {r['group']}", "formula", value, e["value"], e["low"], e["high"], merged)


def clusters(home, v):
    fit = sm.OLS(v["y"], sm.add_constant(v["x"])).fit(cov_type="cluster", cov_kwds={"groups": v["person"]})
    ours = home.ask("fit", "linear", "--table", "v", "--cluster", "person", "--formula", "y ~ x")
    for c, value, error in zip(ours["coefficients"], fit.params, fit.bse):
        row(f"linear, {c['name']}", "statsmodels", value, c["estimate"], c["low"], c["high"], "nothing")
        row("its cluster-robust error", "statsmodels", error, c["std_error"], about="dither's includes the noise")


if __name__ == "__main__":
    main()
