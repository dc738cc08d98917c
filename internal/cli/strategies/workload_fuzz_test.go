package strategies

import (
	"strings"
	"testing"

	"dither/strategy"
	"dither/strategy/product"
)

// Texts of flags and matrices give a workload within the limits, or an error.
func FuzzWorkload(f *testing.F) {
	for _, text := range []string{
		"365", "365*2", "0", "-1", "9999999999999999999", "365:7", "7:365", "365:7*1e-3", "1:1*NaN", "1*Inf", "*", ":", "1,2\n3,4",
		"1\n1,2", "prefixes:3,values:4*2", "total:9,windows:5:2", "a,b\n1,2\n3,2", "values:1048577", "levels:", "ranges:3*2,total:1", "\"", "1e999", "0,0", "NaN",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, parse := range map[string]func(string) (strategy.Workload, error){
			"prefixes": func(text string) (strategy.Workload, error) { return counted(text, strategy.Prefixes) },
			"ranges":   func(text string) (strategy.Workload, error) { return counted(text, strategy.Ranges) },
			"windows":  windows,
			"levels": func(text string) (strategy.Workload, error) {
				p, err := placesOf(strings.NewReader(text))
				if err != nil {
					return strategy.Workload{}, err
				}
				return strategy.Levels(p.paths)
			},
			"matrix": func(text string) (strategy.Workload, error) { return matrixOf(strings.NewReader(text)) },
		} {
			w, err := parse(text)
			if err == nil && (w.Cells() < 1 || w.Cells() > strategy.MaxCells || w.Queries() < 1) {
				t.Errorf("%s: %q gives %d cells and %d queries", name, text, w.Cells(), w.Queries())
			}
			if err != nil && words(err) == "" {
				t.Errorf("%s: %q gives an error without words", name, text)
			}
		}
		if strings.Contains(text, "levels:") || strings.Contains(text, "matrix:") {
			return // no files
		}
		term, err := cross(text)
		if err != nil {
			return
		}
		w, err := product.NewWorkload(term)
		if err == nil && (w.Cells() < 1 || w.Queries() < 1) {
			t.Errorf("cross: %q gives %v cells and %v queries", text, w.Cells(), w.Queries())
		}
	})
}

// Texts of --marginals and --ways give a domain and a workload within their limits, or an error in words.
func FuzzMarginals(f *testing.F) {
	for _, text := range []string{
		"age:10,sex:2", "age:10:ranges", "age:256:prefixes, sex:2", "age", "age:", ":10", "age:0", "age:-1", "age:ten", "a:1,a:1",
		"age:10:values:", "age:10:sums", "age:9999999999999999999", "a:2,,b:2", ",", "1", "1,2", "1*10,2", "1*NaN", "1*Inf", "1*", "1,1",
	} {
		f.Add(text, "1,2")
		f.Add("age:10,sex:2", text)
	}
	f.Fuzz(func(t *testing.T, attributes, ways string) {
		d, err := domain(attributes)
		if err != nil {
			if words(err) == "" {
				t.Errorf("%q gives an error without words", attributes)
			}
			return
		}
		list, err := waysOf(ways, len(d.Attributes()))
		if err != nil {
			if words(err) == "" {
				t.Errorf("%q gives an error without words", ways)
			}
			return
		}
		w, err := d.WeightedWays(list...)
		if err == nil && (w.Count() < 1 || w.Answers() < 1) {
			t.Errorf("%q with %q gives %v marginals with %v answers", attributes, ways, w.Count(), w.Answers())
		}
		if err != nil && words(err) == "" {
			t.Errorf("%q with %q gives an error without words", attributes, ways)
		}
	})
}
