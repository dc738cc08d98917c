package audit

import (
	"cmp"
	"fmt"
	"slices"
)

// feature is a property of an output, for example its third field. An event is a set of outputs with certain values
// of a feature.
type feature struct {
	name string // for example "the output" or "coordinate 3"
	is   aspect
	of   func(*output) field
}

// aspect is the kind of a feature.
type aspect byte

const (
	ofWhole      aspect = iota // the whole output
	ofCoordinate               // one field of the output, unchanged
	ofDifference               // the difference of two coordinates
	ofText                     // a text computed from the output
	ofFigure                   // a computed number or position
)

// digits reports whether the digits of a feature are, up to rounding, the digits of numbers that the mechanism
// returned.
func (f feature) digits() bool {
	return f.is == ofWhole || f.is == ofCoordinate || f.is == ofDifference
}

// The limits on the number of features of one kind.
const (
	mostCoordinates = 24
	mostWords       = 4
	mostPatterns    = 8
	allPairs        = 6 // up to this many coordinates, every two are compared; beyond it, only successive ones
)

// sample holds the parsed outputs of some runs, by side.
type sample [2][]output

// part returns the first n outputs of each side, or all of them if there are fewer.
func (s sample) part(n int) sample {
	return sample{s[0][:min(n, len(s[0]))], s[1][:min(n, len(s[1]))]}
}

// census describes the fields of a sample's outputs.
type census struct {
	fewest, most int // the smallest and the largest number of fields in an output
	words        map[string]int
	numbers      bool // whether any field is a number
	beyond       bool // whether any output has more than mostFields fields
}

func censusOf(s sample) census {
	c := census{fewest: 1 << 30, words: map[string]int{}}
	for _, side := range s {
		for i := range side {
			o := &side[i]
			c.fewest, c.most = min(c.fewest, o.count), max(c.most, o.count)
			c.beyond = c.beyond || o.count > mostFields
			for _, f := range o.fields {
				if f.is == word {
					c.words[f.text]++
				} else {
					c.numbers = true
				}
			}
		}
	}
	return c
}

// featuresOf lists the features to examine for the outputs in s.
func featuresOf(s sample) []feature {
	c := censusOf(s)
	if c.most <= 1 {
		return append([]feature{{"the output", ofWhole, whole}}, shapes...)
	}
	features := []feature{{"the output", ofWhole, func(o *output) field { return field{text: o.text, is: word} }}}
	if c.fewest < c.most {
		features = append(features,
			feature{"the number of fields", ofFigure, func(o *output) field { return numberField(float64(o.count)) }})
	}
	features = append(features, coordinates(s, min(c.most, mostFields))...)
	features = append(features, firstUnlike, distinct)
	if c.numbers {
		features = append(features, overall...)
	}
	if c.numbers && c.most <= mostSigns {
		features = append(features, signs)
	}
	if len(c.words) > 0 {
		features = append(features, wordFeatures(s, c)...)
	}
	if c.beyond {
		features = append(features, beyond)
	}
	return append(features, shapes...)
}

// whole returns the whole output as one field: as a number if the output is a single number.
func whole(o *output) field {
	if o.count == 1 {
		return field{o.text, o.fields[0].number, o.fields[0].is}
	}
	return field{text: o.text, is: word}
}

func coordinate(i int) func(*output) field {
	return func(o *output) field {
		if i < len(o.fields) {
			return o.fields[i]
		}
		return field{}
	}
}

// coordinateFeature returns the feature for the field with index i. Names of coordinates count from 1.
func coordinateFeature(i int) feature {
	return feature{fmt.Sprintf("coordinate %d", i+1), ofCoordinate, coordinate(i)}
}

// coordinates returns features for the most informative of the first d fields of outputs, and for differences
// between pairs of these fields. It chooses at most mostCoordinates fields.
func coordinates(s sample, d int) []feature {
	chosen := make([]int, d)
	for i := range chosen {
		chosen[i] = i
	}
	if d > mostCoordinates {
		tells := make([]float64, d)
		for i := range tells {
			tells[i] = learnParts(coordinateFeature(i), s.part(2000)).tells()
		}
		slices.SortStableFunc(chosen, func(i, j int) int { return cmp.Compare(tells[j], tells[i]) })
		chosen = chosen[:mostCoordinates]
		slices.Sort(chosen)
	}
	var features []feature
	for _, i := range chosen {
		features = append(features, coordinateFeature(i))
	}
	chosen = slices.DeleteFunc(chosen, func(i int) bool { return !numbered(s, i) })
	for a, i := range chosen {
		for b, j := range chosen[a+1:] {
			if d > allPairs && b > 0 {
				break
			}
			features = append(features, difference(i, j))
		}
	}
	return features
}

func difference(i, j int) feature {
	return feature{fmt.Sprintf("coordinate %d − coordinate %d", i+1, j+1), ofDifference, func(o *output) field {
		x, y := coordinate(i)(o), coordinate(j)(o)
		if x.is != numeric || y.is != numeric {
			return field{is: outside}
		}
		return numberField(x.number - y.number)
	}}
}

// numbered reports whether field i is a number in any output of s.
func numbered(s sample, i int) bool {
	for _, side := range s {
		for j := range side {
			if coordinate(i)(&side[j]).is == numeric {
				return true
			}
		}
	}
	return false
}
