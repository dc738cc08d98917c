"""The average age, 1-differentially private when a person is added or removed: half of ε on the sum, half on the count."""

import math, random, sys

draw = random.SystemRandom()


def two_sided_geometric(scale):
    """An integer k with a probability proportional to exp(-|k| / scale)."""

    def geometric():
        return math.floor(-scale * math.log(1 - draw.random()))

    return geometric() - geometric()


ages = [min(max(int(line), 0), 100) for line in sys.stdin]
for _ in range(int(sys.argv[1])):
    total = sum(ages) + two_sided_geometric(100 / 0.5)
    count = len(ages) + two_sided_geometric(1 / 0.5)
    print(min(max(round(total / max(count, 1)), 0), 100))
