package audit

import "math"

// fewDecimals is the largest number of decimal places at which a feature's numbers count as rounded in decimal. The
// lowest bits of such numbers carry no further information.
const fewDecimals = 9

// grids returns candidate scores that look at the lowest bits and digits of a feature.
func grids(f feature, s sample) []candidate {
	most := 0
	for side := range s {
		for i := range s[side] {
			if n, ok := decimals(f.of(&s[side][i])); ok {
				most = max(most, n)
			}
		}
	}
	var out []candidate
	if most <= 0 || most > fewDecimals {
		out = lowBitsOf(f, s)
	}
	out = append(out, candidate{places{f}, f, 0, 0.01})
	for side := range s {
		if r, ok := residueOf(f, s[side]); ok {
			out = append(out, candidate{r, f, 0, 0.01})
		}
	}
	return out
}

// lowBitsOf returns, for each side, the [lowBits] score that best shows that side in the sample. It tries every
// division of the numbers by size and by the position of the lowest bit, into four quarters.
func lowBitsOf(f feature, s sample) []candidate {
	low, high, fine, coarse := mostSize, leastSize, mostSize, leastGrid // the ranges of sizes and grids in the sample
	each := func(see func(side, size, grid int)) {
		for side := range s {
			for i := range s[side] {
				if x := f.of(&s[side][i]); x.is == numeric {
					size, grid := granule(x.number)
					see(side, size, grid)
				}
			}
		}
	}
	each(func(_, size, grid int) {
		low, high, fine, coarse = min(low, size), max(high, size), min(fine, grid), max(coarse, grid)
	})
	if low > high {
		return nil
	}
	width, depth := high-low+2, coarse-fine+2
	// at (e, g): the numbers of each side with a size index of at most e and a grid index of at most g
	sums := make([][2]int, width*depth)
	at := func(e, g int) *[2]int { return &sums[e*depth+g] }
	each(func(side, size, grid int) { at(size-low+1, grid-fine+1)[side]++ })
	for e := 1; e < width; e++ {
		for g := 1; g < depth; g++ {
			for side := range s {
				at(e, g)[side] += at(e-1, g)[side] + at(e, g-1)[side] - at(e-1, g-1)[side]
			}
		}
	}
	all := *at(width-1, depth-1)
	var best [2]candidate
	value := [2]float64{math.Inf(-1), math.Inf(-1)}
	for e := 1; e < width; e++ {
		for g := 1; g < depth && g+fine <= mostSize; g++ {
			for quarter := range 4 {
				b := lowBits{f, quarter&1 == 0, g + fine, quarter&2 == 0, e - 1 + low}
				if b.small && e == width-1 {
					b.size = mostSize // include larger numbers in later runs
				}
				var counts [2]int
				for side := range counts {
					below, under, both := at(width-1, g)[side], at(e, depth-1)[side], at(e, g)[side]
					switch {
					case b.fine && b.small:
						counts[side] = both
					case b.fine:
						counts[side] = below - both
					case b.small:
						counts[side] = under - both
					default:
						counts[side] = all[side] - below - under + both
					}
				}
				for side := range best {
					k, j := float64(counts[side]), float64(counts[1-side])
					v := (k - 2*math.Sqrt(k)) / (j + 2*math.Sqrt(j) + 8) * float64(all[1-side]+1) / float64(all[side]+1)
					if v > value[side] {
						value[side], best[side] = v, candidate{b, f, 0, 0.02}
					}
				}
			}
		}
	}
	var out []candidate
	for side := range best {
		if value[side] > 0 {
			out = append(out, best[side])
		}
	}
	return out
}

// residueOf learns from at most stepRuns numbers. It finds no step if one of them has more than mostDecimals
// decimal places.
const (
	stepRuns     = 2000
	mostDecimals = 6
)

// residueOf finds the step of one side's numbers: the largest step such that all differences between the numbers
// are its multiples. It returns false if the step is just the last decimal place, if there are too few numbers, or
// if a number has too many decimal places.
func residueOf(f feature, of []output) (residue, bool) {
	r := residue{feature: f}
	var numbers []field
	for i := range of[:min(stepRuns, len(of))] {
		x := f.of(&of[i])
		if x.is != numeric {
			continue
		}
		n, ok := decimals(x)
		if n > mostDecimals || !ok {
			return r, false
		}
		r.decimals = max(r.decimals, n)
		numbers = append(numbers, x)
	}
	if len(numbers) < 30 {
		return r, false
	}
	var first, step float64
	for i, x := range numbers {
		n, ok := scaled(x, r.decimals)
		if !ok {
			return r, false
		}
		if i == 0 {
			first = n
			continue
		}
		step = gcd(step, math.Abs(n-first))
	}
	if step <= 1 {
		return r, false
	}
	r.step, r.rest = step, modulo(first, step)
	return r, true
}

// gcd returns the greatest common divisor of integers below 2^53.
func gcd(a, b float64) float64 {
	for b != 0 {
		a, b = b, math.Mod(a, b)
	}
	return a
}
