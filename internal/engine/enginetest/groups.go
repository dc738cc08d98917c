package enginetest

import (
	"bytes"
	"math/big"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/value"
)

// relabelled returns the keys of the answer's group to which a row with these keys belongs. If the statement has
// the group Other and the row's own group is not among the chosen ones, these are the keys of Other.
func relabelled(b *bounded.Statement, keys []value.Value) []value.Value {
	if !b.Other {
		return keys
	}
	same := func(group []value.Value) bool {
		return slices.EqualFunc(group, keys, func(v, w value.Value) bool { return value.Compare(v, w) == 0 })
	}
	if slices.ContainsFunc(b.Chosen, same) {
		return append(slices.Clone(keys), value.OfBool(false))
	}
	return b.CellKeys(b.Cells() - 1)
}

// Opened returns PolicyText with a budget in ρ, under which questions can select unknown keys.
func Opened(neighbours string) []byte { return opened(PolicyText(neighbours)) }

// OpenedByGroups returns ByGroups with a budget in ρ, under which questions can select unknown keys.
func OpenedByGroups(neighbours string) []byte { return opened(ByGroups(neighbours)) }

func opened(policy []byte) []byte {
	return bytes.Replace(policy, []byte("{epsilon: 1000}"),
		[]byte("{rho: 1000, delta: 1e-6, selection_delta: 5e-7}"), 1)
}

// OpenQuestion draws a question with some unknown groups. Under Opened, the planner accepts most of these
// questions.
func OpenQuestion(t *rapid.T, table string) string {
	g := generator{t}
	var items []string
	for range rapid.IntRange(0, 2).Draw(t, "aggregates") {
		items = append(items, g.aggregate(table))
	}
	groups := []string{g.openGroup()}
	if g.chance(2) {
		groups = append(groups, g.group())
	}
	if g.chance(4) {
		groups = append(groups, g.openGroup())
	}
	if len(items) == 0 {
		items = groups[:1]
	}
	return g.from(strings.Join(items, ", "), table) + " GROUP BY " + strings.Join(groups, ", ")
}

func (g generator) openGroup() string {
	return g.pick("w", "n", "j", "e", "w", "n % 20000", "COALESCE(w, s)", "CASE WHEN "+g.condition(1)+" THEN w END",
		"LEAST(n, 5)", "i * j",
		"date_trunc('month', e)", "NULLIF(w, 'a')", "GREATEST(w, 'B')", "CASE WHEN b THEN e ELSE DATE '2000-01-01' END",
		"FLOOR(LEAST(GREATEST(z, -1e9), 1e9))")
}

// Groups returns the existing groups by name: for each the sums of the measures, and then the number of units.
func Groups(b *bounded.Statement, rows []Row) map[string][]*big.Int {
	return groupsOf(func(add func([]value.Value, []*big.Int)) { Sum(b.Counting(), rows, add) })
}

func groupsOf(each func(add func(keys []value.Value, sums []*big.Int))) map[string][]*big.Int {
	out := map[string][]*big.Int{}
	each(func(keys []value.Value, sums []*big.Int) {
		name := bounded.GroupName(keys)
		if out[name] == nil {
			for range sums {
				out[name] = append(out[name], new(big.Int))
			}
		}
		for i, s := range sums {
			out[name][i].Add(out[name][i], s)
		}
	})
	for name, sums := range out {
		if sums[len(sums)-1].Sign() == 0 {
			delete(out, name)
		}
	}
	return out
}
