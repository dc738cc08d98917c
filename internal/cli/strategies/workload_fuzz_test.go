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
			"levels":   func(text string) (strategy.Workload, error) { return levelsOf(strings.NewReader(text)) },
			"matrix":   func(text string) (strategy.Workload, error) { return matrixOf(strings.NewReader(text)) },
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
