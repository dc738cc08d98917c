"""The average age, said to be 1-differentially private when a person is added or removed. It is not.

One person moves an average of n ages of at most 100 by at most 100 / n, so the noise has the scale 100 / n.
But n is the number of people in this very data set: whoever looks at how wide the noise is learns it.
"""

import math, random, sys

draw = random.SystemRandom()


def laplace(scale):
    u = draw.random() - 0.5
    return -scale * math.copysign(math.log(1 - 2 * abs(u)), u)


ages = [min(max(float(line), 0), 100) for line in sys.stdin]
n = len(ages)
for _ in range(int(sys.argv[1])):
    print(f"{sum(ages) / n + laplace(100 / n):.1f}")
