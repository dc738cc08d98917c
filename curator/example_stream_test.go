package curator_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"dither/curator"
	"dither/privacy"
	"dither/strategy"
)

// A count for each week of a year, which one price pays for. The matrix has the least possible error of running totals.
func ExampleOwner_CreateStream() {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	dir, err := os.MkdirTemp("", "visits")
	must(err)
	defer func() { must(os.RemoveAll(dir)) }()
	rows := func(from, to int) string {
		var out strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&out, "%d,%d\n", i%500, i)
		}
		return out.String()
	}
	must(curator.Init(dir))
	must(os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(`
version: 1
population: {name: patients}
budget: {rho: 2, delta: 1e-6}
tables:
  visits:
    source: {csv: visits.csv}
    unit: patient
    rows_per_unit: 4
    columns: {patient: {type: integer}, visit: {type: integer}}
`), 0o600))
	file := filepath.Join(dir, "visits.csv")
	must(os.WriteFile(file, []byte("patient,visit\n"+rows(0, 600)), 0o600))
	owner, err := curator.Open(dir)
	must(err)
	defer func() { must(owner.Close()) }()
	ctx := context.Background()
	_, err = owner.Seal(ctx, "visits", curator.SealOptions{})
	must(err)

	totals, err := strategy.Totals(52)
	must(err)
	choice, err := strategy.Factorize(totals, strategy.Limits{Rows: 2, Neighbours: privacy.AddRemove})
	must(err)
	declared, err := owner.CreateStream(ctx, curator.StreamDeclaration{
		Name: "by_week", SQL: "SELECT COUNT(*) FROM visits", Every: "week", Periods: 52, Rows: 2, Key: []string{"visit"},
		Matrix: choice.Chosen.Matrix, Rho: "1",
	})
	must(err)
	fmt.Println("remaining for other questions:", declared.Remaining)
	fmt.Printf("the total of the year has a deviation of %.1f visits\n", declared.Expected[51].Total)

	// In the first week, 400 visits are new. The earlier ones do not count.
	must(os.WriteFile(file, []byte("patient,visit\n"+rows(0, 1000)), 0o600))
	_, err = owner.Seal(ctx, "visits", curator.SealOptions{})
	must(err)
	_, err = owner.AdvanceStream(ctx, "by_week", 0, curator.StreamOptions{})
	must(err)

	read, err := owner.ReadStream("by_week", curator.StreamOptions{})
	must(err)
	week := read.Cells[0]
	fmt.Println("the first week has 400 visits, up to 30:", math.Abs(week.Count.Value.Real-400) < 30)
	free, err := owner.Answer(ctx, curator.Question{SQL: "SELECT total FROM by_week WHERE period = 1"})
	must(err)
	fmt.Println("SQL reads it, and then remain", free.Remaining)
	// Output:
	// remaining for other questions: ρ = 1
	// the total of the year has a deviation of 2.9 visits
	// the first week has 400 visits, up to 30: true
	// SQL reads it, and then remain ρ = 1
}
