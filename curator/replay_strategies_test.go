package curator

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"dither/audit"
	"dither/internal/release"
	"dither/mechanism/linear"
)

// strategyQuestions are histograms over the replayed homes, with the numbers of their keys' values.
var strategyQuestions = []struct {
	sql  string
	keys []int
}{
	{"SELECT COUNT(*) FROM people GROUP BY region", []int{3}},
	{"SELECT COUNT(*) FROM visits GROUP BY day", []int{5}},
	{"SELECT day, SUM(cost) FROM visits WHERE day <> 'fri' GROUP BY day, cost > 5", []int{5, 2}},
	{"SELECT SUM(change) FROM people GROUP BY age > 60, region", []int{2, 3}},
}

// randomStrategy is a strategy of random integers: a dense matrix, or a product of one matrix for each key.
func randomStrategy(r *rand.Rand, sides []int) linear.Strategy {
	dense := func(columns int) linear.Matrix {
		entries := make([][]int64, 1+r.IntN(5))
		for i := range entries {
			for range columns {
				entries[i] = append(entries[i], r.Int64N(9)-4+4*r.Int64N(2))
			}
		}
		m, err := linear.Dense(entries)
		if err != nil {
			panic(err)
		}
		return m
	}
	n, each := 1, linear.Product{}
	for _, k := range sides {
		n *= k
		each = append(each, []linear.Matrix{dense(k), linear.Identity(k), linear.Centred(k), linear.Total(k)}[r.IntN(4)])
	}
	stack := []linear.Product{{dense(n)}}
	if len(sides) > 0 && r.IntN(2) == 0 {
		stack = append(stack, each)
	}
	s, err := linear.NewStrategy(stack...)
	if err != nil {
		panic(err)
	}
	return s
}

// Strategies that are chosen at random: no answers of twins are further apart than their plan, and some are as far.
func replayStrategies(t *testing.T, relation string, w twins) {
	r, attained := rand.New(rand.NewPCG(7, uint64(len(relation)))), 0
	for i := range 24 {
		of := strategyQuestions[i%len(strategyQuestions)]
		s := Strategy{Request: Request{SQL: of.sql, Fresh: true}}
		for range 1 + r.IntN(3) {
			part := StrategyPart{Weight: r.Int64N(4)}
			var sides []int
			for _, k := range r.Perm(len(of.keys))[:r.IntN(len(of.keys)+1)] {
				part.Keys, sides = append(part.Keys, k), append(sides, of.keys[k])
			}
			part.Queries = randomStrategy(r, sides)
			s.Parts = append(s.Parts, part)
		}
		access, err := w[audit.Data].strategy(s)
		if err != nil {
			t.Fatal(of.sql, err)
		}
		moved := w.replay(t, byte(i), func(c *Owner) (numbers []*big.Int, err error) {
			got, err := c.MeasureStrategy(t.Context(), s)
			if err != nil {
				return nil, err
			}
			for _, part := range got.Parts {
				numbers = append(numbers, part.Values...)
			}
			return numbers, nil
		})
		sameFlow(t, relation+": "+of.sql, moved, "reserve", "release")
		x, y := moved.Data.Output, moved.Neighbor.Output
		for j, part := range access.Plan().Parts {
			l1, l2squared := new(big.Rat), new(big.Rat)
			for range part.Strategy.Rows() {
				d := new(big.Rat).Sub(x[0], y[0])
				l1.Add(l1, new(big.Rat).Abs(d))
				l2squared.Add(l2squared, d.Mul(d, d))
				x, y = x[1:], y[1:]
			}
			m := &part.Answers
			most1, most2 := new(big.Rat).SetInt(m.L1), new(big.Rat).SetInt(m.L2Squared)
			if l1.Cmp(most1) > 0 || l2squared.Cmp(most2) > 0 {
				t.Errorf("%s: %s: part %d: apart by %s, squared L2 %s; planned %s, %s", relation, of.sql, j, l1.FloatString(0),
					l2squared.FloatString(0), m.L1, m.L2Squared)
			}
			if l1.Cmp(most1) == 0 || l2squared.Cmp(most2) == 0 {
				attained++
			}
		}
	}
	if !strings.Contains(relation, "NULL") && attained < 3 {
		t.Errorf("%s: %d sensitivities are attained: these pairs show little", relation, attained)
	}
}

// An answer less its noise is the matrix times the exact histogram: the noise is that of a question with as many cells
// at the same price and sensitivity, drawn from the same randomness.
func TestStrategiesAnswerTheirQueries(t *testing.T) {
	for name, terms := range map[string]homeTerms{"pure": pureTerms, "zCDP": zcdpTerms} {
		c := terms.alone(t)
		identity := must[linear.Strategy](t)(linear.NewStrategy(linear.Product{linear.Identity(5)}))
		doubled := must[linear.Strategy](t)(linear.NewStrategy(linear.Product{must[linear.Matrix](t)(linear.Dense([][]int64{
			{0, 0, 1, 0, 0}, {1, 0, 0, 0, 0}, {0, 0, 0, 0, 1}, {0, 1, 0, 0, 0}, {0, 0, 0, 1, 0},
		}))}))
		const sql = "SELECT day, COUNT(*) FROM visits GROUP BY day"
		plain := drawnFrom(9, func() *Measurements {
			return must[*Measurements](t)(c.Measure(t.Context(), Question{SQL: sql, Fresh: true}))
		})
		measured := func(s linear.Strategy) *StrategyMeasurement {
			return drawnFrom(9, func() *StrategyMeasurement {
				return must[*StrategyMeasurement](t)(c.MeasureStrategy(t.Context(), Strategy{
					Request: Request{SQL: sql, Fresh: true}, Parts: []StrategyPart{{Keys: []int{0}, Queries: s}},
				}))
			})
		}
		same, permuted := measured(identity), measured(doubled)
		// fri, mon, thu, tue, wed: 1 visit on each of mon, tue and wed
		days := []int64{0, 1, 0, 1, 1}
		if got := fmt.Sprint(same.Values); got != fmt.Sprint([][]any{{"fri", "mon", "thu", "tue", "wed"}}) {
			t.Fatal(got)
		}
		for i, at := range []int{2, 0, 4, 1, 3} {
			if same.Parts[0].Values[i].Cmp(plain.Vectors[0].Values[i]) != 0 {
				t.Errorf("%s: cell %d is %s, and %s of the plain question", name, i,
					same.Parts[0].Values[i], plain.Vectors[0].Values[i])
			}
			noise := new(big.Int).Sub(same.Parts[0].Values[i], big.NewInt(days[i]))
			if want := noise.Add(noise, big.NewInt(days[at])); permuted.Parts[0].Values[i].Cmp(want) != 0 {
				t.Errorf("%s: query %d is %s, want %s", name, i, permuted.Parts[0].Values[i], want)
			}
		}
	}
}

// The order of the keys in GROUP BY and in a part does not change the cells that a matrix reads, and a repeated request
// is a replay for the same matrix alone.
func TestStrategiesReplay(t *testing.T) {
	c := pureTerms.alone(t)
	ask := func(sql string, keys []int, sides ...int) *StrategyMeasurement {
		var p linear.Product
		for _, n := range sides {
			p = append(p, linear.Identity(n))
		}
		s := must[linear.Strategy](t)(linear.NewStrategy(p))
		return must[*StrategyMeasurement](t)(c.MeasureStrategy(t.Context(), Strategy{
			Request: Request{SQL: sql}, Parts: []StrategyPart{{Keys: keys, Queries: s}},
		}))
	}
	first := ask("SELECT COUNT(*) FROM visits GROUP BY day, cost > 5", []int{0, 1}, 5, 2)
	again := ask("SELECT COUNT(*) FROM visits GROUP BY cost > 5, day", []int{1, 0}, 5, 2)
	if !again.Replayed || again.ID != first.ID || fmt.Sprint(again.Parts[0].Values) != fmt.Sprint(first.Parts[0].Values) {
		t.Errorf("%s %v after %s", again.ID, again.Replayed, first.ID)
	}
	if other := ask("SELECT COUNT(*) FROM visits GROUP BY day, cost > 5", []int{1, 0}, 2, 5); other.Replayed {
		t.Error("another order of the cells is a replay")
	}
	if other := ask("SELECT COUNT(*) FROM visits GROUP BY day, cost > 5", []int{0, 1}, 10); other.Replayed {
		t.Error("another matrix is a replay")
	}
}

// Over a relation, the keys and values of a row choose which rows of a unit count. The same rows count in parts with
// different keys: a part by day has the answers of a part that adds up the cells of all keys, under the same noise.
func TestStrategiesCountTheSameRowsOfARelation(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	var rows strings.Builder
	for unit := range 20 {
		for i, day := range []string{"mon", "tue", "wed", "thu", "fri", "mon", "tue", "wed", "thu"} {
			fmt.Fprintf(&rows, "%d,%d,%s\n", 100+unit, i, day)
		}
	}
	c := zcdpTerms.home(t, "", rows.String())
	for sql, shared := range map[string]bool{
		"SELECT COUNT(*) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits WHERE cost > 4) AS v GROUP BY day, cost > 5": true,
		"SELECT COUNT(*) FROM visits GROUP BY day, cost > 5":                                                                    false,
	} {
		measured := func(keys []int, p linear.Product) []*big.Int {
			s := Strategy{Request: Request{SQL: sql, Fresh: true}, Parts: []StrategyPart{{
				Keys: keys, Queries: must[linear.Strategy](t)(linear.NewStrategy(p)),
			}}}
			all := s
			all.Parts = append([]StrategyPart{{
				Keys: []int{1, 0}, Queries: must[linear.Strategy](t)(linear.NewStrategy(linear.Product{linear.Identity(10)})),
			}}, s.Parts...)
			access := must[*release.Linear](t)(c.strategy(all))
			if looks := len(access.Plan().Looks()); len(keys) < 2 && (looks == 1) != shared {
				t.Errorf("%s: %d statements", sql, looks)
			}
			return drawnFrom(5, func() []*big.Int {
				return must[*StrategyMeasurement](t)(c.MeasureStrategy(t.Context(), s)).Parts[0].Values
			})
		}
		for _, of := range []struct {
			keys []int
			p    linear.Product
			over linear.Product
		}{
			{[]int{0}, linear.Product{linear.Identity(5)}, linear.Product{linear.Identity(5), linear.Total(2)}},
			{[]int{1}, linear.Product{linear.Identity(2)}, linear.Product{linear.Total(5), linear.Identity(2)}},
			{nil, linear.Product{linear.Total(1)}, linear.Product{linear.Total(5), linear.Total(2)}},
		} {
			got, want := measured(of.keys, of.p), measured([]int{0, 1}, of.over)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: the keys %v have %v, and the sums over all keys %v", sql, of.keys, got, want)
			}
		}
	}
}

// What a strategy cannot read is refused before anything is charged.
func TestStrategiesRefuse(t *testing.T) {
	c := openHome(t, newHome(t))
	three := must[linear.Strategy](t)(linear.NewStrategy(linear.Product{linear.Identity(3)}))
	var huge linear.Product
	for range 6 {
		huge = append(huge, must[linear.Matrix](t)(linear.Dense([][]int64{{linear.MaxEntry}})))
	}
	loud := must[linear.Strategy](t)(linear.NewStrategy(huge))
	for name, bad := range map[string]struct {
		sql  string
		part []StrategyPart
		says string
	}{
		"no parts":          {countSQL, nil, "between 1 and"},
		"no strategy":       {countSQL, []StrategyPart{{Keys: []int{0}}}, "has no strategy"},
		"too few cells":     {countSQL, []StrategyPart{{Queries: three}}, "has 1 cell, and its strategy has 3 columns"},
		"no such key":       {countSQL, []StrategyPart{{Keys: []int{1}, Queries: three}}, "has key 1"},
		"a negative key":    {countSQL, []StrategyPart{{Keys: []int{-1}, Queries: three}}, "has key -1"},
		"a key twice":       {countSQL, []StrategyPart{{Keys: []int{0, 0}, Queries: three}}, "twice"},
		"a negative weight": {countSQL, []StrategyPart{{Keys: []int{0}, Queries: three, Weight: -1}}, "weight"},
		"endless noise":     {countSQL, []StrategyPart{{Queries: loud}}, "more noise than is supported"},
		"an average":        {"SELECT AVG(age) FROM people GROUP BY region", []StrategyPart{{Keys: []int{0}, Queries: three}}, "one count or sum"},
		"two counts":        {"SELECT COUNT(*), SUM(age) FROM people GROUP BY region", []StrategyPart{{Keys: []int{0}, Queries: three}}, "one count or sum"},
		"distinct values":   {"SELECT COUNT(DISTINCT age) FROM people GROUP BY region", []StrategyPart{{Keys: []int{0}, Queries: three}}, "one count or sum"},
		"nothing":           {"SELECT region FROM people GROUP BY region", []StrategyPart{{Keys: []int{0}, Queries: three}}, "one count or sum"},
		"a limit":           {countSQL + " LIMIT 1", []StrategyPart{{Keys: []int{0}, Queries: three}}, "LIMIT"},
		"unknown keys":      {"SELECT COUNT(*) FROM visits GROUP BY person", []StrategyPart{{Keys: []int{0}, Queries: three}}, ""},
	} {
		_, err := c.MeasureStrategy(t.Context(), Strategy{Request: Request{SQL: bad.sql}, Parts: bad.part})
		if codeOf(err) != CodePolicy && codeOf(err) != CodeUsage || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%s: %v, want a refusal about %q", name, err, bad.says)
		}
		_, again := c.ExplainStrategy(t.Context(), Strategy{Request: Request{SQL: bad.sql}, Parts: bad.part})
		if again == nil || again.Error() != err.Error() {
			t.Errorf("%s: explained, it says %v", name, again)
		}
	}
	if got := spent(t, c); got != "0" {
		t.Errorf("refusals cost %s", got)
	}
}

// A strategy whose sensitivity takes too long to compute is refused at once, and the hint names one that fits.
func TestStrategiesRefuseLongArithmetic(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", `
version: 1
population: {name: places}
budget: {rho: 1, delta: 1e-6}
tables:
  places:
    source: {csv: places.csv}
    unit: row
    columns:
      x: {type: integer, bounds: [0, 511]}
      y: {type: integer, bounds: [0, 511]}
`)
	write(t, home, "places.csv", "x,y\n1,2\n")
	c := openHome(t, home)
	if _, err := c.Seal(t.Context(), "places", SealOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		top     int64
		refused bool
	}{{linear.MaxEntry, true}, {1 << 25, false}} {
		products := make([]linear.Product, linear.MaxProducts)
		for i := range products {
			row := make([]int64, 512)
			for j := range row {
				row[j] = of.top - int64(i+j)%2
			}
			m := must[linear.Matrix](t)(linear.Dense([][]int64{row}))
			products[i] = linear.Product{m, m}
		}
		s := must[linear.Strategy](t)(linear.NewStrategy(products...))
		_, err := c.ExplainStrategy(t.Context(), Strategy{
			Request: Request{SQL: "SELECT COUNT(*) FROM places GROUP BY x, y", Rho: "0.1"},
			Parts:   []StrategyPart{{Keys: []int{0, 1}, Queries: s}},
		})
		var e *Error
		if refused := errors.As(err, &e) && strings.Contains(e.Hint, "below 2¹²⁸"); refused != of.refused || !refused && err != nil {
			t.Errorf("entries up to %d: %v", of.top, err)
		}
	}
}

// The replay key of a measurement stays what it was, so that homes give their releases again.
func TestStrategyKeysStay(t *testing.T) {
	c := pureTerms.alone(t)
	s := must[linear.Strategy](t)(linear.NewStrategy(
		linear.Product{linear.Centred(5), linear.Total(2)}, linear.Product{linear.Identity(10)}))
	of := must[*release.Linear](t)(c.strategy(Strategy{
		Request: Request{SQL: "SELECT SUM(cost) FROM visits WHERE day <> 'fri' GROUP BY day, cost > 5", Epsilon: "0.5"},
		Parts:   []StrategyPart{{Keys: []int{0, 1}, Queries: s, Weight: 2}, {Queries: must[linear.Strategy](t)(linear.NewStrategy(linear.Product{linear.Total(1)}))}},
	}))
	const digest = "1f7f8613460860b0df67a423afaa1adbb0883a6b8186f04894d0d0b26a167e80"
	if got := s.Digest(); got != digest {
		t.Errorf("the strategy's digest is %s", got)
	}
	_, after, _ := strings.Cut(of.Plan().Canonical(1), "price ")
	const want = `ε = 0.5
caps rows=3 groups=0 rows_per_group=0
where (ne "day" text:"fri")
key "day" ["fri" "mon" "thu" "tue" "wed"]
key (gt "cost" integer:"5") ["false" "true"]
part keys=[0 1] strategy 1f7f8613460860b0df67a423afaa1adbb0883a6b8186f04894d0d0b26a167e80 of sum "cost" grid=0 centre=0 clamp=[0,10] l1=270 l2squared=18900 discrete laplace 810 ε = 1/3
part keys=[] strategy 92b2a702deefb35182b2a88ee6e0a69e9c6b22b7bb54fa87fc8cf8ec68dddfd7 of sum "cost" grid=0 centre=0 clamp=[0,10] l1=30 l2squared=900 discrete laplace 180 ε = 1/6
`
	if after != want {
		t.Errorf("the plan is\n%s", after)
	}
}
