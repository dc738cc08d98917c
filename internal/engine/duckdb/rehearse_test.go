package duckdb

import (
	"context"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// What the plan admits, a rehearsal runs.
func TestRehearsalsOfTotalQuestions(t *testing.T) {
	b := newBench(t)
	rapid.Check(t, func(t *rapid.T) {
		sql := enginetest.Question(t, rapid.SampledFrom([]string{"t", "p"}).Draw(t, "table"))
		p, err := plan.Build(b.policy, plan.Request{SQL: sql})
		if err != nil {
			return
		}
		if err := b.Rehearse(context.Background(), &p.Bounded, engine.Sealed{}); err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
	})
}

// A plan whose expressions are not total is caught, though no row of the sealed file has the values that break it.
func TestRehearsalCatches(t *testing.T) {
	b := newBench(t)
	column := func(of value.Type) *plan.Expr {
		return &plan.Expr{Op: plan.OpColumn, Type: of, Name: "v", Nullable: true}
	}
	integer, real := column(value.Integer), column(value.Real)
	for name, broken := range map[string]*plan.Expr{
		"sum of 64-bit integers":  {Op: plan.OpAdd, Type: value.Integer, Args: []*plan.Expr{integer, integer}},
		"product":                 {Op: plan.OpMul, Type: value.Integer, Args: []*plan.Expr{integer, integer}},
		"negation of the least":   {Op: plan.OpNeg, Type: value.Integer, Args: []*plan.Expr{integer}},
		"real too large to floor": {Op: plan.OpFloor, Type: value.Integer, Args: []*plan.Expr{real}},
		"exponential overflow":    {Op: plan.OpToInteger, Type: value.Integer, Args: []*plan.Expr{{Op: plan.OpExp, Type: value.Real, Args: []*plan.Expr{real}}}},
	} {
		c := plan.Column{Column: &policy.Column{Name: "v", Type: value.Integer}}
		broken.Walk(func(x *plan.Expr) {
			if x == real {
				c.Column = &policy.Column{Name: "v", Type: value.Real}
				c.Range = plan.Range{Lo: -math.MaxFloat64, Hi: math.MaxFloat64}
			}
		})
		bounded := &plan.Bounded{
			Columns:  []plan.Column{c},
			Measures: []*plan.BoundedMeasure{{Kind: plan.Sum, X: broken, Lo: 0, Hi: 1}},
			Caps:     plan.Caps{Rows: 1, Groups: 1},
		}
		if err := b.Rehearse(context.Background(), bounded, engine.Sealed{}); err == nil {
			t.Errorf("%s: not caught", name)
		}
	}
}

// Questions of every column are rehearsed like others.
func TestRehearseEveryColumn(t *testing.T) {
	b := newBench(t)
	var conditions []string
	for _, c := range b.policy.Table("p").Columns {
		conditions = append(conditions, c.Name+" IS NULL")
	}
	p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT COUNT(DISTINCT person) FROM p WHERE " + strings.Join(conditions, " OR ") + " GROUP BY k, b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Rehearse(t.Context(), &p.Bounded, engine.Sealed{}); err != nil {
		t.Error(err)
	}
}
