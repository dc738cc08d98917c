package curator

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"dither/audit"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/release"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/noise"
	"dither/privacy"
)

// crowd are people enough for bounds to be found: ages of 64 to 103, or visits of as many persons.
func crowd(line string) string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, line+"\n", 64+i)
	}
	return b.String()
}

// A search for bounds and what is measured within them, on twins: where both find the same bounds, as with these crowds, each
// measure moves by at most the sensitivity of these bounds, and the reads, charges and records are the same.
func TestReplayFound(t *testing.T) {
	people, visits := crowd("%d,1,north,170"), crowd("%d,3,mon")
	narrower := 0
	for relation, w := range map[string]twins{
		"add-remove":       newTwins(t, pureTerms, [2]string{people, people + somebody}, [2]string{visits, visits + somebodys}),
		"change-one":       newTwins(t, changeTerms, [2]string{people + another, people + somebody}, [2]string{visits + anothers, visits + somebodys}),
		"add-remove, zCDP": newTwins(t, zcdpTerms, [2]string{people, people + somebody}, [2]string{visits, visits + somebodys}),
	} {
		for i, sql := range []string{
			"SELECT SUM(age, bounds => auto) FROM people",
			"SELECT AVG(age, bounds => auto), SUM(change, bounds => auto), COUNT(*, weight => 3) FROM people",
			"SELECT region, SUM(height, bounds => auto) FROM people GROUP BY region",
			"SELECT day, SUM(cost, bounds => auto) FROM visits GROUP BY day",
			"SELECT day, SUM(cost, contribution_bounds_per_group => (0, 12)), COUNT(*, contribution_bounds_per_group => (0, 1)) FROM visits GROUP BY day",
			"SELECT SUM(age, bounds => (10, 20)), CLIPPED(age, bounds => (10, 20)), AVG(change, weight => 0.5, bounds => (3, 4)) FROM people",
		} {
			question := Question{SQL: sql, Epsilon: "4", Fresh: true}
			r, plans := w.asked(t, byte(i), asking(question), allNumbers)
			name := relation + ": " + sql
			sameFlow(t, name, r, "reserve", "release")
			p := plans[0].plan
			if x, y := p.Canonical(1), plans[1].plan.Canonical(1); x != y {
				t.Errorf("%s: bounds that are not the same:\n%s\n%s", name, x, y)
				continue
			}
			for j, m := range p.Measures {
				if m.Search != nil && m.Units(big.NewInt(m.Hi-m.Lo)).Cmp(m.Search.Outer().Units(big.NewInt(m.Search.Outer().Hi-m.Search.Outer().Lo))) < 0 {
					narrower++
				}
				var x, y []*big.Rat
				for i := j; i < len(r.Data.Output); i += len(p.Measures) {
					x, y = append(x, r.Data.Output[i]), append(y, r.Neighbor.Output[i])
				}
				d, err := audit.Distance(x, y)
				if err != nil {
					t.Fatal(err)
				}
				if err := d.Within(audit.Distances{L1: new(big.Rat).SetInt(m.L1), L2Squared: new(big.Rat).SetInt(m.L2Squared)}); err != nil {
					t.Errorf("%s: %s: %v", name, m, err)
				}
			}
		}
	}
	if narrower < 5 {
		t.Errorf("bounds were narrowed %d times: the test shows little", narrower)
	}
	t.Logf("bounds were narrowed %d times", narrower)
}

// A search and its sum are what was planned: on the same bytes, the mechanisms with the parameters that are typed here, one after the
// other, give the bounds and the sum that the curator releases.
func TestFoundAsPlanned(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := pureTerms.home(t, crowd("%d,1,north,170"), "")
	ages := []int64{30, 40, 115, 0, 61} // of replayPeople, and the crowd's
	for i := range int64(40) {
		ages = append(ages, 64+i)
	}
	ordered := mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		for v := int64(0); v <= 115; v++ {
			n := int64(0)
			for _, a := range ages {
				if a == v {
					n++
				}
			}
			if n > 0 && !yield(v, n) {
				return nil
			}
		}
		return nil
	})
	five := someEpsilon(t).Times(5)
	for seed := range byte(10) {
		got := drawnFrom(seed, func() *Release {
			return must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT SUM(age, bounds => auto) FROM people", Epsilon: "10", Fresh: true}))
		})
		low, high, sum := int64(0), int64(0), new(big.Int)
		drawnFrom(seed, func() any {
			found := must[quantile.Bounds](t)(quantile.AutomaticBounds{
				Domain: quantile.Domain{Lower: 0, Upper: 115}, Unit: mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
				Loss: privacy.PureLoss(five), FalsePositive: 1e-6,
			}.Measure(ordered))
			high = found.Upper
			exact := int64(0)
			for _, a := range ages {
				exact += min(a, high)
			}
			drawn := must[mechanism.Measurement](t)(mechanism.Laplace{Sensitivity: big.NewInt(high), Epsilon: five}.Measure(sealed(exact)))
			sum = drawn.Values[0]
			return nil
		})
		if b := got.Columns[0].Bounds; b == nil || b.Low != float64(low) || b.High != float64(high) || got.Rows[0][0].Estimate.Value.Whole.Cmp(sum) != 0 {
			t.Errorf("seed %d: %+v, %v; the planned mechanisms find 0 to %d, and give %s", seed, b, got.Rows[0][0].Estimate.Value, high, sum)
		}
	}
}

// Where few people leave no bin above the threshold, the bounds are the value's own: never an error. A replay gives the same
// bounds and numbers, free, also to Measure, and after the home is opened again.
func TestFoundIsOneRelease(t *testing.T) {
	c := pureTerms.alone(t)
	question := Question{SQL: "SELECT SUM(age, bounds => auto) AS s, AVG(age, bounds => auto) AS a, COUNT(*) AS n FROM people"}
	first := must[*Release](t)(c.Answer(t.Context(), question))
	if b := first.Columns[0].Bounds; b == nil || b.Low != 0 || b.High != 115 {
		t.Errorf("found %+v for five people", b)
	}
	for range 2 {
		again := must[*Release](t)(c.Answer(t.Context(), question))
		x, y := fmt.Sprint(first.Rows[0][0].Estimate.Value, first.Rows[0][1].Estimate.Low, *first.Columns[1].Bounds), fmt.Sprint(again.Rows[0][0].Estimate.Value, again.Rows[0][1].Estimate.Low, *again.Columns[1].Bounds)
		if !again.Replayed || x != y {
			t.Errorf("%s, and again %s", x, y)
		}
		m := must[*Measurements](t)(c.Measure(t.Context(), question))
		if !m.Replayed || m.ID != first.ID || len(m.Cells) != 1 || len(m.Vectors) != 4 {
			t.Errorf("%+v", m)
		}
		home := c.home
		_ = c.Close()
		c = openHome(t, home)
	}
	e := must[*Explanation](t)(c.Explain(t.Context(), question))
	if !e.Replayed || e.Columns[0].Bounds.High != 115 {
		t.Errorf("%+v", e.Columns[0])
	}
	if b := must[*Budget](t)(c.Budget()); b.Spent.Epsilon != "0.5" || b.Answers != 1 {
		t.Errorf("%+v", b)
	}
}

// Accuracy first: the price is the least of two digits that should do, by an independent computation from the noise's own quantiles.
func TestWithin(t *testing.T) {
	c := pureTerms.alone(t)
	half := func(epsilon string) float64 { // of a count's 95 % interval
		e := must[privacy.Epsilon](t)(privacy.ParseEpsilon(epsilon))
		scale := must[*big.Rat](t)(privacy.LaplaceScale(big.NewInt(1), e))
		d := must[noise.DiscreteLaplace](t)(noise.NewDiscreteLaplace(scale))
		f, _ := new(big.Float).SetInt(d.Quantile(0.05 * (1 - 1e-12))).Float64()
		return f
	}
	for _, most := range []string{"3", "10", "11.5", "50", "0.5"} {
		q := Question{SQL: "SELECT region, COUNT(*) AS n FROM people GROUP BY region", Within: most}
		got := must[*Explanation](t)(c.Explain(t.Context(), q)).Price.Epsilon
		target := 0.0
		if _, err := fmt.Sscan(most, &target); err != nil {
			t.Fatal(err)
		}
		r, ok := new(big.Rat).SetString(got)
		if !ok {
			t.Fatal(got)
		}
		less := fmt.Sprintf("%.2g", must64(r)*0.985) // below it, in two digits
		if half(got) > target || less != got && half(less) <= target {
			t.Errorf("within %s: price %s gives ± %g, and %s ± %g", most, got, half(got), less, half(less))
		}
	}
	for _, s := range []struct {
		q    Question
		code Code
		want string
	}{
		{Question{SQL: "SELECT COUNT(*) FROM people", Within: "5%"}, CodePolicy, "the size of count is not known beforehand"},
		{Question{SQL: "SELECT AVG(age) FROM people", Within: "1"}, CodePolicy, "the error of avg depends on its number of rows"},
		{Question{SQL: "SELECT AVG(age, bounds => auto) FROM people", Within: "1"}, CodePolicy, "depends on the bounds"},
		{Question{SQL: "SELECT COUNT(*, epsilon => 1), SUM(age) FROM people", Epsilon: "", Within: "5"}, CodePolicy, "the aggregates' own epsilons cost"},
		{Question{SQL: "SELECT COUNT(*, epsilon => 0.1), SUM(age) FROM people", Within: "5"}, CodePolicy, "set their own epsilon"},
		{Question{SQL: "SELECT COUNT(*) FROM people", Within: "1", Epsilon: "1"}, CodeUsage, "a price or an accuracy"},
		{Question{SQL: "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM people", Within: "1"}, CodeUsage, "a price or an accuracy"},
		{Question{SQL: "SELECT COUNT(*) FROM people", Within: "0"}, CodeUsage, "must be above 0"},
		{Question{SQL: "SELECT COUNT(*) FROM people", Within: "-5%"}, CodeUsage, "must be above 0"},
		{Question{SQL: "SELECT COUNT(*) FROM people", Within: "some"}, CodeUsage, "invalid accuracy"},
		{Question{SQL: "SELECT COUNT(*) FROM people", Within: "1", At: "95%", Confidence: "0.9"}, CodeUsage, "given twice"},
		{Question{SQL: "SELECT COUNT(*) FROM people", At: "195%"}, CodeUsage, "must lie between 0 and 1"},
		{Question{SQL: "SELECT SUM(age) FROM people", Within: "0.001"}, CodePolicy, "no price up to the policy's maximum, ε = 20,"},
		{Question{SQL: "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(target_relative_error=0.1) COUNT(*) FROM people", Within: "5%"}, CodeUsage, "two different accuracies"},
		{Question{SQL: "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.1) COUNT(*) FROM people", Epsilon: "0.2"}, CodePolicy, "differs from the price given beside the question"},
	} {
		if _, err := c.Explain(t.Context(), s.q); codeOf(err) != s.code || !strings.Contains(err.Error(), s.want) {
			t.Errorf("%+v: %v", s.q, err)
		}
	}
	zcdp := zcdpTerms.alone(t)
	for _, most := range []float64{30, 80, 200} {
		const sql = "SELECT SUM(age) AS s, COUNT(*) AS n FROM people"
		width := func(q Question) float64 {
			e := must[*Explanation](t)(zcdp.Explain(t.Context(), q))
			return max(e.Columns[0].Expected.HalfWidth, e.Columns[1].Expected.HalfWidth)
		}
		wanted := Question{SQL: sql, Within: fmt.Sprint(most), At: "99%"}
		price := must[*asked](t)(zcdp.ask(wanted)).plan.Price
		epsilon := price.Price().Rat()
		less := Question{SQL: sql, Confidence: "0.99", Epsilon: fmt.Sprintf("%.6f", must64(epsilon)*0.9)}
		if x, y := width(wanted), width(less); x > most || y <= most {
			t.Errorf("within %g: %g at %s, and %g at %s", most, x, price, y, less.Epsilon)
		}
	}
}

func must64(r *big.Rat) float64 { f, _ := r.Float64(); return f }

// An earlier answer stands for the true one: what is within already is given again; else the price is what its numbers need, and as
// exact as that; rows are never looked at for it.
func TestWithinFromEarlierAnswers(t *testing.T) {
	c := pureTerms.alone(t)
	avg := Question{SQL: "SELECT AVG(age) AS a FROM people"}
	first := must[*Release](t)(c.Answer(t.Context(), Question{SQL: avg.SQL, Epsilon: "10"}))
	width := func(r *Release) float64 {
		e := r.Rows[0][0].Estimate
		return max(e.High.Real-e.Value.Real, e.Value.Real-e.Low.Real)
	}
	avg.Within = fmt.Sprintf("%.6f", width(first)*1.001)
	if r := must[*Release](t)(c.Answer(t.Context(), avg)); !r.Replayed || r.ID != first.ID {
		t.Errorf("%+v is not %s", r.ID, first.ID)
	}
	avg.Within = fmt.Sprintf("%.6f", width(first)*0.9)
	*inside(c).Engine = during{*inside(c).Engine, func() { t.Error("rows were looked at") }}
	e := must[*Explanation](t)(c.Explain(t.Context(), avg))
	r, _ := new(big.Rat).SetString(e.Price.Epsilon)
	if x := must64(r); x <= 10 || x > 14 || e.Replayed || !strings.Contains(strings.Join(e.Notes, "\n"), "according to an earlier answer, "+first.ID) {
		t.Errorf("price %s: %q", e.Price, e.Notes)
	}
	*inside(c).Engine = (*inside(c).Engine).(during).Engine
	second := must[*Release](t)(c.Answer(t.Context(), avg))
	if second.Replayed || second.Price.Epsilon != e.Price.Epsilon {
		t.Errorf("%+v", second.Price)
	}
}

// Earlier answers of every kind stand beside a question with an accuracy: those of several groupings tell it, those of groups that are not known do not, and
// quantiles have none.
func TestWithinBesideOtherAnswers(t *testing.T) {
	c := pureTerms.alone(t)
	sets := Question{SQL: "SELECT region, COUNT(*) FROM people GROUP BY ROLLUP (region)", Epsilon: "0.5"}
	first := must[*Release](t)(c.Answer(t.Context(), sets))
	sets.Epsilon, sets.Within = "", "50"
	if r := must[*Release](t)(c.Answer(t.Context(), sets)); !r.Replayed || r.ID != first.ID {
		t.Errorf("%s is not %s", r.ID, first.ID)
	}
	median := Question{SQL: "SELECT COUNT(*), MEDIAN(age) FROM people"}
	must[*Release](t)(c.Answer(t.Context(), median))
	median.Within = "5"
	if _, err := c.Explain(t.Context(), median); codeOf(err) != CodePolicy || !strings.Contains(err.Error(), "no price can be found for a quantile or a mode") {
		t.Error(err)
	}
	c = shop(t, "add-remove", "2", "", popular(200, "pear", "apple"))
	must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT gift, COUNT(*) FROM orders GROUP BY gift"})) // at a price without a δ
	open := Question{SQL: "SELECT product, COUNT(*) FROM orders GROUP BY product"}
	must[*Release](t)(c.Answer(t.Context(), open))
	open.Within = "8"
	if e := must[*Explanation](t)(c.Explain(t.Context(), open)); e.Columns[1].Expected.HalfWidth > 8 {
		t.Errorf("%+v", e.Columns[1].Expected)
	}
}

// Parts that cost more than the price do not get out, whatever they are.
func TestPartsAddUp(t *testing.T) {
	c := pureTerms.alone(t)
	a := must[*asked](t)(c.ask(Question{SQL: "SELECT AVG(age, bounds => auto) FROM people"}))
	if err := chargeable(c, a.plan); err != nil {
		t.Error(err)
	}
	a.plan.Searches[0].Histogram.Loss = privacy.PureLoss(someEpsilon(t))
	if err := chargeable(c, a.plan); !errors.Is(err, release.ErrUnplanned) {
		t.Error(err)
	}
	a = must[*asked](t)(c.ask(Question{SQL: "SELECT COUNT(*), MEDIAN(age), MODE(region) FROM people"}))
	more := a.plan.Price.Share(1, 100)
	if err := chargeable(c, a.plan); err != nil {
		t.Error(err)
	}
	for _, loss := range []*privacy.Loss{&a.plan.Quantiles[0].Loss, &a.plan.Modes[0].Loss} {
		right := *loss
		*loss = right.Plus(more)
		if err := chargeable(c, a.plan); !errors.Is(err, release.ErrUnplanned) {
			t.Error(err)
		}
		*loss = right
	}
	open := shop(t, "add-remove", "2", "", popular(9, "pear"))
	a = must[*asked](t)(open.ask(Question{SQL: "SELECT product, COUNT(*) FROM orders GROUP BY product"}))
	if err := chargeable(open, a.plan); err != nil {
		t.Error(err)
	}
	_, delta := a.plan.Price.ZCDP()
	a.plan.Selection.Loss = a.plan.Selection.Loss.Plus(privacy.ZCDPLoss(privacy.Rho{}, delta))
	if err := chargeable(open, a.plan); !errors.Is(err, release.ErrUnplanned) {
		t.Error(err)
	}
	for sql, part := range map[string]func(p *plan.Plan) *privacy.Loss{
		"SELECT SUM(age) FROM people GROUP BY CUBE (region)": func(p *plan.Plan) *privacy.Loss { return &p.Sets[1].Measures[0].Loss },
		"SELECT MEDIAN(age), COUNT(*) FROM people":           func(p *plan.Plan) *privacy.Loss { return &p.Quantiles[0].Loss },
		"SELECT MODE(region), MEDIAN(age) FROM people":       func(p *plan.Plan) *privacy.Loss { return &p.Modes[0].Loss },
	} {
		p := must[*asked](t)(c.ask(Question{SQL: sql})).plan
		*part(p) = part(p).Plus(privacy.PureLoss(someEpsilon(t)))
		if err := chargeable(c, p); !errors.Is(err, release.ErrUnplanned) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// chargeable says whether a plan's parts cost what its price is, as the kernel asks before it takes the plan.
func chargeable(c *Owner, p *plan.Plan) error {
	_, err := c.kernel.Query(p, release.Asker{}, release.Recalled{}, derivable)
	return err
}

// Under a budget in ε and δ, a refusal names a price by the ε of the question and of the policy, beside the ρ that it costs.
func TestRefusalsNamePricesAsQuestionsDo(t *testing.T) {
	c := limitsHome(t)
	refused := func(epsilon string) string {
		_, err := c.Answer(t.Context(), Question{SQL: "SELECT AVG(age) FROM people", Epsilon: epsilon, Fresh: true})
		if err == nil {
			return ""
		}
		return err.Error()
	}
	for epsilon, want := range map[string]string{
		"0.3":     "a price of --epsilon 0.3 (ρ = 0.045) is above the policy's maximum of --epsilon 0.05 (ρ = 0.00125, δ = 0.0000001) for one question",
		"0.00001": "a price of --epsilon 0.00001 (ρ = 0.00000000005) is below the policy's minimum of --epsilon 0.0021968 (ρ = 0.00000241297)",
	} {
		if got := refused(epsilon); !strings.HasPrefix(got, want) {
			t.Errorf("at ε = %s: got %q, want %q", epsilon, got, want)
		}
	}
	for epsilon, want := range map[string]string{"0.00001": "48300/1", "0.002": "121/100", "0.3": ""} {
		_, err := c.Answer(t.Context(), Question{SQL: "SELECT AVG(age) FROM people", Epsilon: epsilon, Fresh: true})
		var refused *Error
		if !errors.As(err, &refused) {
			t.Fatalf("at ε = %s: %v", epsilon, err)
		}
		times, inRho := refused.TooLow()
		if (want == "") != (times == nil) || times != nil && (!inRho || times.String() != want) {
			t.Errorf("at ε = %s: %v times as much, not %s; in ρ: %t", epsilon, times, want, inRho)
		}
	}
	rho := func(text string) privacy.Loss {
		r, err := privacy.ParseRho(text)
		if err != nil {
			t.Fatal(err)
		}
		return privacy.ZCDPLoss(r, privacy.Delta{})
	}
	overdrawn := &privacy.OverdrawError{Price: rho("0.00125"), Remaining: rho("0.0001234567"), Budget: rho("0.02")}
	const remains = "is exhausted: the price is --epsilon 0.05 (ρ = 0.00125), but only ρ = 0.000123456 of ρ = 0.02 remains"
	for want, err := range map[string]error{
		"the budget " + remains: overdrawn,
		"the grant of this day " + remains + "; the next grant is on 2026-01-02": &ledger.LimitError{
			Of: "the grant of this day", Err: overdrawn, Next: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		},
	} {
		e := c.notReserved(err)
		if e.Code != CodeExhausted || e.Message != want || !strings.HasPrefix(e.Hint, "ask with --epsilon 0.0157134 or less") {
			t.Errorf("got %+v, want %q", e, want)
		}
	}
}
