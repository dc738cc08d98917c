package duckdb

import (
	"context"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
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
		if err := b.Rehearse(context.Background(), &p.Statement, engine.Sealed{}); err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
	})
}

// A plan whose expressions are not total is caught, though no row of the sealed file has the values that break it.
func TestRehearsalCatches(t *testing.T) {
	b := newBench(t)
	column := func(of value.Type) *bounded.Expr {
		return &bounded.Expr{Op: bounded.OpColumn, Type: of, Name: "v", Nullable: true}
	}
	integer, real := column(value.Integer), column(value.Real)
	for name, broken := range map[string]*bounded.Expr{
		"sum of 64-bit integers":  {Op: bounded.OpAdd, Type: value.Integer, Args: []*bounded.Expr{integer, integer}},
		"product":                 {Op: bounded.OpMul, Type: value.Integer, Args: []*bounded.Expr{integer, integer}},
		"negation of the least":   {Op: bounded.OpNeg, Type: value.Integer, Args: []*bounded.Expr{integer}},
		"real too large to floor": {Op: bounded.OpFloor, Type: value.Integer, Args: []*bounded.Expr{real}},
		"exponential overflow": {
			Op: bounded.OpToInteger, Type: value.Integer,
			Args: []*bounded.Expr{{Op: bounded.OpExp, Type: value.Real, Args: []*bounded.Expr{real}}},
		},
	} {
		c := bounded.Column{Column: &policy.Column{Name: "v", Type: value.Integer}}
		broken.Walk(func(x *bounded.Expr) {
			if x == real {
				c.Column = &policy.Column{Name: "v", Type: value.Real}
				c.Range = bounded.Range{Lo: -math.MaxFloat64, Hi: math.MaxFloat64}
			}
		})
		bounded := &bounded.Statement{
			Columns:  []bounded.Column{c},
			Measures: []*bounded.Measure{{Kind: bounded.Sum, X: broken, Lo: 0, Hi: 1}},
			Caps:     bounded.Caps{Rows: 1, Groups: 1},
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
	p, err := plan.Build(b.policy,
		plan.Request{SQL: "SELECT COUNT(DISTINCT person) FROM p WHERE " + strings.Join(conditions, " OR ") +
			" GROUP BY k, b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Rehearse(t.Context(), &p.Statement, engine.Sealed{}); err != nil {
		t.Error(err)
	}
}
