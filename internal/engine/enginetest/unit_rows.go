package enginetest

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/value"
)

// rowsOfUnits returns one piece for each unit, with the unit's number of rows, clamped to the measure's bounds.
func rowsOfUnits(b *bounded.Statement, rows []piece) (out []piece) {
	of := map[string]int64{}
	units := map[string]value.Value{}
	for _, p := range rows {
		name := hashText(p.unit)
		of[name]++
		units[name] = p.unit
	}
	for name, n := range of {
		n = min(max(n, b.Measures[0].Lo), b.Measures[0].Hi)
		out = append(out, piece{unit: units[name], values: []*int64{&n}, sums: []*big.Int{big.NewInt(n)}})
	}
	return out
}

// FoundRows returns the plan p with a cap on a unit's rows that p's private search for it could find, or p itself if it
// has no such search.
func FoundRows(t *rapid.T, p *plan.Plan) *plan.Plan {
	if p.Rows == nil {
		return p
	}
	q, err := p.WithRows(rapid.Int64Range(1, p.Rows.Most).Draw(t, "rows found"))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// unitRows runs a block "units SELECT …". It returns how many units have how many rows, after WHERE.
func (s *script) unitRows(t *testing.T, sql string) string {
	t.Helper()
	p, err := plan.Build(s.policy, plan.Request{SQL: sql, AutoRows: true})
	if err != nil {
		return fmt.Sprint(err)
	}
	counts, err := s.engine.Order(t, s.policy, s.rows, &p.Rows.Look)
	if err != nil {
		return "fails: " + err.Error()
	}
	lines := []string{fmt.Sprintf("· up to %d", p.Rows.Most)}
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%d × %d", counts[v], v))
	}
	return strings.Join(lines, "\n")
}
