"""Writes zcdp.tsv: conversions between zCDP and (epsilon, delta), by minimising the theorem's bound over alpha as it is
printed in Canonne, Kamath & Steinke 2020, Corollary 13, at 200 digits. Needs mpmath.

    python3 zcdp.py > zcdp.tsv
"""

from mpmath import mp, mpf, log, exp, sqrt

mp.dps = 200
GOLDEN = (sqrt(mpf(5)) - 1) / 2


def minimum(f):
    """The least f(alpha), by golden section in ln(alpha − 1)."""
    a, b = mpf(-40), mpf(800)
    x, y = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    fx, fy = f(1 + exp(x)), f(1 + exp(y))
    for _ in range(190):
        if fx < fy:
            b, y, fy = y, x, fx
            x = b - GOLDEN * (b - a)
            fx = f(1 + exp(x))
        else:
            a, x, fx = x, y, fy
            y = a + GOLDEN * (b - a)
            fy = f(1 + exp(y))
    return min(fx, fy)


def ln_delta(rho, eps):
    return minimum(lambda a: (a - 1) * (a * rho - eps) - log(a - 1) + a * log(1 - 1 / a))


def epsilon(rho, delta):
    ln = log(delta)
    return max(mpf(0), minimum(lambda a: a * rho - (ln + log(a - 1) - a * log(1 - 1 / a)) / (a - 1)))


def show(*fields):
    print("\t".join(f if isinstance(f, str) else mp.nstr(f, 30) for f in fields))


DELTAS = ["1e-300", "1e-64", "1e-20", "1e-9", "1e-6", "1e-5", "0.01", "0.5", "0.999", "0.999999999"]
for rho in ["1e-30", "1e-18", "1e-9", "1e-4", "0.02", "0.1", "0.5", "1", "30", "1e3", "1e6"]:
    for delta in DELTAS:
        show("epsilon", rho, delta, epsilon(mpf(rho), mpf(delta)))
for rho in ["1e-30", "1e-12", "1e-6", "0.001", "0.1", "0.5", "3", "1e3", "1e6"]:
    for eps in ["0", "1e-14", "1e-5", "0.1", "1", "4.7", "40", "1100"]:
        show("lndelta", rho, eps, ln_delta(mpf(rho), mpf(eps)))
