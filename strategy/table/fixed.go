package table

import "fmt"

// CheckFixed returns an error if declared totals contradict each other: if a node's total differs from the sum of its
// children's when all of these are declared or follow, or if counts are declared and the children's totals exceed their
// parent's. It reads no released number.
func CheckFixed(h *Hierarchy, fixed map[[2]int]int64, counts bool) error {
	type known struct {
		sum   int64
		whole bool // the total follows from declared totals
	}
	below := make([]known, h.Nodes(0))
	for l := range h.Levels {
		var above []known
		if h.Levels[l].Parent != nil {
			above = make([]known, h.Nodes(l+1))
			for i := range above {
				above[i].whole = true
			}
		}
		for i, k := range below {
			at := h.Levels[l].Name + " " + fmt.Sprintf("%q", h.Levels[l].Labels[i])
			if n, ok := fixed[[2]int{l, i}]; ok {
				switch {
				case n < 0 && counts:
					return fmt.Errorf("the declared total of %s is %d, but a count is not negative", at, n)
				case k.whole && n != k.sum:
					return fmt.Errorf("the declared total of %s is %d, but the totals declared for its parts add up to %d",
						at, n, k.sum)
				case counts && k.sum > n:
					return fmt.Errorf("the declared total of %s is %d, but the totals declared for some of its parts add up to %d",
						at, n, k.sum)
				}
				k = known{n, true}
			}
			if above != nil {
				up := &above[h.Levels[l].Parent[i]]
				up.sum += k.sum
				up.whole = up.whole && k.whole
			}
		}
		below = above
	}
	return nil
}
