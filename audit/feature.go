package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// feature is something about an output that an event can be about.
type feature struct {
	name string // "the output", "coordinate 3"
	of   func(*output) field
}

// How many features of one kind are looked at.
const (
	mostCoordinates = 24
	mostWords       = 4
	mostPatterns    = 8
	allPairs        = 6 // coordinates of which every two are compared; of more, neighbours
)

// sample is what was seen in some runs.
type sample [2][]output

// featuresOf finds what there is to look at in outputs like these.
func featuresOf(s sample) []feature {
	fewest, most, numbers := 1<<30, 0, false
	words := map[string]int{}
	for _, side := range s {
		for i := range side {
			o := &side[i]
			fewest, most = min(fewest, o.count), max(most, o.count)
			for _, f := range o.fields {
				if f.is == word {
					words[f.text]++
				} else {
					numbers = true
				}
			}
		}
	}
	if most <= 1 {
		return []feature{{"the output", whole}}
	}
	features := []feature{{"the output", func(o *output) field { return field{text: o.text, is: word} }}}
	if fewest < most {
		features = append(features, feature{"the number of fields", func(o *output) field { return numberField(float64(o.count)) }})
	}
	features = append(features, coordinates(s, min(most, mostFields))...)
	features = append(features, feature{"the place of the first coordinate unlike coordinate 1", func(o *output) field {
		return place(slices.IndexFunc(o.fields, func(f field) bool { return f.text != o.fields[0].text }))
	}})
	if numbers {
		features = append(features, overall...)
	}
	if len(words) > 0 {
		features = append(features, wordFeatures(s, words, numbers)...)
	}
	return features
}

// whole is an output of one field at most.
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

func coordinateName(i int) string { return fmt.Sprintf("coordinate %d", i+1) }

// coordinates are those of d coordinates that tell most by themselves, and the differences of pairs of them.
func coordinates(s sample, d int) []feature {
	chosen := make([]int, d)
	for i := range chosen {
		chosen[i] = i
	}
	if d > mostCoordinates {
		tells := make([]float64, d)
		for i := range tells {
			tells[i] = learnParts(feature{of: coordinate(i)}, s.part(2000)).tells()
		}
		slices.SortStableFunc(chosen, func(i, j int) int { return cmp.Compare(tells[j], tells[i]) })
		chosen = chosen[:mostCoordinates]
		slices.Sort(chosen)
	}
	var features []feature
	for _, i := range chosen {
		features = append(features, feature{coordinateName(i), coordinate(i)})
	}
	chosen = slices.DeleteFunc(chosen, func(i int) bool { return !numbered(s, i) })
	for a, i := range chosen {
		for b, j := range chosen[a+1:] {
			if d > allPairs && b > 0 {
				break
			}
			features = append(features, feature{fmt.Sprintf("coordinate %d − coordinate %d", i+1, j+1), func(o *output) field {
				x, y := coordinate(i)(o), coordinate(j)(o)
				if x.is != numeric || y.is != numeric {
					return field{}
				}
				return numberField(x.number - y.number)
			}})
		}
	}
	return features
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

// overall are the features of all numbers together.
var overall = []feature{
	{"the sum of the coordinates", func(o *output) field {
		sum := 0.0
		for _, f := range o.fields {
			sum += f.number
		}
		return numberField(sum)
	}},
	{"the largest coordinate", func(o *output) field { _, f := extreme(o, 1); return f }},
	{"the smallest coordinate", func(o *output) field { _, f := extreme(o, -1); return f }},
	{"the place of the largest coordinate", func(o *output) field { i, _ := extreme(o, 1); return place(i) }},
}

// place is the number of a coordinate, from 1.
func place(i int) field {
	if i < 0 {
		return field{text: "none", is: word}
	}
	return numberField(float64(i + 1))
}

// extreme is the largest number of an output, times a sign, and where it first stands.
func extreme(o *output, sign float64) (at int, best field) {
	at = -1
	for i, f := range o.fields {
		if f.is == numeric && (at < 0 || sign*f.number > sign*best.number) {
			at, best = i, field{number: f.number, is: numeric}
		}
	}
	return at, best
}

// wordFeatures are those of outputs in which some coordinates are words: how many, where each word first stands, which coordinates are
// words, and the numbers of outputs that agree in that.
func wordFeatures(s sample, words map[string]int, numbers bool) []feature {
	features := []feature{{"the number of fields that are no numbers", func(o *output) field {
		n := 0
		for _, f := range o.fields {
			if f.is == word {
				n++
			}
		}
		return numberField(float64(n))
	}}}
	for _, w := range frequent(words, mostWords) {
		features = append(features, feature{fmt.Sprintf("the number of fields that are %s", quote(w)), func(o *output) field {
			n := 0
			for _, f := range o.fields {
				if f.text == w {
					n++
				}
			}
			return numberField(float64(n))
		}}, feature{fmt.Sprintf("the place of the first %s", quote(w)), func(o *output) field {
			return place(slices.IndexFunc(o.fields, func(f field) bool { return f.text == w }))
		}})
	}
	if !numbers {
		return features
	}
	patterns := map[string]int{}
	for _, side := range s.part(5000) {
		for i := range side {
			patterns[pattern(&side[i])]++
		}
	}
	features = append(features, feature{"the output, with # for each number,", func(o *output) field { return field{text: pattern(o), is: word} }})
	likes := 0
	for _, p := range frequent(patterns, mostPatterns) {
		for i, w := range strings.Fields(p) {
			if w != "#" || likes == mostCoordinates {
				continue
			}
			likes++
			features = append(features, feature{fmt.Sprintf("the output is like %s and coordinate %d", quote(p), i+1), func(o *output) field {
				if i >= len(o.fields) || o.fields[i].is != numeric || pattern(o) != p {
					return field{}
				}
				return o.fields[i]
			}})
		}
	}
	return features
}

// pattern is an output with its numbers left out.
func pattern(o *output) string {
	var b strings.Builder
	for i, f := range o.fields {
		if i > 0 {
			b.WriteByte(' ')
		}
		if f.is == numeric {
			b.WriteByte('#')
		} else {
			b.WriteString(f.text)
		}
	}
	return b.String()
}

// frequent are the most frequent of some texts, at most so many.
func frequent(counts map[string]int, most int) []string {
	texts := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	return texts[:min(most, len(texts))]
}

// part is the first so many of each side.
func (s sample) part(n int) sample {
	return sample{s[0][:min(n, len(s[0]))], s[1][:min(n, len(s[1]))]}
}

// quote writes a token, a long one by its begin and its end.
func quote(text string) string {
	const most, end = 60, 15
	if r := []rune(text); len(r) > most {
		text = string(r[:most-end-1]) + "…" + string(r[len(r)-end:])
	}
	return strconv.Quote(text)
}
