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

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/policy"
	"dither/internal/value"
)

// fields are those of what a bounded aggregate is made of, and what becomes of each here. "asked" fields are those that
// a statement is written from; the property tests hold what it gives against the reference. "refused" ones are refused.
// The "plan's" say what noise is added, and no statement depends on them.
var fields = map[reflect.Type]map[string]string{
	reflect.TypeFor[bounded.Statement](): {
		"Table": "plan's", "Source": "asked", "Unit": "asked", "Columns": "asked", "Where": "asked", "Keys": "asked",
		"Measures": "asked", "Caps": "asked",
		"Part": "asked", "Ordered": "asked", "Chosen": "asked", "Other": "asked", "RowVectors": "asked",
		"Unranked": "plan's", "reads": "asked",
	},
	reflect.TypeFor[bounded.Vectors](): {"Blocks": "asked", "Sums": "asked", "Centres": "asked"},
	reflect.TypeFor[bounded.Block](): {
		"First": "asked", "Size": "asked", "Norm": "asked", "Grid": "plan's",
		"Scale": "asked", "Most": "asked",
	},
	reflect.TypeFor[bounded.VectorSum](): {"Kind": "asked", "I": "asked", "J": "asked"},
	reflect.TypeFor[bounded.Source](): {
		"Op": "asked", "Inputs": "asked", "Columns": "asked", "Units": "asked", "Table": "asked", "Unit": "asked",
		"ChildKey": "asked", "ParentKey": "asked", "Where": "asked",
		"Exprs": "asked", "Left": "asked", "Pairs": "asked", "Within": "asked", "Most": "asked", "Aggregates": "asked", "Single": "asked", "Stored": "asked",
		"Order": "asked", "Windows": "asked",
		"Loose": "plan's",
	},
	reflect.TypeFor[bounded.Pair](): {"L": "asked", "R": "asked"},
	reflect.TypeFor[bounded.Inner](): {
		"Func": "asked", "X": "asked", "Grid": "asked", "Lo": "asked", "Hi": "asked", "Num": "asked", "Den": "asked", "Offset": "asked",
		"Type": "plan's",
	},
	reflect.TypeFor[bounded.Caps](): {"Rows": "asked", "Groups": "asked", "RowsPerGroup": "asked"},
	reflect.TypeFor[bounded.Key]():  {"Expr": "asked", "Values": "asked", "Open": "asked", "Null": "asked"},
	reflect.TypeFor[bounded.Part](): {"Column": "asked", "PerUnit": "asked", "Values": "plan's"},
	reflect.TypeFor[bounded.Measure](): {
		"Kind": "asked", "X": "asked", "Grid": "asked", "Centre": "asked", "Lo": "asked", "Hi": "asked",
		"Cells": "asked", "Values": "plan's", "Size": "asked",
	},
	reflect.TypeFor[bounded.Column](): {"Column": "asked", "Range": "asked", "Weight": "plan's", "Unread": "plan's"},
	reflect.TypeFor[bounded.Expr](): {
		"Op": "asked", "Type": "asked", "Args": "asked", "Const": "asked", "Column": "asked", "Name": "plan's",
		"Derived": "plan's", "Text": "asked", "Range": "plan's", "Nullable": "plan's", "Dropped": "plan's", "size": "plan's",
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
	file, err := parser.ParseFile(token.NewFileSet(), "../../bounded/expr.go", nil, 0)
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
		if found++; !known(&bounded.Expr{Op: bounded.Op(op)}) {
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
	unit := &bounded.Column{Column: &policy.Column{Name: "person", Type: value.Integer}}
	whole := &bounded.Expr{Op: bounded.OpConst, Type: value.Integer, Const: value.OfInt(1)}
	odd := &bounded.Expr{Op: "odd", Type: value.Integer, Args: []*bounded.Expr{whole}}
	count := &bounded.Measure{Kind: bounded.CountRows, Hi: 1}
	sum := &bounded.Measure{Kind: bounded.Sum, X: whole, Hi: 1}
	clamped := *count
	clamped.Cells = &bounded.Cells{Lo: new(big.Int), Hi: big.NewInt(1)}
	good := bounded.Statement{
		Table: "t", Unit: unit, Columns: []bounded.Column{*unit},
		Measures: []*bounded.Measure{count}, Caps: bounded.Caps{Rows: 1},
	}
	if err := refuse(&good, engine.Sealed{}); err != nil {
		t.Fatal(err)
	}
	scan, pairs := &bounded.Source{Op: bounded.Scan, Table: "t"}, []bounded.Pair{{L: whole}}
	over := func(inputs ...*bounded.Source) *bounded.Source {
		return &bounded.Source{Op: bounded.Select, Inputs: inputs}
	}
	joining := func(most int64, pairs []bounded.Pair, within []int) *bounded.Source {
		return &bounded.Source{
			Op: bounded.Join, Inputs: []*bounded.Source{scan, scan}, Most: most, Pairs: pairs,
			Within: within,
		}
	}
	each := func(a bounded.Inner) *bounded.Source {
		return &bounded.Source{Op: bounded.PerUnit, Inputs: []*bounded.Source{scan}, Aggregates: []bounded.Inner{a}}
	}
	for _, s := range []*bounded.Source{
		over(scan), joining(1, pairs, []int{0}),
		each(bounded.Inner{Func: bounded.InnerRows}),
	} {
		b := good
		b.Source = s
		if err := refuse(&b, engine.Sealed{}); err != nil {
			t.Errorf("%s: %v", s.Op, err)
		}
	}
	for name, change := range map[string]func(*bounded.Statement){
		"odd relation":       func(b *bounded.Statement) { b.Source = &bounded.Source{Op: "odd"} },
		"odd relation below": func(b *bounded.Statement) { b.Source = over(&bounded.Source{Op: "odd"}) },
		"part of a relation": func(b *bounded.Statement) {
			b.Source, b.Part = over(scan),
				&bounded.Part{PerUnit: 1}
		},
		"odd operation in a relation": func(
			b *bounded.Statement,
		) {
			b.Source = over(scan)
			b.Source.Exprs = []*bounded.Expr{odd}
		},
		"odd condition in a relation": func(b *bounded.Statement) { b.Source = over(scan); b.Source.Where = odd },
		"condition of a scan": func(b *bounded.Statement) {
			b.Source = over(&bounded.Source{Op: bounded.Scan, Table: "t", Where: whole})
		},
		"one input too many": func(b *bounded.Statement) { b.Source = over(scan, scan) },
		"union of nothing":   func(b *bounded.Statement) { b.Source = &bounded.Source{Op: bounded.Union} },
		"expressions of a join": func(b *bounded.Statement) {
			b.Source = joining(1, pairs, []int{0})
			b.Source.Exprs = []*bounded.Expr{whole}
		},
		"a join without a bound":       func(b *bounded.Statement) { b.Source = joining(0, pairs, []int{0}) },
		"a join within nothing":        func(b *bounded.Statement) { b.Source = joining(1, pairs, nil) },
		"a join within another column": func(b *bounded.Statement) { b.Source = joining(1, nil, []int{0}) },
		"odd pair": func(b *bounded.Statement) {
			b.Source = joining(1, []bounded.Pair{{L: odd}},
				[]int{0})
		},
		"odd aggregate in a unit": func(
			b *bounded.Statement,
		) {
			b.Source = each(bounded.Inner{Func: "odd", X: whole})
		},
		"aggregate of odd in a unit": func(
			b *bounded.Statement,
		) {
			b.Source = each(bounded.Inner{Func: bounded.InnerMin, X: odd})
		},
		"aggregate of nothing": func(
			b *bounded.Statement,
		) {
			b.Source = each(bounded.Inner{Func: bounded.InnerMin})
		},
		"part of a live table": func(b *bounded.Statement) { b.Part = &bounded.Part{PerUnit: 1} },
		"odd kind":             func(b *bounded.Statement) { b.Measures = []*bounded.Measure{{Kind: "odd"}} },
		"odd operation of a measure": func(
			b *bounded.Statement,
		) {
			b.Measures = []*bounded.Measure{{Kind: bounded.Sum, X: odd}}
		},
		"odd operation in WHERE": func(b *bounded.Statement) { b.Where = odd },
		"odd operation of a key": func(b *bounded.Statement) { b.Keys = []bounded.Key{{Expr: odd}} },
		"no caps":                func(b *bounded.Statement) { b.Caps = bounded.Caps{} },
		"both caps": func(b *bounded.Statement) {
			b.Caps = bounded.Caps{
				Rows: 1, Groups: 1,
				RowsPerGroup: 1,
			}
		},
		"rows per group alone": func(b *bounded.Statement) { b.Caps = bounded.Caps{RowsPerGroup: 1} },
		"cells beside rows":    func(b *bounded.Statement) { b.Measures = []*bounded.Measure{&clamped} },
		"cells without a unit": func(b *bounded.Statement) {
			b.Unit, b.Measures = nil,
				[]*bounded.Measure{&clamped}
		},
		"rows per group, without unit": func(b *bounded.Statement) {
			b.Unit, b.Caps = nil,
				bounded.Caps{Groups: 1, RowsPerGroup: 1}
		},
		"units without groups": func(
			b *bounded.Statement,
		) {
			b.Measures = []*bounded.Measure{{Kind: bounded.CountUnits, Hi: 1}}
		},
		"distinct by groups": func(b *bounded.Statement) {
			b.Measures, b.Caps = []*bounded.Measure{{Kind: bounded.CountDistinct, X: whole, Hi: 1}},
				bounded.Caps{Groups: 1, RowsPerGroup: 1}
		},
		"rows of units beside a count": func(b *bounded.Statement) {
			b.Measures = []*bounded.Measure{count, {Kind: bounded.UnitRows, Lo: 1, Hi: 3}}
		},
		"rows of units not in order": func(b *bounded.Statement) {
			b.Measures, b.Caps = []*bounded.Measure{{Kind: bounded.UnitRows, Lo: 1, Hi: 3}}, bounded.Caps{}
		},
		"several in order": func(b *bounded.Statement) { b.Ordered, b.Measures = true, []*bounded.Measure{sum, sum} },
		"counts in order":  func(b *bounded.Statement) { b.Ordered = true },
		"open keys in order": func(b *bounded.Statement) {
			b.Ordered, b.Measures, b.Keys = true, []*bounded.Measure{sum}, []bounded.Key{{Expr: whole, Open: true}}
		},
		"other among known groups": func(b *bounded.Statement) { b.Other = true },
		"chosen known groups":      func(b *bounded.Statement) { b.Chosen = [][]value.Value{{}} },
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
