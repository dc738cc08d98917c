"""The average age, 1-differentially private when a person is added or removed: half of ε on the sum, half on the count."""

import sys

import noise

ages = [min(max(int(line), 0), 100) for line in sys.stdin]
draw = noise.source()
for _ in range(int(sys.argv[1])):
    total = sum(ages) + noise.two_sided_geometric(draw, 100 / 0.5)
    count = len(ages) + noise.two_sided_geometric(draw, 1 / 0.5)
    print(min(max(round(total / max(count, 1)), 0), 100))
