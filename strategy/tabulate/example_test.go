package tabulate_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"dither/curator"
	"dither/strategy/tabulate"
)

// Counts by county, state and country, and by sex, whose totals agree.
func Example() {
	dir, err := os.MkdirTemp("", "dither-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	owner, err := town(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer owner.Close()

	spec := &tabulate.Spec{
		Rho:       "1",
		MarkBelow: 20,
		Hierarchies: []tabulate.Hierarchy{{
			Name: "place", Key: "county", Levels: []string{"county", "state"}, Total: "country",
			Paths: [][]string{{"c1", "north"}, {"c2", "north"}, {"c3", "south"}},
		}},
		Tables: []tabulate.Table{{
			Name: "residents", From: "people", Rows: []string{"county", "state", "country"}, Columns: []string{"sex"},
			Weight: big.NewRat(1, 1),
		}},
	}
	ctx, session := context.Background(), owner.Session()
	plan, err := tabulate.Explain(ctx, session, spec, "") // spends nothing, and reads no row
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range plan.Tables[0].Levels {
		fmt.Printf("%-8s %d cells, each ± %.1f\n", l.Level, l.Cells, l.Margin)
	}
	result, err := tabulate.Tabulate(ctx, session, spec, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	north := tabulate.CellName{Table: "residents", Level: "state", Place: "north", Values: []string{"f"}}
	country := tabulate.CellName{Table: "residents", Level: "country", Place: "country", Values: []string{"f"}}
	covariance, err := plan.Covariance(north, country)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("covariance of women in the north and in the country: %.2f\n", covariance)
	sums := map[string]*big.Rat{"county": {}, "state": {}, "country": {}}
	for _, cell := range result.Tables[0].Cells {
		sums[cell.Level].Add(sums[cell.Level], cell.Value)
	}
	fmt.Println("all totals agree:", sums["county"].Cmp(sums["state"]) == 0 && sums["state"].Cmp(sums["country"]) == 0)
	// Output:
	// county   6 cells, each ± 1.6
	// state    4 cells, each ± 1.6
	// country  2 cells, each ± 1.9
	// covariance of women in the north and in the country: 0.54
	// all totals agree: true
}

// town seals 300 made-up people in a folder.
func town(dir string) (*curator.Owner, error) {
	const policy = `
version: 1
population: {name: town}
budget: {rho: 2, delta: 1e-6}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      county: {type: text, values: [c1, c2, c3]}
      sex: {type: text, values: [f, m]}
`
	home := filepath.Join(dir, "home")
	err := errors.Join(
		curator.Init(home),
		os.WriteFile(filepath.Join(home, "policy.yaml"), []byte(policy), 0o600),
		os.WriteFile(filepath.Join(home, "people.csv"), []byte("county,sex\n"+strings.Repeat("c1,f\nc2,m\nc3,m\n", 100)), 0o600),
	)
	if err != nil {
		return nil, err
	}
	owner, err := curator.Open(home)
	if err != nil {
		return nil, err
	}
	_, err = owner.Seal(context.Background(), "people", curator.SealOptions{StateHome: dir})
	return owner, err
}
