package derive_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"dither/internal/derive"
	"dither/internal/engine/enginetest"
	"dither/internal/value"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/mechanism/selection"
)

// crowd are tables v and w of 120 persons, of whom most have two rows of v and one of w, and some four and three.
func crowd() enginetest.Tables {
	v, w := people(280), people(160)
	for k := range v {
		v[k]["person"] = value.OfInt(int64(k % 120))
	}
	for k := range w {
		w[k]["person"] = value.OfInt(int64(k * k % 120))
	}
	return enginetest.Tables{"v": enginetest.Ranked(v, "person"), "w": enginetest.Ranked(w, "person")}
}

// Quantiles over relations: of joined rows, of what persons have in all, of rows under one another.
func TestQuantileCoverageOfRelations(t *testing.T) {
	tables := crowd()
	for _, c := range []struct{ sql, price string }{
		{"SELECT MEDIAN(a.i) FROM v a JOIN w b ON a.person = b.person", "20"},
		{"SELECT PERCENTILE_CONT(0.8) WITHIN GROUP (ORDER BY a.x + b.x) FROM v a JOIN w b ON a.person = b.person", "ρ 20"},
		{"SELECT MEDIAN(n) FROM (SELECT person, COUNT(*) AS n FROM v GROUP BY person) q", "5"},
		{"SELECT PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY s) FROM (SELECT person, SUM(i) AS s FROM w GROUP BY person) q", "ρ 2"},
		{"SELECT g, MEDIAN(x) FROM (SELECT person, g, x FROM v UNION ALL SELECT person, g, x FROM w) q GROUP BY g", "50"},
		{"SELECT MEDIAN(i) FROM v", "10"},
		{"SELECT g, MEDIAN(i) FROM w GROUP BY g", "ρ 10"},
	} {
		t.Run(c.sql+" at "+c.price, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, c.sql, c.price)
			bracketed(t, p, tables)
		})
	}
}

// Where an interval is worst: half of the rows at one end of the bounds and half at the other, so that every value
// between them is just as many rows off as an end of the interval may be. It misses then nearly as often as its bracket
// is made for, and a narrower one more often.
func TestQuantileCoverageAtItsWorst(t *testing.T) {
	for _, c := range []struct{ sql, price string }{
		{"SELECT MEDIAN(i) FROM t", "0.3"},
		{"SELECT MEDIAN(x) FROM t", "0.3"},
		{"SELECT MEDIAN(i) FROM t", "ρ 0.002"},
		{"SELECT PERCENTILE_CONT(x, 0.5) FROM t", "ρ 0.05"},
	} {
		t.Run(c.sql+" at "+c.price, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, c.sql, c.price)
			rows := people(2 * int(p.Span(p.Quantiles[0], 0.05)+5))
			for k := range rows {
				rows[k]["i"], rows[k]["x"] = value.OfInt(int64(k%2*115)), value.OfReal(float64(k%2*43-3))
			}
			bracketed(t, p, enginetest.Tables{"t": rows})
		})
	}
}

// Bounds that are found, of rows that persons have, and of relations.
func TestCoverageWithinFoundBoundsOfPersons(t *testing.T) {
	tables := crowd()
	for _, c := range []struct{ sql, price string }{
		{"SELECT SUM(i, bounds => auto) FROM v", "8"},
		{"SELECT AVG(x, bounds => auto) FROM w", "ρ 4"},
		{"SELECT SUM(a.i, bounds => auto) FROM v a JOIN w b ON a.person = b.person", "ρ 20"},
		{"SELECT SUM(s, bounds => auto) FROM (SELECT person, SUM(i) AS s FROM v GROUP BY person) q", "4"},
	} {
		t.Run(c.sql+" at "+c.price, func(t *testing.T) {
			t.Parallel()
			coversFound(t, planOf(t, c.sql, c.price), tables)
		})
	}
}

// Variances, clipped rows and ratios of what persons have, over relations.
func TestCoverageOfDerivedOverRelations(t *testing.T) {
	tables := crowd()
	for _, c := range []struct{ sql, price string }{
		{"SELECT STDDEV(n) FROM (SELECT person, COUNT(*) AS n FROM v GROUP BY person) q", "20"},
		{"SELECT VAR_POP(a.i) FROM v a JOIN w b ON a.person = b.person", "ρ 20"},
		{"SELECT CORR(a.i, a.i + b.x) FROM v a JOIN w b ON a.person = b.person", "ρ 20"},
		{"SELECT CLIPPED(s, bounds => (10, 150)) FROM (SELECT person, SUM(i) AS s FROM v GROUP BY person) q", "1"},
		{"SELECT SUM(a.i) / COUNT(*) FROM v a JOIN w b ON a.person = b.person", "20"},
		{"SELECT COUNT(*) FILTER (WHERE a.i > b.x) FROM v a JOIN w b ON a.person = b.person", "1"},
		{"SELECT SUM(i, contribution_bounds_per_group => (0, 40)) FROM (SELECT person, i FROM v UNION ALL SELECT person, i FROM w) q", "ρ 1"},
	} {
		t.Run(c.sql+" at "+c.price, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, c.sql, c.price)
			exact, noises := released(t, p, nil)
			enginetest.SumOf(&p.Statement, tables, addTo(exact))
			answer, err := derive.New(p)
			if err != nil {
				t.Fatal(err)
			}
			e := answer.Rows([][]*big.Int{exact}, 0.05)[0][0].Estimate // of exact sums the estimate is the answer
			if e.Null {
				t.Fatal("it is NULL")
			}
			covers(t, p, exact, noises, e.Value)
		})
	}
}

// A mode's shortfall is what explain tells: the value that is chosen has at most so many rows fewer than the most
// frequent one, but with the probability that is said; where one value is just beyond it above all others, and where
// the others are spread below.
func TestShortfall(t *testing.T) {
	for _, neighbours := range []string{"add-remove", "change-one"} {
		for _, price := range []string{"0.3", "2", "ρ 0.02", "ρ 1"} {
			for _, sql := range []string{"SELECT MODE(i) FROM t", "SELECT MODE(FLOOR(x)) FROM v", "SELECT MODE(g) FROM w"} {
				t.Run(neighbours+" "+price+" "+sql, func(t *testing.T) {
					t.Parallel()
					p := planUnder(t, neighbours, sql, price)
					m := p.Modes[0]
					const alpha = 0.05
					most := m.Shortfall(p.Neighbours, alpha)
					for _, spread := range []int64{0, 1} {
						scores, top := make([]int64, len(m.Of.Values)), int64(math.Floor(most))+1
						for i := range scores {
							scores[i] = 1000 - spread*int64(i)
						}
						scores[len(scores)/2] = 1000 + top
						exact := make([]mechanism.Exact, len(scores))
						for i, s := range scores {
							exact[i] = mechanism.NewExact(big.NewInt(s))
						}
						flip := selection.PermuteAndFlip{Sensitivity: big.NewInt(m.Rows), Monotonic: neighbours == "add-remove", Epsilon: m.Epsilon()}
						choose := flip.Select
						if _, pure := m.Loss.Pure(); !pure {
							choose = selection.Exponential(flip).Select
						}
						within := promised(1-alpha, 1)
						for within[0].Open() {
							s, err := choose(exact)
							if err != nil {
								t.Fatal(err)
							}
							within[0].Observe(float64(1000+top-scores[s.Index]) <= most)
						}
						kept(t, "within the shortfall", within)
					}
				})
			}
		}
	}
}

// A quantile's rank error is what explain tells: where all rows have one value, and just so many that any other is too
// far, that value is drawn but with the probability that is said, of each of several that are put in order too.
func TestRankError(t *testing.T) {
	for _, price := range []string{"0.5", "20", "ρ 0.1"} {
		for _, sql := range []string{"SELECT MEDIAN(i) FROM t", "SELECT PERCENTILE_DISC(x, 0.9) FROM t", "SELECT APPROX_QUANTILES(i, 4) FROM v"} {
			t.Run(price+" "+sql, func(t *testing.T) {
				t.Parallel()
				p := planOf(t, sql, price)
				const alpha = 0.05
				q := p.Siblings(p.Quantiles[0])[len(p.Quantiles)/2]
				most := p.RankError(q, alpha)
				share, _ := q.Rank.Float64()
				n := int(math.Ceil((most + 1) / (1 - share))) // any greater value has more than so many rows too many
				data := make([]int64, n)
				for i := range data {
					data[i] = q.Value.Lo
				}
				m := quantile.Cells{
					Domain: quantile.Domain{Lower: q.Value.Lo, Upper: q.Value.Hi}, Unit: mechanism.Unit{Neighbours: p.Neighbours, MaxRows: p.OrderCaps.MostRows()}, Cells: 1,
				}
				at := 0 // drawn as each by itself, and then put in order
				for i, o := range p.Siblings(q) {
					m.Sought = append(m.Sought, quantile.Sought{Rank: o.Rank, Epsilon: o.Draw()})
					if o == q {
						at = i
					}
				}
				within := promised(1-alpha, 1)
				for within[0].Open() {
					drawn, err := m.Release(inOrder([][]int64{data}))
					if err != nil {
						t.Fatal(err)
					}
					within[0].Observe(slices.Sorted(slices.Values(drawn.Values[0]))[at] == q.Value.Lo)
				}
				kept(t, "within the rank error", within)
			})
		}
	}
}
