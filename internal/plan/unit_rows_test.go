package plan_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/reuse"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

// A bound on rows that is found, over neighbouring tables of hostile rows: the score of every number that could be drawn moves by at most
// the planned sensitivity, and with any bound that could come out, each measure by at most the sensitivity of that bound.
func TestFoundRowsStayWithinSensitivity(t *testing.T) {
	acrossNeighboursOf(t, 900, func(t *rapid.T, p *policy.Policy, table string) (*bounded.Statement, func(before, after []enginetest.Row) bool) {
		if table != "p" {
			return nil, nil
		}
		request := plan.Request{
			SQL: enginetest.Question(t, table), AutoRows: true, MaxGroups: int64(rapid.IntRange(0, 4).Draw(t, "max groups")),
			RowsRank: big.NewRat(int64(rapid.IntRange(1, 100).Draw(t, "rank")), 100),
		}
		planned, err := plan.Build(p, request)
		if err != nil {
			return nil, nil
		}
		q := foundAnything(t, enginetest.FoundRows(t, planned))
		return &q.Statement, func(before, after []enginetest.Row) bool {
			s := planned.Rows
			x, y := scoresOf(t, s, before), scoresOf(t, s, after)
			for i := range x {
				if d := new(big.Rat).Sub(x[i], y[i]); d.Abs(d).Cmp(s.Sensitivity) > 0 {
					t.Fatalf("%s: the score of %d moves by %s, planned %s\n%v\n%v", request.SQL, i+1, d, s.Sensitivity, before, after)
				}
			}
			of := fmt.Sprintf("%s with %d rows", request.SQL, q.Rows.Found)
			return measuresStayWithin(t, of, q, before, after)
		}
	})
}

// scoresOf are the rank errors d(o) of the numbers that could be drawn, from 1 on, by the definition.
func scoresOf(t *rapid.T, s *plan.RowSearch, rows []enginetest.Row) (out []*big.Rat) {
	counts, n := enginetest.Order(&s.Look, rows), int64(0)
	for v, k := range counts {
		if v < 1 || v > s.Most {
			t.Fatalf("%d rows of one unit, of at most %d", v, s.Most)
		}
		n += k
	}
	at := new(big.Rat).Mul(s.Rank, big.NewRat(n, 1))
	for o := int64(1); o <= s.Most; o++ {
		below, upTo := int64(0), int64(0)
		for v, k := range counts {
			if v < o {
				below += k
			}
			if v <= o {
				upTo += k
			}
		}
		d := new(big.Rat)
		for _, e := range []*big.Rat{new(big.Rat).Sub(big.NewRat(below, 1), at), new(big.Rat).Sub(at, big.NewRat(upTo, 1))} {
			if e.Cmp(d) > 0 {
				d = e
			}
		}
		out = append(out, d)
	}
	return out
}

// What is found is the cap, at the shares that were fixed before: a tenth for the bound, and of the rest what each would have had of all.
func TestFoundRows(t *testing.T) {
	for _, c := range []struct {
		sql, shares, before, with3 string
	}{
		{"SELECT COUNT(*) FROM visits", "count ε = 0.9", "12", "3"},
		{"SELECT SUM(days), COUNT(*, weight => 3) FROM visits", "count ε = 0.675, sum ε = 0.225", "372", "93"},
		{"SELECT AVG(days) FROM visits", "sum ε = 0.45, count ε = 0.45", "204", "51"},
		{"SELECT SUM(days, bounds => auto) FROM visits", "sum ε = 0.45", "360", "90"},
		{"SELECT department, COUNT(*) FROM visits GROUP BY department", "count ε = 0.9", "12", "3"},
		{"SELECT department, COUNT(DISTINCT person) FROM visits GROUP BY department", "count ε = 0.9", "3", "3"},
		{"SELECT department, COUNT(*) FROM visits GROUP BY ROLLUP (department)", "count ε = 0.9", "24", "6"},
		{"SELECT COUNT(DISTINCT days) FROM visits", "count ε = 0.9", "12", "3"},
		{"SELECT COUNT(*) FROM (SELECT v.days FROM visits v JOIN visits w ON v.person = w.person) q", "count ε = 0.9", "144", "3"},
	} {
		p, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: c.sql, AutoRows: true})
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		q, err := p.WithRows(3)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*plan.Plan{p, q} {
			var got []string
			for _, m := range p.Measures {
				got = append(got, m.Name()+" "+m.Loss.String())
			}
			if text := strings.Join(got, ", "); text != c.shares || p.Rows.Loss.String() != "ε = 0.1" {
				t.Errorf("%s: shares %s beside %s", c.sql, text, p.Rows.Loss)
			}
		}
		if x, y := p.Sensitivity().RatString(), q.Sensitivity().RatString(); x != c.before || y != c.with3 {
			t.Errorf("%s: sensitivity %s, with 3 rows %s", c.sql, x, y)
		}
		given, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: c.sql, MaxRows: 3})
		if err != nil || given.Caps != q.Caps || given.Sensitivity().Cmp(q.Sensitivity()) != 0 {
			t.Errorf("%s: with 3 rows %v, and where they are given %v (%v)", c.sql, q.Caps, given.Caps, err)
		}
		for _, rows := range []int64{0, -1, p.Rows.Most + 1} {
			if _, err := p.WithRows(rows); err == nil {
				t.Errorf("%s: a bound of %d rows could be found", c.sql, rows)
			}
		}
		if _, err := q.WithRows(2); err == nil {
			t.Errorf("%s: a bound is found twice", c.sql)
		}
	}
}

// The draw is the mechanism's: its error in ranks, and what it costs.
func TestFoundRowsDraw(t *testing.T) {
	for _, relation := range []string{"add-remove", "change-one"} {
		for _, p := range []*policy.Policy{townPolicy(t, relation), zcdpPolicy(t, relation)} {
			for _, rank := range []*big.Rat{nil, big.NewRat(1, 2), big.NewRat(9999, 10_000), big.NewRat(1, 1)} {
				q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM visits", AutoRows: true, RowsRank: rank})
				if err != nil {
					t.Fatal(err)
				}
				s := q.Rows
				m := quantile.Single{Domain: quantile.Domain{Lower: 1, Upper: 12}, Unit: mechanism.Unit{Neighbours: q.Neighbours, MaxRows: 1}, Rank: s.Rank, Epsilon: s.Draw()}
				for _, alpha := range []float64{0.05, 1e-6} {
					if want, err := m.RankError(alpha); err != nil || s.RankError(alpha) != want {
						t.Errorf("%s %s: off by %v, the mechanism by %v (%v)", relation, s, s.RankError(alpha), want, err)
					}
				}
				loss := privacy.PureLoss(s.Draw())
				if _, pure := q.Price.Pure(); !pure {
					loss = m.BoundedRange()
				}
				if !loss.Within(s.Loss) {
					t.Errorf("%s %s: costs %s, of %s", relation, s, loss, s.Loss)
				}
				if n := s.EnoughUnits(0.05); s.Rank.Cmp(big.NewRat(1, 1)) < 0 && n < s.RankError(0.05) {
					t.Errorf("%s: %v units are enough", s, n)
				}
			}
		}
	}
}

// A question with a bound that is to be found is a release of its own, by whatever means it asks for it.
func TestFoundRowsAreARelease(t *testing.T) {
	const sql = "SELECT department, COUNT(*) FROM visits GROUP BY department"
	key := func(r plan.Request) string {
		t.Helper()
		if r.SQL == "" {
			r.SQL = sql
		}
		p, err := plan.Build(townPolicy(t, "add-remove"), r)
		if err != nil {
			t.Fatal(err)
		}
		if p.Rows != nil && reuse.Followable(p) {
			t.Error("what is found is followed from")
		}
		return p.Key(1)
	}
	written := func(options string) plan.Request {
		return plan.Request{SQL: dp + options + strings.TrimPrefix(sql, "SELECT")}
	}
	of := map[string]string{}
	for name, k := range map[string]string{
		"the policy's": key(plan.Request{}), "given": key(plan.Request{MaxRows: 3}), "auto": key(plan.Request{AutoRows: true}),
		"the median": key(plan.Request{AutoRows: true, RowsRank: big.NewRat(1, 2)}),
	} {
		if of[k] != "" {
			t.Errorf("%s and %s are one release", name, of[k])
		}
		of[k] = name
	}
	for options, want := range map[string]string{
		"(max_rows_contributed=auto)": "auto", "(MAX_ROWS_CONTRIBUTED=AUTO)": "auto", "(max_rows_contributed=auto, max_rows_quantile=0.99)": "auto",
		"(max_rows_quantile=.5, max_rows_contributed=auto)": "the median", "(max_rows_contributed=3)": "given",
	} {
		if got := of[key(written(options))]; got != want {
			t.Errorf("%s is %s, not %s", options, got, want)
		}
	}
	p, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: sql, AutoRows: true})
	if err != nil {
		t.Fatal(err)
	}
	q, err := p.WithRows(12)
	if err != nil || q.Key(1) == p.Key(1) {
		t.Errorf("a bound that is found is none that is to be found (%v)", err)
	}
}

func TestFoundRowsAreRefused(t *testing.T) {
	const n = " COUNT(*) FROM visits"
	for _, c := range []struct {
		request plan.Request
		want    string
	}{
		{plan.Request{SQL: dp + "(max_rows_contributed=auto) COUNT(*) FROM people"}, "1:42: each row is a unit here"},
		{plan.Request{SQL: "SELECT COUNT(*) FROM people", AutoRows: true}, "each row is a unit here"},
		{plan.Request{SQL: "SELECT COUNT(DISTINCT person) FROM visits", AutoRows: true}, "a bound on rows has no effect here: each person counts once"},
		{plan.Request{SQL: dp + "(max_rows_contributed=auto) AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) q"}, "1:42: only one row of each person counts"},
		{plan.Request{SQL: "SELECT COUNT(*, epsilon => 1) FROM visits", AutoRows: true}, "the search for a bound on rows takes a share"},
		{plan.Request{SQL: "SELECT SUM(days, contribution_bounds_per_group => (0, 5)) FROM visits", AutoRows: true}, "1:8: max_rows_contributed and bounds per group exclude"},
		{plan.Request{SQL: dp + "(max_rows_contributed=auto, max_groups_contributed=1)" + n}, "1:42: max_groups_contributed and max_rows_contributed exclude"},
		{plan.Request{SQL: dp + "(max_rows_contributed=3)" + n, AutoRows: true}, "1:42: the question's max_rows_contributed differs from --max-rows"},
		{plan.Request{SQL: dp + "(max_rows_contributed=auto)" + n, MaxRows: 3}, "1:42: the question's max_rows_contributed differs from --max-rows"},
		{plan.Request{SQL: dp + "(max_rows_contributed=4)" + n, MaxRows: 3}, "1:42: the question's max_rows_contributed differs from --max-rows"},
		{plan.Request{SQL: dp + "(max_rows_contributed='auto')" + n}, "1:63: max_rows_contributed is a whole number"},
		{plan.Request{SQL: dp + "(max_rows_contributed=visits.auto)" + n}, "1:63: max_rows_contributed is a whole number"},
		{plan.Request{SQL: dp + "(max_rows_contributed=automatic)" + n}, "1:63: max_rows_contributed is a whole number"},
		{plan.Request{SQL: dp + "(max_rows_quantile=0.9)" + n}, "1:42: max_rows_quantile applies only to max_rows_contributed=auto"},
		{plan.Request{SQL: dp + "(max_rows_contributed=3, max_rows_quantile=0.9)" + n}, "1:66: max_rows_quantile applies only to"},
		{plan.Request{SQL: dp + "(max_rows_contributed=auto, max_rows_quantile=0)" + n}, "1:87: max_rows_quantile must be above 0"},
		{plan.Request{SQL: dp + "(max_rows_contributed=auto, max_rows_quantile=1.5)" + n}, "1:87: a quantile's rank is a decimal"},
		{plan.Request{SQL: dp + "(max_rows_contributed=auto, max_rows_quantile=0.12345)" + n}, "1:87: a quantile's rank is a decimal"},
		{plan.Request{SQL: "SELECT" + n, MaxRows: -1}, "max_rows is between 1 and 1000000, or auto"},
		{plan.Request{SQL: "SELECT" + n, MaxRows: 1_000_001}, "max_rows is between 1 and 1000000, or auto"},
	} {
		p := townPolicy(t, "add-remove")
		_, err := plan.Build(p, c.request)
		if text := fmt.Sprint(err); !strings.HasPrefix(text, c.want) {
			t.Errorf("%s\ngot  %s\nwant %s", c.request.SQL, text, c.want)
		}
	}
	for _, r := range []plan.Request{{SQL: "SELECT days FROM visits", AutoRows: true}, {SQL: "SELECT COUNT(*) FROM visits", AutoRows: true}, {SQL: "SELECT COUNT(*) FROM visits", MaxRows: 3}} {
		_, order := plan.BuildOrder(townPolicy(t, "add-remove"), r)
		_, scores := plan.BuildScores(townPolicy(t, "add-remove"), r)
		if order == nil || scores == nil {
			t.Errorf("%s: a look at scores or ranks has a bound on rows", r.SQL)
		}
	}
	if _, err := build(t, "add-remove", "SELECT COUNT(*) FROM visits").WithRows(3); err == nil || errors.Is(err, mechanism.ErrParameter) {
		t.Error("a bound is found that was not asked for:", err)
	}
}
