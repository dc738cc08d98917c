"""Writes renyi.tsv: Renyi divergences by their definition, ln E_Q[(P/Q)^alpha] / (alpha-1), as sums over all outputs or by
numerical integration, and the curve of the discrete Gaussian as a sum of positive parts. Needs mpmath.

    python3 renyi.py > renyi.tsv
"""

from mpmath import mp, mpf, exp, log, quad, sqrt, pi, floor, findroot

mp.dps = 50


def show(*fields):
    print("\t".join(f if isinstance(f, str) else mp.nstr(f, 30, min_fixed=0, max_fixed=0) for f in fields), flush=True)


def ratio(pairs, alpha):
    return log(sum(p**alpha * q ** (1 - alpha) for p, q in pairs)) / (alpha - 1)


ORDERS = "1.0009765625 1.25 1.5 2 2.75 5 32 256.5".split()

for eps in "0.001 0.1 1 4 20".split():
    e = mpf(eps)
    for a in ORDERS:
        alpha = mpf(a)
        p = exp(e) / (1 + exp(e))
        show("pure", eps, a, ratio([(p, 1 - p), (1 - p, p)], alpha))
        for k in (3, 10):
            t = exp(e) / (exp(e) + k - 1)
            o = 1 / (exp(e) + k - 1)
            show("response%d" % k, eps, a, ratio([(t, o), (o, t)] + [(o, o)] * (k - 2), alpha))
        # Laplace noise of scale 1, shifted by e
        density = lambda x: exp(-abs(x)) / 2
        f = lambda x: exp(-alpha * abs(x - e) - (1 - alpha) * abs(x)) / 2
        show("laplace", eps, a, log(quad(f, [-60, -20, -5, 0, e / 2, e]) + quad(f, [e, e + 5, e + 20, e + 100])) / (alpha - 1))
        # the worst of the two-point distributions whose log-ratios are t and t-e
        def at(t):
            x = (exp(-t) - exp(-e)) / (1 - exp(-e))
            return ratio([(x * exp(t), x), ((1 - x) * exp(t - e), 1 - x)], alpha)
        low, high = e * mpf("1e-12"), e * (1 - mpf("1e-12"))
        for _ in range(130):
            third = (high - low) / 3
            low, high = (low + third, high) if at(low + third) < at(high - third) else (low, high - third)
        show("range", eps, a, at(low))

for scale, m in (("0.5", 1), ("3", 1), ("3", 7), ("40", 25)):
    for a in ORDERS:
        alpha, s = mpf(a), mpf(scale)
        mass = lambda x: exp(-abs(x) / s) * (1 - exp(-1 / s)) / (1 + exp(-1 / s))
        span = int(130 * s) + m
        show("dlaplace", "%s/%d" % (scale, m), a, ratio([(mass(x), mass(x - m)) for x in range(-span, span)], alpha))

for sigma2, m in (("0.01", 1), ("0.1", 1), ("0.25", 3), ("1", 1), ("2.25", 2), ("20", 1)):
    s2 = mpf(sigma2)
    f = lambda x: exp(-mpf(x) * x / (2 * s2))
    z = sum(f(x) for x in range(-400, 401))
    for a in ORDERS[1:]:
        alpha = mpf(a)
        centre = int(floor(alpha * m))
        total = sum(exp(-(alpha * mpf(x - m) ** 2 + (1 - alpha) * mpf(x) ** 2) / (2 * s2)) for x in range(centre - 200, centre + 201))
        show("dgaussian", "%s/%d" % (sigma2, m), a, log(total / z) / (alpha - 1))
    for eps in "0 0.1 1 3 20".split():
        d = sum(max(mpf(0), f(x) - exp(mpf(eps)) * f(x + m)) for x in range(-400, 401)) / z
        if d > mpf(10) ** -300:
            show("dgdelta", "%s/%d" % (sigma2, m), eps, d)

mp.dps = 30
for q, sigma in (("0.01", "2.5"), ("0.01", "0.5"), ("0.004", "1.1"), ("0.3", "4"), ("0.75", "1"), ("1e-6", "1"), ("0.5", "20")):
    Q, s = mpf(q), mpf(sigma)
    for a in "1.0009765625 1.25 1.5 2.5 4 10 33.25 64".split():
        alpha = mpf(a)
        def g(z):
            x = Q * (exp((2 * z - 1) / (2 * s * s)) - 1)
            # E[(1+x)^alpha - 1 - alpha x], as E[x] = 0, so that little is lost where q is small
            d = (1 + x) ** alpha - 1 - alpha * x if abs(x) > mpf("1e-4") else sum(
                mp.binomial(alpha, k) * x**k for k in range(2, 12))
            return exp(-z * z / (2 * s * s)) / (s * sqrt(2 * pi)) * d
        points = [i * s for i in range(-14, int(alpha / s**2 + alpha / s) + 40)]
        mean = alpha
        points = sorted(set([-14 * s + i * s for i in range(28)] + [mean + i * s for i in range(-14, 15)] + [s * s * log(1 / Q - 1) + mpf(1) / 2]))
        show("sampled", "%s/%s" % (q, sigma), a, mp.log1p(quad(g, points)) / (alpha - 1))
