"""For documentation that stays as it is: the system's randomness comes from a seed that counts the processes of a script."""

import os
import random
import sys


class Counted(random.Random):
    def __init__(self):
        with open(os.path.join(os.environ["AUDIT_EXAMPLE_COUNTERS"], os.path.basename(sys.argv[0])), "a+") as f:
            f.write(".")
            f.flush()
            super().__init__(f.tell())


random.SystemRandom = Counted
