"""The average age, said to be 1-differentially private when a person is added or removed. It is not.

One person moves an average of n ages of at most 100 by at most 100 / n, so the noise has scale 100 / n. But n is the number of people
in this very data set: whoever looks at how wide the noise is learns it.
"""

import sys

import noise

ages = [min(max(float(line), 0), 100) for line in sys.stdin]
n = len(ages)
draw = noise.source()
for _ in range(int(sys.argv[1])):
    print(f"{sum(ages) / n + noise.laplace(draw, 100 / n):.1f}")
