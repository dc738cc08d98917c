package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// wordFeatures returns the features of outputs in which some coordinates are words:
//
//   - how many fields are words, and how many are each of the most frequent words;
//   - the position of the first occurrence of each of those words;
//   - the pattern of words and numbers in the output;
//   - each number in the outputs that share one of the most frequent patterns.
func wordFeatures(s sample, c census) []feature {
	features := []feature{{
		"the number of fields that are no numbers", ofFigure,
		counted(func(f field) bool { return f.is == word }),
	}}
	for _, w := range frequent(c.words, mostWords) {
		is := func(f field) bool { return f.text == w }
		features = append(features,
			feature{fmt.Sprintf("the number of fields that are %s", quote(w)), ofFigure, counted(is)},
			feature{
				fmt.Sprintf("the place of the first %s", quote(w)), ofFigure,
				func(o *output) field { return place(slices.IndexFunc(o.fields, is)) },
			})
	}
	if !c.numbers {
		return features
	}
	patterns, like := map[string]int{}, map[string]*output{}
	for _, side := range s.part(5000) {
		for i := range side {
			p := pattern(&side[i])
			patterns[p]++
			like[p] = &side[i]
		}
	}
	features = append(features,
		feature{
			"the output, with # for each number,", ofText,
			func(o *output) field { return field{text: pattern(o), is: word} },
		})
	likes := 0
	for _, p := range frequent(patterns, mostPatterns) {
		for i, f := range like[p].fields {
			if f.is == numeric && likes < mostCoordinates {
				likes++
				features = append(features, likeness(p, i))
			}
		}
	}
	return features
}

// counted returns a function that counts the fields f of an output for which is(f) is true.
func counted(is func(field) bool) func(*output) field {
	return func(o *output) field {
		n := 0
		for _, f := range o.fields {
			if is(f) {
				n++
			}
		}
		return numberField(float64(n))
	}
}

// likeness returns a feature: the number with index i, in outputs with pattern p. For all other outputs the feature
// is undefined.
func likeness(p string, i int) feature {
	return feature{
		fmt.Sprintf("the output is like %s and coordinate %d", quote(p), i+1), ofFigure,
		func(o *output) field {
			if i >= len(o.fields) || o.fields[i].is != numeric || pattern(o) != p {
				return field{is: outside}
			}
			return o.fields[i]
		},
	}
}

// pattern returns the output with # in place of each number. A word that begins with # or \ gets a \ before it.
func pattern(o *output) string {
	var b strings.Builder
	for i, f := range o.fields {
		if i > 0 {
			b.WriteByte(' ')
		}
		if f.is == numeric {
			b.WriteByte('#')
			continue
		}
		if f.text[0] == '#' || f.text[0] == '\\' {
			b.WriteByte('\\')
		}
		b.WriteString(f.text)
	}
	return b.String()
}

// frequent returns the keys with the highest counts, in falling order: at most the given number of them.
func frequent(counts map[string]int, most int) []string {
	texts := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	return texts[:min(most, len(texts))]
}
