package enginetest

import (
	"math/big"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// VectorQuestion draws a question for sums of vectors over table t or p. The planner accepts most of these
// questions.
func VectorQuestion(t *rapid.T, table string) (string, plan.VectorRequest) {
	g := generator{t}
	var items []string
	for range rapid.IntRange(1, 5).Draw(t, "coordinates") {
		item := g.number(1)
		if !g.chance(3) {
			item = g.pick("i", "x", "y", "1", "LEAST(GREATEST(z, -4.5), 1e6)", "COALESCE(x, 3)", "x / 17",
				"CAST(b AS integer)", "-x", "j", "0")
		}
		items = append(items, item)
	}
	r := g.vectors(len(items))
	sql := g.from(strings.Join(items, ", "), table)
	if len(r.Centres) == 0 && g.chance(2) {
		sql += " GROUP BY " + g.group()
		if g.chance(3) {
			sql += ", " + g.group()
		}
	}
	return sql, r
}

// VectorsOver draws a question for sums of vectors over a relation. ofRows reports whether each row is a unit.
func VectorsOver(t *rapid.T) (sql string, r plan.VectorRequest, ofRows bool) {
	g := generator{t}
	of := g.relation(2)
	var items []string
	for range rapid.IntRange(1, 3).Draw(t, "coordinates") {
		items = append(items, g.pick(append([]string{"1"}, of.numbers...)...))
	}
	r = g.vectors(len(items))
	sql = "SELECT " + strings.Join(items, ", ") + " FROM " + of.from
	if of.where != "" {
		sql += " WHERE " + of.where
	}
	if len(r.Centres) == 0 && len(of.keys) > 0 && g.chance(2) {
		sql += " GROUP BY " + g.pick(of.keys...)
	}
	return sql, r, of.relation == "t"
}

// vectors draws blocks of n coordinates, sums of their vectors, and in some cases centres.
func (g generator) vectors(n int) (r plan.VectorRequest) {
	for n > 0 {
		k := plan.BlockRequest{
			Size: rapid.IntRange(1, (n+1)/2).Draw(g.t, "size"),
			Norm: bounded.Norm(g.pick("l1", "l2")),
		}
		if !g.chance(3) {
			k.Bound, _ = new(big.Rat).SetString(g.pick("1", "0.3", "2.5", "7", "20", "1000", "1e9", "0.0001"))
		}
		r.Blocks = append(r.Blocks, k)
		n -= k.Size
	}
	sums := map[string]plan.SumRequest{}
	for range rapid.IntRange(1, 4).Draw(g.t, "sums") {
		i, j := rapid.IntRange(0, len(r.Blocks)-1).Draw(g.t, "block"),
			rapid.IntRange(0, len(r.Blocks)-1).Draw(g.t, "block")
		s := plan.SumRequest{Kind: bounded.SumKind(g.pick("count", "first", "product", "product")), I: i, J: j}
		switch s.Kind {
		case bounded.SumOne:
			s.I, s.J = 0, 0
		case bounded.SumFirst:
			s.J = 0
		case bounded.SumProduct:
			if len(r.Blocks) > 1 && g.chance(2) {
				j = (i + 1) % len(r.Blocks)
			}
			s.I, s.J = min(i, j), max(i, j)
			if g.chance(3) {
				s.Weight = big.NewRat(5, 2)
			}
		}
		name := string(s.Kind) + strconv.Itoa(s.I) + " " + strconv.Itoa(s.J)
		if _, twice := sums[name]; !twice {
			sums[name] = s
			r.Sums = append(r.Sums, s)
		}
	}
	if g.chance(4) {
		for range rapid.IntRange(1, 4).Draw(g.t, "centres") {
			c := make([]float64, r.Blocks[0].Size)
			for i := range c {
				c[i] = rapid.SampledFrom([]float64{0, 0.1, 0.25, -0.25, 1, -1, 2, 3.7, 1e-5}).Draw(g.t, "centre")
			}
			r.Centres = append(r.Centres, c)
		}
	}
	return r
}
