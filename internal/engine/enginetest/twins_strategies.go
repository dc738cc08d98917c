package enginetest

import (
	"math/big"
	"slices"

	"pgregory.net/rapid"

	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/splitmix"
	"dither/mechanism/linear"
)

// mostAuditedCells is the largest number of cells of a part of a random strategy.
const mostAuditedCells = 60

// StrategyQuestion draws a histogram for strategies: SELECT COUNT(*) FROM … GROUP BY …, or SUM.
func StrategyQuestion(t *rapid.T, table string) string {
	g := generator{t}
	sql := g.from(g.pick("COUNT(*)", "COUNT(x)", "SUM(i)", "SUM(j)", "SUM(x)", "SUM(LEAST(i, 2))"), table)
	for i := range rapid.IntRange(0, 3).Draw(t, "keys") {
		sql += []string{" GROUP BY ", ", ", ", "}[i] + g.group()
	}
	return sql
}

// StrategyOver draws a histogram for strategies over a relation.
func StrategyOver(t *rapid.T) string {
	g := generator{t}
	of := g.relation(2)
	sql := "SELECT " + g.pick("COUNT(*)", "SUM("+g.pick(of.numbers...)+")") + " FROM " + of.from
	if of.where != "" {
		sql += " WHERE " + of.where
	}
	if len(of.keys) > 0 && g.chance(2) {
		sql += " GROUP BY " + g.pick(of.keys...)
	}
	return sql
}

// strategies plans a question with one to three parts of random strategies, which a seed determines.
func strategies(p *policy.Policy, r plan.Request, seed uint64) (*plan.Linear, error) {
	histogram, err := plan.BuildHistogram(p, r)
	if err != nil {
		return nil, err
	}
	random := splitmix.At(splitmix.Mix(seed))
	var parts []plan.LinearPart
	for range 1 + random.Below(3) {
		part, product, cells := plan.LinearPart{Weight: int64(random.Below(5))}, linear.Product{}, 1
		first := random.Below(max(len(histogram.Grouped), 1))
		for i := range histogram.Grouped {
			k := (first + i) % len(histogram.Grouped)
			n := len(histogram.KeyValues()[k])
			twice := slices.ContainsFunc(part.Keys, func(o int) bool { return histogram.Grouped[o] == histogram.Grouped[k] })
			if random.Below(3) == 0 || twice || n == 0 || cells*n > mostAuditedCells {
				continue
			}
			part.Keys, product, cells = append(part.Keys, k), append(product, randomMatrix(&random, n)), cells*n
		}
		stack := []linear.Product{{randomMatrix(&random, cells)}}
		if len(product) > 0 && random.Below(2) == 0 {
			stack = append(stack, product)
		}
		if part.Strategy, err = linear.NewStrategy(stack...); err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return plan.BuildLinear(p, r, parts)
}

// randomMatrix returns a matrix with n columns: a common one, or one of random entries.
func randomMatrix(r *splitmix.Stream, n int) linear.Matrix {
	switch r.Below(5) {
	case 0:
		return linear.Identity(n)
	case 1:
		return linear.Total(n)
	case 2:
		return linear.Centred(n)
	}
	entries := make([][]int64, 1+r.Below(4))
	for i := range entries {
		for range n {
			entries[i] = append(entries[i], int64(r.Below(9)-4+2*r.Below(3)))
		}
	}
	m, err := linear.Dense(entries)
	if err != nil {
		panic(err)
	}
	return m
}

// strategyMoves compares the answers of strategies with their sensitivities in L1 and squared L2 norm, and their
// distances from tables with the sensitivities of rounds. The matrices are multiplied out here, by the definition of the Kronecker product.
func strategyMoves(m *plan.Linear, sql string, of [2]Database) (moves []Move, err error) {
	w := Twins{SQL: sql, Of: of}
	for i, part := range m.Parts {
		all, err := w.differences(part.Look)
		if err != nil {
			return moves, err
		}
		x := numbers(make([]*big.Int, part.Look.Cells()))
		for j, keys := range all.keys {
			cell := 0
			for k, v := range keys {
				if at := part.Look.Keys[k].Index(v); at >= 0 && cell >= 0 {
					cell = cell*len(part.Look.Keys[k].Values) + at
				} else {
					cell = -1
				}
			}
			if cell >= 0 {
				x[cell].Add(x[cell], all.sums[j][0])
			}
		}
		if order := part.Order(); order != nil {
			ordered := make([]*big.Int, len(x))
			for cell, at := range order {
				ordered[cell] = x[at]
			}
			x = ordered
		}
		l1, l2squared := new(big.Int), new(big.Int)
		for _, product := range part.Strategy.Products() {
			for _, row := range multipliedOut(product) {
				answer := new(big.Int)
				for cell, a := range row {
					answer.Add(answer, new(big.Int).Mul(big.NewInt(a), x[cell]))
				}
				l1.Add(l1, new(big.Int).Abs(answer))
				l2squared.Add(l2squared, answer.Mul(answer, answer))
			}
		}
		moves = append(moves, Move{Kind: "strategies", Moved: l1.Sign() > 0})
		if a := &part.Answers; l1.Cmp(a.L1) > 0 || l2squared.Cmp(a.L2Squared) > 0 {
			return moves, w.breach("part %d moves by %s, squared L2 %s; planned %s, %s", i, l1, l2squared, a.L1, a.L2Squared)
		}
		// A table that is below the answers that rise, and above those that fall, moves its distance by all of l1.
		d := linear.Distance{Weight: 1 + int64(i), Scale: 3, Table: make([]int64, part.Strategy.Rows())}
		s, err := (&plan.Rounds{Linear: m, Steps: 1}).Selection([]plan.RoundOption{{Candidate: i, Score: d}}, m.Price)
		if err != nil {
			return moves, err
		}
		if by := l1.Mul(l1, big.NewInt(d.Weight*d.Scale)); by.Cmp(s.Sensitivity) > 0 {
			return moves, w.breach("a distance from part %d moves by %s; planned %s", i, by, s.Sensitivity)
		}
	}
	return moves, nil
}

// multipliedOut returns the entries of a Kronecker product.
func multipliedOut(p linear.Product) [][]int64 {
	out := [][]int64{{1}}
	for _, m := range p {
		var next [][]int64
		for _, a := range out {
			for _, b := range m.Dense() {
				row := make([]int64, 0, len(a)*len(b))
				for _, u := range a {
					for _, v := range b {
						row = append(row, u*v)
					}
				}
				next = append(next, row)
			}
		}
		out = next
	}
	return out
}
