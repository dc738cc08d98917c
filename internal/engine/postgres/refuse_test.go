package postgres

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// fields are those of what a bounded aggregate is made of, and what becomes of each here. "asked" fields are those that a statement is written from; the
// property tests hold what it gives against the reference. "refused" ones are refused. The "plan's" say what noise is added, and no statement depends on them.
var fields = map[reflect.Type]map[string]string{
	reflect.TypeFor[plan.Bounded](): {
		"Table": "plan's", "Source": "asked", "Unit": "asked", "Columns": "asked", "Where": "asked", "Keys": "asked", "Measures": "asked", "Caps": "asked",
		"Part": "asked", "Ordered": "asked", "Chosen": "asked", "Other": "asked", "RowVectors": "asked", "Unranked": "plan's", "reads": "asked",
	},
	reflect.TypeFor[plan.Vectors](): {"Blocks": "asked", "Sums": "asked", "Centres": "asked"},
	reflect.TypeFor[plan.Block]():   {"First": "asked", "Size": "asked", "Norm": "asked", "Grid": "plan's", "Scale": "asked", "Most": "asked"},
	reflect.TypeFor[plan.BoundedSum](): {"Kind": "asked", "I": "asked", "J": "asked"},
	reflect.TypeFor[plan.Source](): {
		"Op": "asked", "Inputs": "asked", "Columns": "asked", "Units": "asked", "Table": "asked", "Unit": "asked", "ChildKey": "asked", "ParentKey": "asked", "Where": "asked",
		"Exprs": "asked", "Left": "asked", "Pairs": "asked", "Within": "asked", "Most": "asked", "Aggregates": "asked", "Single": "asked", "Stored": "asked",
	},
	reflect.TypeFor[plan.Pair]():  {"L": "asked", "R": "asked"},
	reflect.TypeFor[plan.Inner](): {"Func": "asked", "X": "asked", "Grid": "asked", "Lo": "asked", "Hi": "asked", "Type": "plan's"},
	reflect.TypeFor[plan.Caps]():  {"Rows": "asked", "Groups": "asked", "RowsPerGroup": "asked"},
	reflect.TypeFor[plan.Key]():   {"Expr": "asked", "Values": "asked", "Open": "asked", "Null": "asked"},
	reflect.TypeFor[plan.Part]():  {"Column": "asked", "PerUnit": "asked", "Values": "plan's"},
	reflect.TypeFor[plan.BoundedMeasure](): {
		"Kind": "asked", "X": "asked", "Grid": "asked", "Centre": "asked", "Lo": "asked", "Hi": "asked", "Cells": "asked", "Values": "plan's",
	},
	reflect.TypeFor[plan.Column](): {"Column": "asked", "Range": "asked", "Weight": "plan's", "Unread": "plan's"},
	reflect.TypeFor[plan.Expr](): {
		"Op": "asked", "Type": "asked", "Args": "asked", "Const": "asked", "Column": "asked", "Name": "plan's", "Derived": "plan's", "Text": "asked", "Range": "plan's", "Nullable": "plan's", "size": "plan's",
	},
}

// Whoever gives a bounded aggregate another word decides here what it means on a server.
func TestEveryFieldIsKnown(t *testing.T) {
	for of, known := range fields {
		seen := map[string]bool{}
		for i := range of.NumField() {
			name := of.Field(i).Name
			if seen[name] = true; known[name] == "" {
				t.Errorf("%s.%s: does the engine obey it, or refuse it?", of, name)
			}
		}
		for name := range known {
			if !seen[name] {
				t.Errorf("%s.%s is no more", of, name)
			}
		}
	}
}

// Every operation of the plan can be written, or is refused.
func TestEveryOperationIsKnown(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../plan/expr.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Op") || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		op, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		if found++; !known(&plan.Expr{Op: plan.Op(op)}) {
			t.Errorf("%s is not known", spec.Names[0].Name)
		}
		return true
	})
	if found < 30 {
		t.Errorf("%d operations were found", found)
	}
}

// What the engine has no statement for is refused before it looks for a server.
func TestRefused(t *testing.T) {
	unit := &plan.Column{Column: &policy.Column{Name: "person", Type: value.Integer}}
	whole := &plan.Expr{Op: plan.OpConst, Type: value.Integer, Const: value.OfInt(1)}
	odd := &plan.Expr{Op: "odd", Type: value.Integer, Args: []*plan.Expr{whole}}
	count := &plan.BoundedMeasure{Kind: plan.CountRows, Hi: 1}
	sum := &plan.BoundedMeasure{Kind: plan.Sum, X: whole, Hi: 1}
	clamped := *count
	clamped.Cells = &plan.Cells{Lo: new(big.Int), Hi: big.NewInt(1)}
	good := plan.Bounded{Table: "t", Unit: unit, Columns: []plan.Column{*unit}, Measures: []*plan.BoundedMeasure{count}, Caps: plan.Caps{Rows: 1}}
	if err := refuse(&good, engine.Sealed{}); err != nil {
		t.Fatal(err)
	}
	scan, pairs := &plan.Source{Op: plan.Scan, Table: "t"}, []plan.Pair{{L: whole}}
	over := func(inputs ...*plan.Source) *plan.Source { return &plan.Source{Op: plan.Select, Inputs: inputs} }
	joining := func(most int64, pairs []plan.Pair, within []int) *plan.Source {
		return &plan.Source{Op: plan.Join, Inputs: []*plan.Source{scan, scan}, Most: most, Pairs: pairs, Within: within}
	}
	each := func(a plan.Inner) *plan.Source {
		return &plan.Source{Op: plan.PerUnit, Inputs: []*plan.Source{scan}, Aggregates: []plan.Inner{a}}
	}
	for _, s := range []*plan.Source{over(scan), joining(1, pairs, []int{0}), each(plan.Inner{Func: plan.InnerRows})} {
		b := good
		b.Source = s
		if err := refuse(&b, engine.Sealed{}); err != nil {
			t.Errorf("%s: %v", s.Op, err)
		}
	}
	for name, change := range map[string]func(*plan.Bounded){
		"odd relation":                 func(b *plan.Bounded) { b.Source = &plan.Source{Op: "odd"} },
		"odd relation below":           func(b *plan.Bounded) { b.Source = over(&plan.Source{Op: "odd"}) },
		"part of a relation":           func(b *plan.Bounded) { b.Source, b.Part = over(scan), &plan.Part{PerUnit: 1} },
		"odd operation in a relation":  func(b *plan.Bounded) { b.Source = over(scan); b.Source.Exprs = []*plan.Expr{odd} },
		"odd condition in a relation":  func(b *plan.Bounded) { b.Source = over(scan); b.Source.Where = odd },
		"condition of a scan":          func(b *plan.Bounded) { b.Source = over(&plan.Source{Op: plan.Scan, Table: "t", Where: whole}) },
		"one input too many":           func(b *plan.Bounded) { b.Source = over(scan, scan) },
		"union of nothing":             func(b *plan.Bounded) { b.Source = &plan.Source{Op: plan.Union} },
		"expressions of a join":        func(b *plan.Bounded) { b.Source = joining(1, pairs, []int{0}); b.Source.Exprs = []*plan.Expr{whole} },
		"a join without a bound":       func(b *plan.Bounded) { b.Source = joining(0, pairs, []int{0}) },
		"a join within nothing":        func(b *plan.Bounded) { b.Source = joining(1, pairs, nil) },
		"a join within another column": func(b *plan.Bounded) { b.Source = joining(1, nil, []int{0}) },
		"odd pair":                     func(b *plan.Bounded) { b.Source = joining(1, []plan.Pair{{L: odd}}, []int{0}) },
		"odd aggregate in a unit":      func(b *plan.Bounded) { b.Source = each(plan.Inner{Func: "odd", X: whole}) },
		"aggregate of odd in a unit":   func(b *plan.Bounded) { b.Source = each(plan.Inner{Func: plan.InnerMin, X: odd}) },
		"aggregate of nothing":         func(b *plan.Bounded) { b.Source = each(plan.Inner{Func: plan.InnerMin}) },
		"part of a live table":         func(b *plan.Bounded) { b.Part = &plan.Part{PerUnit: 1} },
		"odd kind":                     func(b *plan.Bounded) { b.Measures = []*plan.BoundedMeasure{{Kind: "odd"}} },
		"odd operation of a measure":   func(b *plan.Bounded) { b.Measures = []*plan.BoundedMeasure{{Kind: plan.Sum, X: odd}} },
		"odd operation in WHERE":       func(b *plan.Bounded) { b.Where = odd },
		"odd operation of a key":       func(b *plan.Bounded) { b.Keys = []plan.Key{{Expr: odd}} },
		"no caps":                      func(b *plan.Bounded) { b.Caps = plan.Caps{} },
		"both caps":                    func(b *plan.Bounded) { b.Caps = plan.Caps{Rows: 1, Groups: 1, RowsPerGroup: 1} },
		"rows per group alone":         func(b *plan.Bounded) { b.Caps = plan.Caps{RowsPerGroup: 1} },
		"cells beside rows":            func(b *plan.Bounded) { b.Measures = []*plan.BoundedMeasure{&clamped} },
		"cells without a unit":         func(b *plan.Bounded) { b.Unit, b.Measures = nil, []*plan.BoundedMeasure{&clamped} },
		"rows per group, without unit": func(b *plan.Bounded) { b.Unit, b.Caps = nil, plan.Caps{Groups: 1, RowsPerGroup: 1} },
		"units without groups":         func(b *plan.Bounded) { b.Measures = []*plan.BoundedMeasure{{Kind: plan.CountUnits, Hi: 1}} },
		"distinct by groups": func(b *plan.Bounded) {
			b.Measures, b.Caps = []*plan.BoundedMeasure{{Kind: plan.CountDistinct, X: whole, Hi: 1}}, plan.Caps{Groups: 1, RowsPerGroup: 1}
		},
		"rows of units beside a count": func(b *plan.Bounded) {
			b.Measures = []*plan.BoundedMeasure{count, {Kind: plan.UnitRows, Lo: 1, Hi: 3}}
		},
		"rows of units not in order": func(b *plan.Bounded) {
			b.Measures, b.Caps = []*plan.BoundedMeasure{{Kind: plan.UnitRows, Lo: 1, Hi: 3}}, plan.Caps{}
		},
		"several in order": func(b *plan.Bounded) { b.Ordered, b.Measures = true, []*plan.BoundedMeasure{sum, sum} },
		"counts in order":  func(b *plan.Bounded) { b.Ordered = true },
		"open keys in order": func(b *plan.Bounded) {
			b.Ordered, b.Measures, b.Keys = true, []*plan.BoundedMeasure{sum}, []plan.Key{{Expr: whole, Open: true}}
		},
		"other among known groups": func(b *plan.Bounded) { b.Other = true },
		"chosen known groups":      func(b *plan.Bounded) { b.Chosen = [][]value.Value{{}} },
	} {
		b := good
		b.Columns = slices.Clone(good.Columns)
		change(&b)
		err := New(source("t")).Rehearse(t.Context(), &b, engine.Sealed{}) // there is no such server
		if !errors.As(err, new(*engine.RefusedError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
