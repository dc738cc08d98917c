package synth_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"dither/internal/testhome"
	"dither/synth"
	"dither/synth/estimate"
)

// Several synthetic tables from one measurement, and a regression over them with its interval.
func ExampleResult_Draw() {
	var rows strings.Builder
	rows.WriteString("ward,nights\n")
	for i := range 4000 {
		fmt.Fprintf(&rows, "%s,%d\n", []string{"east", "west"}[i%2], i%2+i/2%4) // a night more in the west
	}
	c, done := testhome.Example(testhome.Files(`
version: 1
population: {name: clinic}
budget: {epsilon: 100}
tables:
  stays:
    source: {csv: stays.csv}
    unit: row
    columns:
      ward: {type: text, values: [east, west]}
      nights: {type: integer, bounds: [0, 4]}
`, map[string]string{"stays.csv": rows.String()}), "stays")
	defer done()
	ctx := context.Background()
	r, err := synth.Synthesize(ctx, c, synth.Request{Table: "stays", Epsilon: "1", Cliques: [][]string{{"ward", "nights"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	draws, err := r.Draw(ctx, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "draws")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	out := filepath.Join(dir, "stays.csv")
	if err := draws.Write(out, func(name string, write func(io.Writer) error) error {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		return write(f)
	}); err != nil {
		fmt.Println(err)
		return
	}
	tables, err := estimate.Read(synth.ManifestName(out))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := estimate.ParseStatistic(estimate.Linear, "nights ~ ward")
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := tables.Estimate(ctx, s, 0.999999)
	if err != nil {
		fmt.Println(err)
		return
	}
	west := e.Coefficients[1]
	fmt.Println(west.Name, "has an interval with 1:", west.Interval.Low < 1 && 1 < west.Interval.High)
	// Output: ward=west has an interval with 1: true
}
