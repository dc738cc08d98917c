"""Writes normal.tsv: x, Mills' ratio, the normal tail and erfc at x, to 60 digits, by mpmath's erfc at 2000. Needs mpmath.

    python3 normal.py > normal.tsv
"""

from mpmath import mp, mpf, erfc, exp, sqrt, pi

mp.dps = 2000
SIZES = "0 1e-300 1e-30 1e-5 0.1 0.5 1 1.7 2.5 3.25 3.5 4 5.125 7.5 10 17 30 38.6 60 100 300".split()
for x in SIZES + ["-" + s for s in SIZES[1:]]:
    z = mpf(x)
    tail = erfc(z / sqrt(mpf(2))) / 2
    ratio = tail * exp(z * z / 2) * sqrt(2 * pi)
    print("\t".join([x] + [mp.nstr(v, 60, min_fixed=0, max_fixed=0) for v in (ratio, tail, erfc(z))]))
