package audit

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrIncomparable reports outputs that have nothing in common, so that no event can be learned from them.
var ErrIncomparable = errors.New("nothing to compare")

// comparable returns [ErrIncomparable] if almost no field of the outputs is a number, and almost no field or whole
// output occurs twice.
func comparable(s sample) error {
	s = s.part(5000)
	var counts []map[string]int // counts of each text, by coordinate
	all, numbers, n := map[string]int{}, 0, 0
	for _, side := range s {
		for i := range side {
			o := &side[i]
			n++
			all[o.text]++
			for c, f := range o.fields {
				if f.is == numeric {
					numbers++
				}
				if c == len(counts) {
					counts = append(counts, map[string]int{})
				}
				counts[c][f.text]++
			}
		}
	}
	if n == 0 || numbers > n/20 || len(all) < n*99/100 {
		return nil
	}
	for _, c := range counts {
		seen := 0
		for _, k := range c {
			seen += k
		}
		if seen > n/20 && len(c) < seen*99/100 {
			return nil
		}
	}
	return fmt.Errorf("%w: of %d outputs, %d are distinct, none is a number, and almost no field repeats; an "+
		"example is %s",
		ErrIncomparable, n, len(all), quote(s[0][0].text))
}

// notes returns warnings about unusual outputs.
func notes(s sample) []string {
	var out []string
	constant := true
	var first [2]string
	counts := map[int]int{}
	for side := range s {
		if len(s[side]) == 0 {
			return nil
		}
		first[side] = s[side][0].text
		for i := range s[side] {
			constant = constant && s[side][i].text == first[side]
			counts[s[side][i].count]++
		}
	}
	switch {
	case constant && first[0] == first[1]:
		out = append(
			out, fmt.Sprintf(
				"Every run on both datasets gave %s: the mechanism does not read its input, has no noise here, or has "+
					"a constant seed.",
				quote(first[0]),
			))
	case constant:
		out = append(
			out, fmt.Sprintf(
				"Every run on one dataset gave %s, and every run on the other gave %s: there is no noise, or its seed "+
					"is constant.",
				quote(first[0]),
				quote(first[1]),
			))
	}
	if fields := slices.Sorted(maps.Keys(counts)); len(fields) > 1 && fields[len(fields)-1] > 1 {
		out = append(
			out, fmt.Sprintf(
				"The number of fields in an output varies, from %d to %d. If this is unexpected, check how the "+
					"program writes its answers.",
				fields[0],
				fields[len(fields)-1],
			))
	}
	return out
}

// Limits of the description of grids. A grid is the set of multiples of a power of two.
const (
	leastInBinade = 30 // numbers of one magnitude that a side must have
	scanned       = 4  // coordinates that are described
	coarsest      = 1024
)

// support describes the grids on which each side's numbers lie. It also states how many numbers of one side lie off
// the other side's grid.
func support(features []feature, s sample) []string {
	var out []string
	told := 0
	for _, f := range features {
		if told == scanned {
			break
		}
		if f.is != ofWhole && f.is != ofCoordinate {
			continue
		}
		if text := gridsInWords(f, s); len(text) > 0 {
			out = append(out, text...)
			told++
		}
	}
	return out
}

// binade describes each side's numbers of one magnitude: how many there are, the lowest position of a last bit, and
// the counts of numbers by that position.
type binade struct {
	numbers [2]int
	finest  [2]int
	grids   [2]map[int]int
}

func gridsInWords(f feature, s sample) []string {
	binades := map[int]*binade{}
	numbers, mostPlaces := [2]int{}, [2]int{noDecimals, noDecimals}
	finest := [2]int{coarsest, coarsest}
	for side := range s {
		for i := range s[side] {
			x := f.of(&s[side][i])
			if x.is != numeric {
				continue
			}
			numbers[side]++
			if n, ok := decimals(x); ok {
				mostPlaces[side] = max(mostPlaces[side], n)
			}
			if x.number == 0 {
				continue
			}
			b := binades[magnitude(x.number)]
			if b == nil {
				b = &binade{finest: [2]int{coarsest, coarsest}, grids: [2]map[int]int{{}, {}}}
				binades[magnitude(x.number)] = b
			}
			g := granularity(x.number)
			b.numbers[side]++
			b.grids[side][g]++
			b.finest[side] = min(b.finest[side], g)
			finest[side] = min(finest[side], g)
		}
	}
	if numbers[0] == 0 || numbers[1] == 0 {
		return nil
	}
	out := []string{f.name + ": " + grid(Data, finest, mostPlaces) + "; " + grid(Neighbor, finest, mostPlaces) + "."}
	for side := Data; side <= Neighbor; side++ {
		off, worst, most := 0, 0, 0
		for size, b := range binades {
			if b.numbers[side.Other()] < leastInBinade {
				continue
			}
			here := 0
			for g, n := range b.grids[side] {
				if g < b.finest[side.Other()] {
					here += n
				}
			}
			off += here
			if here > most || here == most && size < worst {
				worst, most = size, here
			}
		}
		if off > 0 {
			out = append(
				out, fmt.Sprintf(
					"%s: %d of %d numbers of %s lie off the grid of %s's numbers of the same size. Most of them are "+
						"between %s and %s, where all numbers of %s are multiples of %s.",
					f.name,
					off,
					numbers[side],
					side,
					side.Other(),
					powerOf(2, worst-1),
					powerOf(2, worst),
					side.Other(),
					powerOf(2, binades[worst].finest[side.Other()]),
				))
		}
	}
	return out
}

// grid describes the grid of one side's numbers.
func grid(side Side, finest, places [2]int) string {
	n := places[side]
	switch {
	case n == noDecimals:
		return fmt.Sprintf("all numbers of %s are 0", side)
	case n <= 12:
		return fmt.Sprintf("all numbers of %s are multiples of %s", side, powerOf(10, -n))
	}
	return fmt.Sprintf("all numbers of %s are multiples of %s", side, powerOf(2, finest[side]))
}

// shown returns the histogram of the first finding's feature. If nothing was found, it returns that of the whole
// output.
func shown(found []Finding, features []feature, s sample) Histogram {
	const bins, parts = 16, 24
	f := features[0]
	if len(found) > 0 && found[0].event.feature.of != nil {
		f = found[0].event.feature
	}
	return cutInto(bins, f, s).histogram(parts)
}
