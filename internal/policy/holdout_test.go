package policy

import (
	"strings"
	"testing"
)

const withHoldout = `
version: 1
population: {name: people, neighbours: add-remove}
budget: BUDGET
price: {maximum: 0.5}
tables:
  t:
    source: SOURCE
    unit: id
    rows_per_unit: 1
    columns:
      id: {type: integer}
      held: {type: boolean, HELD}
`

// The owner names a price for the holdout, in the unit of prices. It has a part in the digest, and a policy without it has the
// digest that it always had.
func TestHoldoutPrice(t *testing.T) {
	decoded := func(budget, source, held string) (*Policy, error) {
		return Decode([]byte(strings.NewReplacer("BUDGET", budget, "SOURCE", source, "HELD", held).Replace(withHoldout)), "")
	}
	const pure, zcdp = "{epsilon: 1}", "{epsilon: 6, delta: 1e-6}"
	const csv, server = "{csv: t.csv}", "{postgres: {service: town}, table: t}"
	digests := map[string]bool{}
	for _, c := range []struct{ budget, source, held, want string }{
		{pure, csv, "holdout: 20%", "ε = 0"},
		{pure, csv, "holdout: 20%, holdout_price: 0.2", "ε = 0.2"},
		{pure, csv, "holdout: 20%, holdout_price: 40%", "ε = 0.4"},
		{zcdp, "{parquet: t.parquet}", "holdout: 20%, holdout_price: 0.1", "ρ = 0.005"},
		{zcdp, "{duckdb: t.duckdb, table: t}", "holdout: 20%, holdout_price: {rho: 0.001}", "ρ = 0.001"},
	} {
		p, err := decoded(c.budget, c.source, c.held)
		if err != nil {
			t.Errorf("%s: %v", c.held, err)
			continue
		}
		if got := p.Table("t").Column("held").HoldoutPrice.String(); got != c.want {
			t.Errorf("%s: %s instead of %s", c.held, got, c.want)
		}
		digests[p.Digest()] = true
	}
	if len(digests) != 5 {
		t.Errorf("five policies have %d digests", len(digests))
	}
	for _, c := range []struct{ budget, source, held, want string }{
		{pure, csv, "holdout_price: 0.2", "the column holds nobody out"},
		{pure, csv, "holdout: 20%, holdout_price: 0", "must be above 0"},
		{zcdp, csv, "holdout: 20%, holdout_price: {rho: 0}", "must be above 0"},
		{pure, csv, "holdout: 20%, holdout_price: 0%", "must be above 0"},
		{pure, csv, "holdout: 20%, holdout_price: 0.6", "above the maximum price"},
		{pure, csv, "holdout: 20%, holdout_price: {rho: 0.1}", "a pure budget has no rho"},
		{pure, csv, "holdout: 20%, holdout_price: cheap", "cheap"},
		{pure, csv, "holdout: 20%, holdout_price: [1]", ""},
		{"{epsilon: 0}", csv, "holdout: 20%, holdout_price: 0.2", ""},
		{pure, server, "holdout: 20%", "would need the secret key of the holdout"},
	} {
		if _, err := decoded(c.budget, c.source, c.held); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, and not %q", c.budget, c.held, err, c.want)
		}
	}
}
