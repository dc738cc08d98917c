package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dither/internal/policy"
	"dither/internal/value"
	"dither/privacy"
)

// Whatever a megabyte holds, it is read or refused within seconds, with a bounded report.
func TestHostileMegabytes(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, policy.MaxBytes/len(s)) }
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'z'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	many := func(start, format string) string {
		b := []byte(start)
		for i := 0; len(b) < policy.MaxBytes-40; i++ {
			b = fmt.Appendf(b, format, i)
		}
		return string(b)
	}
	for name, text := range map[string]string{
		"aliases": bomb, "lists": fill("["), "mappings": fill("{a: "), "dashes": fill("- "), "questions": fill("? "),
		"comments": fill("#"), "comment lines": fill("#\n"), "keys": many("", "k%d: 1\n"),
		"columns": many(minimal, "      c%d: {type: text}\n"), "duplicates": fill("a: 1\n"),
		"anchors": fill("&a "), "quotes": fill(`"`), "indents": fill(" "), "documents": fill("---\n"),
		"bad columns":    fill("x"),
		"commented keys": fill("# c\na: 1\n"),
		"values":         minimal + "      v: {type: integer, values: [" + fill("1,")[:policy.MaxBytes-400] + "]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			p, err := policy.Decode([]byte(text), "")
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if (err == nil) != (name == "columns") || (p == nil) != (err != nil) {
				t.Fatalf("%.200v", err)
			}
			if err != nil && len(err.Error()) > 50_000 {
				t.Errorf("a report of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestManyErrors(t *testing.T) {
	text := minimal
	for i := range 80 {
		text += fmt.Sprintf("      c%d: {type: txt}\n", i)
	}
	_, err := policy.Decode([]byte(text), "")
	var all policy.Errors
	if !errors.As(err, &all) || len(all) != 51 || all[50].Message != "and 30 more" {
		t.Errorf("%v", err)
	}
	if got := all[0].Error(); got !=
		`line 11:18: tables.t.columns.c0.type: unknown type "txt" (one of integer, real, text, boolean, date, timestamp, time)` {
		t.Error(got)
	}
}

func TestKeysAreLimited(t *testing.T) {
	list := make([]string, policy.MaxKeys+1)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	with := func(n int) error {
		_, err := policy.Decode([]byte(minimal+"      k: {type: integer, values: ["+strings.Join(list[:n], ",")+"]}\n"),
			"")
		return err
	}
	if err := with(policy.MaxKeys); err != nil {
		t.Error(err)
	}
	want := "line 11:34: tables.t.columns.k.values: must be between 1 and 10000 values, found 10001"
	if err := with(policy.MaxKeys + 1); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	long := strings.Repeat("x", value.MaxTextBytes)
	if _, err := policy.Decode([]byte(minimal+"      k: {type: text, values: ["+long+"]}\n"), ""); err != nil {
		t.Error(err)
	}
	if _, err := policy.Decode([]byte(minimal+"      k: {type: text, values: ["+long+"x]}\n"), ""); err == nil ||
		!strings.HasSuffix(err.Error(), "is longer than a text may be") {
		t.Errorf("%v", err)
	}
}

// The policies of the shapes that peers of this file get from YAML's cleverness.
func TestEdgesOfNumbers(t *testing.T) {
	for text, ok := range map[string]bool{
		"2": true, "2.0000000000000000000000000000000000000": true, "20e-1": true, `"2"`: true, "+2": true, "002": true,
		"0.12345678901234567890123": true, "1000": true, "1e-64": true, "1e-65": false, "1000.1": false,
		"2,0": false, "٢": false,
		"inf": false, "NaN": false, "-0": false, "2 ": true, "1/2": false, "0b11": false, "0o7": false, "2e": false,
	} {
		_, err := policy.Decode([]byte(strings.Replace(minimal, "epsilon: 2", "epsilon: "+text, 1)), "")
		if (err == nil) != ok {
			t.Errorf("epsilon: %s: %v", text, err)
		}
	}
	huge, tiny := "1267650600228229401496703205376", "8.6736173798840354720596224069595336914062"
	for text, ok := range map[string]bool{
		"[-" + huge + ", " + huge + "]": true, "[0, " + huge + ".5]": false, "[0, " + tiny + "5e-19]": true,
		"[0, " + tiny + "e-19]": false,
		"[0, 0]":                true, "[-0.0, 0]": true, "[0.1, 0.10]": true, "[0.10000000000000000000000000000001, 0.1]": false,
	} {
		_, err := policy.Decode([]byte(minimal+"      k: {type: real, bounds: "+text+"}\n"), "")
		if (err == nil) != ok {
			t.Errorf("bounds: %s: %v", text, err)
		}
	}
}

// invariants are what the types promise of every decoded policy.
func invariants(t *testing.T, p *policy.Policy) {
	t.Helper()
	fail := func(ok bool, what string) {
		if !ok {
			t.Fatalf("%s: %+v", what, p)
		}
	}
	fail(p.Population.Name != "" && len(p.Population.Name) <= 63, "name")
	fail(p.Population.Neighbours == privacy.AddRemove || p.Population.Neighbours == privacy.ChangeOne, "neighbours")
	fail(!p.Budget.Loss.IsZero() && !p.Price.Default.IsZero(), "a loss is zero")
	fail(!p.Price.Minimum.IsZero() && p.Price.Minimum.Within(p.Price.Default), "minimum price")
	fail(p.Price.Default.Within(p.Price.Maximum) && p.Price.Maximum.Within(p.Budget.Loss), "order of prices")
	fail(len(p.Tables) > 0, "no tables")
	for _, table := range p.Tables {
		u := table.Unit
		fail(p.Table(table.Name) == table && len(table.Columns) > 0, "table")
		fail(table.Source.Format != "" && table.Source.Path != "" && table.Source.File != "", "source")
		fail((table.Source.Table != "") == (table.Source.Format == policy.DuckDB), "table in source")
		fail((table.Source.Dialect != policy.Dialect{}) == (table.Source.Format == policy.CSV), "dialect")
		fail(table.Source.Dialect.Delimiter != table.Source.Dialect.Quote || table.Source.Format != policy.CSV,
			"delimiter")
		if table.Public {
			fail(u == policy.Unit{}, "public unit")
		} else {
			fail(1 <= u.RowsPerGroup && u.RowsPerGroup <= u.RowsPerUnit, "rows per group")
			fail(1 <= u.MaxGroups && u.MaxGroups <= u.RowsPerUnit && u.RowsPerUnit <= policy.MaxRowsPerUnit,
				"unit's numbers")
			fail(u.IsRow() && u.RowsPerUnit == 1 || !u.IsRow() && table.Column(u.Column) != nil &&
				u.PersonRows == 0, "unit")
		}
		for _, c := range table.Columns {
			fail(table.Column(c.Name) == c && c.Name != "" && len(c.Name) <= 63, "column")
			fail(c.Type >= value.Integer && c.Type <= value.Date, "type")
			fail((c.Lower == nil) == (c.Upper == nil) && (c.Lower == nil || c.Values == nil), "bounds")
			fail(c.Lower == nil || c.Lower.Cmp(c.Upper) <= 0, "bounds reversed")
			fail(c.Lower == nil || c.Type == value.Real || c.Lower.IsInt() && c.Upper.IsInt(), "whole bounds")
			fail(c.Values == nil || len(c.Values) <= policy.MaxKeys && len(c.Values) > 0, "number of values")
			fail(c.Invalid == policy.InvalidRefused || c.Invalid == policy.InvalidIsNull && c.Nullable, "invalid")
			for i, v := range c.Values {
				fail(v.Type == c.Type && !v.Null, "value's type")
				fail(i == 0 || value.Compare(c.Values[i-1], v) != 0, "distinct")
			}
		}
	}
	first, second := p.Digest(), p.Digest()
	fail(first == second && len(first) == 64, "digest")
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(minimal))
	f.Add(mustRead(f, "testdata/all.yaml"))
	base, _, _ := strings.Cut(string(mustRead(f, "testdata/bad.txt")), "\n===")
	f.Add([]byte(base))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := policy.Decode(text, "home")
		if (p == nil) == (err == nil) {
			t.Fatal(p, err)
		}
		again, errAgain := policy.Decode(text, "home")
		if err != nil {
			var all policy.Errors
			if !errors.As(err, &all) || len(all) == 0 || errAgain == nil || err.Error() != errAgain.Error() {
				t.Fatal(err, errAgain)
			}
			return
		}
		invariants(t, p)
		if diff := cmp.Diff(p, again, exactly); diff != "" || p.Digest() != again.Digest() {
			t.Fatal(diff)
		}
	})
}
