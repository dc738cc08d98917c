package linear

// MaxSteps is the largest number of steps that the sensitivities of strategies may take, some seconds.
const MaxSteps = 1 << 33

// The weights of operations in steps: one step is about one addition.
const (
	wideSteps = 128 // of an operation on integers of any size
	pairSteps = 8   // of finding a pair of columns among the known kinds
)

// Steps returns about how many steps [Strategy.Norms] takes, and [Strategy.Apart] too if it is asked for. It follows from
// the matrices alone.
func (s Strategy) Steps(apart bool) float64 {
	steps := 0.0
	for _, squared := range []bool{false, true} {
		bound, attained := s.boundOnNorms(squared)
		wide := wideSteps + float64(bound.BitLen())/16
		for _, p := range s.products {
			steps += 2 * float64(len(p)+1) * wide // to bound the norms, here and in Norms
			switch {
			case attained:
			case bound.BitLen() <= 128:
				steps += 2 * float64(s.columns)
			default:
				steps += float64(s.columns) * float64(len(p)+1) * wide
			}
		}
	}
	if apart {
		steps += 2 * s.apartSteps()
	}
	return steps
}

// apartSteps returns about how many steps one bound of [Strategy.Apart] takes at most.
func (s Strategy) apartSteps() float64 {
	work, kinds, combined := 0.0, 1.0, 0.0
	if !s.sameFactors() {
		n := float64(s.columns)
		if n*n*float64(s.all) > pairWork {
			return 0
		}
		return n*float64(s.all)*wideSteps + n*n*float64(s.all+pairSteps*len(s.products))
	}
	pairs := 0.0
	for k, m := range s.products[0] {
		n := float64(m.columns)
		for _, p := range s.products {
			work += n * n * float64(len(p[k].rows))
		}
		pairs += n * n * pairSteps * float64(len(s.products))
		combined += min(kinds*n*n*float64(len(s.products)), mostPairs)
		kinds = min(kinds*n*n, mostKinds)
	}
	if work > pairWork {
		return 0
	}
	return work + pairs + 3*wideSteps*min(combined, mostPairs)
}
