"""Noise for the two examples: fresh from the system, or, for a documentation that stays as it is, from a counted seed."""

import math
import os
import random


def source():
    counter = os.environ.get("AUDIT_EXAMPLE_COUNTER")  # a file: each process takes the next number as its seed
    if counter is None:
        return random.SystemRandom()
    with open(counter, "a+") as f:
        f.write(".")
        f.flush()
        return random.Random(f.tell())


def laplace(draw, scale):
    u = draw.random() - 0.5
    return -scale * math.copysign(math.log(1 - 2 * abs(u)), u)


def two_sided_geometric(draw, scale):
    """An integer k with probability proportional to exp(-|k| / scale)."""

    def geometric():
        return math.floor(-scale * math.log(1 - draw.random()))

    return geometric() - geometric()
