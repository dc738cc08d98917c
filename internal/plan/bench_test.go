package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"dither/internal/plan"
)

// BenchmarkBuild plans a few questions: of one number, of a hundred averages, and of quantiles and found bounds.
func BenchmarkBuild(b *testing.B) {
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf("AVG(days + %d)", i))
	}
	for _, of := range [][2]string{
		{"count", "SELECT COUNT(*) FROM visits"},
		{"wide", "SELECT " + strings.Join(many, ", ") + " FROM visits"},
		{"bounds", "SELECT SUM(days, bounds => auto), AVG(days), VARIANCE(days), MEDIAN(days) FROM visits WHERE days > 1"},
	} {
		b.Run(of[0], func(b *testing.B) {
			p := townPolicy(b, "add-remove")
			for b.Loop() {
				if _, err := plan.Build(p, plan.Request{SQL: of[1]}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
