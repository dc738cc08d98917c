package tabulate_test

import (
	"bufio"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dither/internal/testhome"
	"dither/strategy/tabulate"
)

// TestCountyToCountry tabulates counties in states in divisions in the country by three classifications, and compares
// all totals over levels. The long form has 3,000 counties, 50 states and 10 million rows, and logs the running time.
func TestCountyToCountry(t *testing.T) {
	counties, rows := 100, 20_000
	if os.Getenv("DITHER_LONG") != "" {
		counties, rows = 3000, 10_000_000
	}
	dir := t.TempDir()
	var places []string
	for i := range counties {
		places = append(places, fmt.Sprintf("%d,s%d,d%d", i, i*50/counties, i*50/counties/6))
	}
	policy := `
version: 1
population: {name: country}
budget: {rho: 1, delta: 1e-9}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      county: {type: integer, bounds: [0, ` + fmt.Sprint(counties-1) + `]}
      sex: {type: text, values: [f, m]}
      age: {type: integer, bounds: [0, 3]}
      tenure: {type: text, values: [own, rent, other]}
`
	err := errors.Join(
		os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(policy), 0o600),
		os.WriteFile(filepath.Join(dir, "places.csv"), []byte("county,state,division\n"+strings.Join(places, "\n")), 0o600),
		people(filepath.Join(dir, "people.csv"), counties, rows),
		os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte(`
version: 1
price: {rho: 0.5}
hierarchies:
  place: {key: county, file: places.csv, levels: [county, state, division], total: country}
tables:
  - {name: full, from: people, rows: [county, state, division, country], columns: [sex, age, tenure]}
  - {name: sexes, from: people, rows: [county, state, division, country], columns: [sex]}
  - {name: residents, from: people, rows: [county, state, division, country]}
`), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	owner, _ := testhome.Opened(t, os.DirFS(dir), "people")
	s, err := tabulate.Load(filepath.Join(dir, "spec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	r, err := tabulate.Tabulate(t.Context(), owner.Session(), s, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows: tabulated in %s", rows, time.Since(before).Round(time.Millisecond))
	for _, g := range r.Plan.Groups {
		t.Logf("chosen: %s; bound %g; %v", g.Chosen, g.Bound, g.Candidates)
	}
	total := r.Tables[2].Cells[len(r.Tables[2].Cells)-1].Value
	for i := range r.Tables {
		sums := map[string]*big.Rat{}
		for _, c := range r.Tables[i].Cells {
			if sums[c.Level] == nil {
				sums[c.Level] = new(big.Rat)
			}
			sums[c.Level].Add(sums[c.Level], c.Value)
		}
		if len(sums) != 4 {
			t.Errorf("table %d has %d levels", i, len(sums))
		}
		for level, sum := range sums {
			if sum.Cmp(total) != 0 {
				t.Errorf("table %d, level %s: the cells add up to %s, and the country has %s", i, level, sum, total)
			}
		}
	}
}

// people writes made-up rows.
func people(file string, counties, rows int) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "county,sex,age,tenure")
	state := uint64(1)
	for range rows {
		state = state*6364136223846793005 + 1442695040888963407
		x := state >> 33
		// smaller numbers are more frequent counties
		county := x % uint64(counties) * (x / 7919 % uint64(counties)) / uint64(counties)
		fmt.Fprintf(w, "%d,%s,%d,%s\n", county, []string{"f", "m"}[x/3%2], x/11%4, []string{"own", "rent", "other"}[x/101%3])
	}
	return w.Flush()
}
