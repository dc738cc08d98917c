package curator

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/release"
	"dither/internal/reuse"
	"dither/internal/span"
	"dither/mechanism/linear"
)

// Later questions are answered from measured strategies, as from other releases: the cells of the measured histogram are
// the groups of an ordinary question, and package reuse decides which of them a later question adds up. The ledger has
// only digests of large matrices, so the home keeps their integers beside the choices of strategies. A plan of these
// integers counts only if it has the replay key that the ledger recorded.

// mostKeptRuns is the largest number of runs of equal entries of the matrices that a home keeps for later questions.
const mostKeptRuns = 1 << 18

// keptPart is a part of a strategy as a home keeps it.
type keptPart struct {
	Keys     []int          `json:"keys"`
	Weight   int64          `json:"weight"`
	Products [][]keptMatrix `json:"products"`
}

// keptMatrix is a matrix: for each row, its runs as first column, column after the last, and value.
type keptMatrix struct {
	Columns int           `json:"columns"`
	Rows    [][]keptRunOf `json:"rows"`
}

type keptRunOf [3]int64

// keptAs names the kept integers of a strategy by its replay key.
func keptAs(key string) string { return "strategy of " + key }

// keptStrategy returns the integers of a strategy, to be kept; nil if there are too many.
func keptStrategy(parts []plan.LinearPart) []byte {
	var out []keptPart
	runs := 0
	for _, p := range parts {
		one := keptPart{Keys: p.Keys, Weight: p.Weight}
		for _, product := range p.Strategy.Products() {
			var of []keptMatrix
			for _, m := range product {
				k := keptMatrix{Columns: m.Columns(), Rows: make([][]keptRunOf, m.Rows())}
				for i := range k.Rows {
					k.Rows[i] = []keptRunOf{}
					for _, r := range m.Row(i) {
						k.Rows[i] = append(k.Rows[i], keptRunOf{int64(r.From), int64(r.To), r.Value})
					}
					if runs += len(k.Rows[i]) + 1; runs > mostKeptRuns {
						return nil
					}
				}
				of = append(of, k)
			}
			one.Products = append(one.Products, of)
		}
		out = append(out, one)
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return data
}

// strategyKept returns the parts that keptStrategy wrote; nil if the data are damaged.
func strategyKept(data []byte) (out []plan.LinearPart) {
	var parts []keptPart
	if json.Unmarshal(data, &parts) != nil {
		return nil
	}
	for _, p := range parts {
		var products []linear.Product
		for _, product := range p.Products {
			var of linear.Product
			for _, k := range product {
				rows := make([][]linear.Run, len(k.Rows))
				for i, runs := range k.Rows {
					for _, r := range runs {
						rows[i] = append(rows[i], linear.Run{From: int(r[0]), To: int(r[1]), Value: r[2]})
					}
				}
				m, err := linear.NewMatrix(k.Columns, rows)
				if err != nil {
					return nil
				}
				of = append(of, m)
			}
			products = append(products, of)
		}
		s, err := linear.NewStrategy(products...)
		if err != nil {
			return nil
		}
		out = append(out, plan.LinearPart{Keys: p.Keys, Strategy: s, Weight: p.Weight})
	}
	return out
}

// histogramOf returns the ordinary question whose groups are the cells of a plan of strategies; nil if there is none.
func histogramOf(p *policy.Policy, r plan.Request, of *plan.Linear) *plan.Plan {
	if r.MaxRows = 0; of.Base.Unit != nil {
		r.MaxRows = of.Base.Caps.Rows
	}
	r.Price = of.Price
	q, err := plan.Build(p, r)
	if err != nil || !reuse.Followable(q) || !of.CellsOf(q) {
		return nil
	}
	return q
}

// recalledStrategy returns the facts that the ledger records with a measured strategy, so that later questions can find it.
func recalledStrategy(filled *policy.Policy, request plan.Request, of *plan.Linear) release.Recalled {
	return release.Recalled{Subject: func(versions []int) *ledger.Subject {
		q := histogramOf(filled, request, of)
		if q == nil {
			return nil
		}
		about := &ledger.Subject{Question: digestOf([]byte("strategies\n" + of.Key(versions...)))[:16]}
		about.Measures, about.Conditions = reuse.Marks(q)
		return about
	}}
}

// measuredStrategy is an earlier measurement of strategies, planned again.
type measuredStrategy struct {
	plan *plan.Linear
	span *span.Measurement
}

// strategyAgain plans a recorded measurement of strategies again, with the histogram as an ordinary question. It returns nil
// unless the home has its integers, and the new plan has the recorded replay key.
func (c *Session) strategyAgain(r ledger.Reservation, a *asked) (*plan.Plan, *measuredStrategy) {
	sql, is := strategySQL(r.Question)
	if !is {
		return nil, nil
	}
	parts := strategyKept(c.Choice(keptAs(r.Key)))
	if parts == nil {
		return nil, nil
	}
	request := plan.Request{SQL: sql, Price: r.Loss}
	of, err := plan.BuildLinear(a.policy, request, parts)
	if err != nil || !slices.Equal(of.Base.Tables(), a.plan.Tables()) || of.Key(a.look.Versions()...) != r.Key {
		return nil, nil
	}
	q := histogramOf(a.policy, request, of)
	if q == nil {
		return nil, nil
	}
	known := span.New(of)
	if known == nil {
		return nil, nil
	}
	return q, &measuredStrategy{of, known}
}

// strategySQL returns the question of the histogram from a text of strategyText.
func strategySQL(text string) (sql string, is bool) {
	if !strings.HasPrefix(text, "strategies (") {
		return "", false
	}
	_, sql, is = strings.Cut(text, "): ")
	return sql, is
}

// numbers returns the released numbers of the measurement as one column; nil if they cannot be read.
func (m *measuredStrategy) numbers(answer ledger.Answer) [][]*big.Int {
	numbers, err := release.LinearNumbersOf(answer, m.plan)
	if err != nil {
		return nil
	}
	return [][]*big.Int{numbers}
}
