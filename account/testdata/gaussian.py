"""Writes gaussian.tsv: the privacy curve of the Gaussian mechanism, Theorem 8 of Balle & Wang 2018 as it is printed there,
at 700 digits, and its inverses in epsilon and in sigma by bisection. Needs mpmath.

    python3 gaussian.py > gaussian.tsv
"""

from mpmath import mp, mpf, erfc, exp, sqrt

mp.dps = 700


def cdf(x):
    return erfc(-x / sqrt(mpf(2))) / 2


def delta(mu, eps):
    return cdf(mu / 2 - eps / mu) - exp(eps) * cdf(-mu / 2 - eps / mu)


def bisect(f, low, high):
    """Where f, which is true at low, turns false."""
    for _ in range(220):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) else (low, middle)
    return high


def show(*fields):
    print("\t".join(f if isinstance(f, str) else mp.nstr(f, 40, min_fixed=0, max_fixed=0) for f in fields))


for mu2 in "1e-12 0.0004 0.01 0.25 1 3 16 400 1e6".split():
    mu = sqrt(mpf(mu2))
    for eps in "0 1e-9 0.01 0.1 1 4.25 30 500".split():
        d = delta(mu, mpf(eps))
        if d > mpf(10) ** -500:
            show("delta", mu2, eps, d)
    for d in "1e-300 1e-30 1e-9 1e-5 0.01 0.3".split():
        if delta(mu, mpf(0)) > mpf(d):
            high = mu * mu / 2 + mu * sqrt(-2 * mp.log(mpf(d)))
            show("epsilon", mu2, d, bisect(lambda e: delta(mu, e) > mpf(d), mpf(0), high))
for eps in "0 0.001 0.1 1 10 1000".split():
    for d in "1e-200 1e-12 1e-6 1e-5 0.2".split():
        low, high = mpf(10) ** -5, mpf(10) ** (210 if eps == "0" else 7)
        s = bisect(lambda s: delta(1 / exp(s), mpf(eps)) > mpf(d), mp.log(low), mp.log(high))
        show("sigma2", eps, d, exp(2 * s))
