package bounds

import (
	"math"
	"slices"
	"strconv"
)

// kind is the kind of values that a histogram is about. It decides which edges are possible.
type kind int

const (
	reals kind = iota
	integers
	days    // dates, as days since 1970-01-01
	moments // timestamps, as microseconds since then
)

// whole reports whether values of the kind are integers.
func (k kind) whole() bool { return k != reals }

// calendar reports whether values of the kind are dates or timestamps, for which 0 is a day like any other.
func (k kind) calendar() bool { return k == days || k == moments }

// The most edges of a histogram. A question takes about seven tokens for each, and has at most 2,048.
const mostEdges = 250

// The ranges of the first histogram of a column: all that a policy can declare.
const (
	largestExponent  = 100 // of reals: 2^100, the largest bound
	smallestExponent = -58 // 2^-58: questions take no smaller constants
	largestInteger   = 62
	firstDay         = -719162 // 0001-01-01
	lastDay          = 2932896 // 9999-12-31
	dayLength        = 86_400_000_000
)

// firstEdges returns the public edges of the first histogram of a column, which shows the magnitude of its values.
func (k kind) firstEdges() (out []float64) {
	add := func(x float64) { out = append(out, -x, x) }
	switch k {
	case reals:
		for e := smallestExponent; e <= largestExponent; e += 2 {
			add(math.Ldexp(1, e))
		}
		out = append(out, 0)
	case integers:
		for e := 0; e <= largestInteger; e++ {
			add(math.Ldexp(1, e))
		}
		out = append(out, 0)
	case days:
		return linear(firstDay, lastDay, 128, k)
	case moments:
		return linear(firstDay*dayLength, lastDay*dayLength, 128, k)
	}
	slices.Sort(out)
	return out
}

// linear returns edges that divide a range into n equal parts, or into fewer if that would divide an integer.
func linear(low, high float64, n int, k kind) (out []float64) {
	for i := range n + 1 {
		out = append(out, low+(high-low)*float64(i)/float64(n))
	}
	return k.settled(out)
}

// settled sorts edges, rounds them to possible values, and removes repeated ones.
func (k kind) settled(edges []float64) []float64 {
	for i, e := range edges {
		if k.whole() {
			edges[i] = math.Round(e)
		}
	}
	slices.Sort(edges)
	return slices.Compact(edges)
}

// rounded returns a number near x with few digits, whose distance from x is at most a fourth of the step.
func rounded(x, step float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(step/2)))
	if unit >= 1 {
		x = math.Round(x/unit) * unit
	} else {
		x = math.Round(x*math.Round(1/unit)) / math.Round(1/unit)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64) // a product may have further digits
	if err != nil {
		return x
	}
	return short
}

// fineEdges returns the edges of the last histogram of a column: around a centre, at distances that grow
// geometrically, from a small part of the visible range on to far beyond its ends, low and high. Both ends of rare
// values are then in narrow bins, wherever they are. If far is true, the centre is 0 and values may have any smaller
// magnitude too. The edges also has are further ones.
func (k kind) fineEdges(low, high, centre float64, far bool, also []float64) []float64 {
	out := append([]float64{centre}, also...)
	least := math.Max(high-centre, centre-low) / 32
	if far {
		least /= 8
	}
	up, down := high-centre, centre-low
	n := float64(mostEdges - 2*len(also) - 1)
	if up <= 0 || down <= 0 {
		n -= 6 // the side without values has some edges, to show that
	} else {
		n /= 2
	}
	for _, side := range []struct{ sign, reach float64 }{{1, up}, {-1, down}} {
		if side.reach <= 0 {
			for d := range 6 {
				out = append(out, centre+side.sign*rounded(least*math.Pow(4, float64(d)), least))
			}
			continue
		}
		most := side.reach * 64
		ratio := math.Max(math.Pow(most/least, 1/n), 1.05)
		for d := least; d <= most; d *= ratio {
			out = append(out, rounded(centre+side.sign*d, d*(ratio-1)))
		}
	}
	out = k.settled(out)
	return slices.DeleteFunc(out, func(x float64) bool { return !k.possible(x) })
}

// possible reports whether a column of the kind may have x as a bound.
func (k kind) possible(x float64) bool {
	switch k {
	case integers:
		return math.Abs(x) <= math.Ldexp(1, largestInteger)
	case days:
		return firstDay <= x && x <= lastDay
	case moments:
		return firstDay*dayLength <= x && x < (lastDay+1)*dayLength
	}
	return x == 0 || math.Abs(x) >= math.Ldexp(1, smallestExponent) && math.Abs(x) <= math.Ldexp(1, largestExponent)
}
