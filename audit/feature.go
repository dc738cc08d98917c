package audit

import (
	"cmp"
	"fmt"
	"slices"
)

// feature is a property of an output that an event can concern.
type feature struct {
	name string // "the output", "coordinate 3"
	is   aspect
	of   func(*output) field
}

// aspect is the kind of a feature.
type aspect byte

const (
	ofWhole      aspect = iota // the output itself
	ofCoordinate               // one of its fields, as it stands
	ofDifference               // of two coordinates
	ofText                     // a text that was made of the output
	ofFigure                   // a number, or a place, that was computed
)

// digits reports whether the digits of a feature are, nearly, those of a number that the mechanism returned.
func (f feature) digits() bool {
	return f.is == ofWhole || f.is == ofCoordinate || f.is == ofDifference
}

// The limits on features of one kind.
const (
	mostCoordinates = 24
	mostWords       = 4
	mostPatterns    = 8
	allPairs        = 6 // coordinates of which every two are compared; of more, neighbours
)

// sample is the observations of some runs.
type sample [2][]output

// part is the first n observations of each side.
func (s sample) part(n int) sample {
	return sample{s[0][:min(n, len(s[0]))], s[1][:min(n, len(s[1]))]}
}

// census describes the parts of outputs.
type census struct {
	fewest, most int // fields
	words        map[string]int
	numbers      bool // there are some
	beyond       bool // some have more fields than are kept
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

// featuresOf lists the features to examine for such outputs.
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

// whole reports an output with at most one field.
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

// coordinateFeature is the coordinate at i, which is called by its number from 1.
func coordinateFeature(i int) feature {
	return feature{fmt.Sprintf("coordinate %d", i+1), ofCoordinate, coordinate(i)}
}

// coordinates are the most informative of d coordinates, and the differences of pairs of them.
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

// numbered reports that a coordinate is a number somewhere.
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
