package golden

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/reuse"
	"dither/internal/value"
	"dither/privacy"
)

// All that the goldens know of plans stands in this file. Plans over files show which measures a key and its marks
// are of; those over a server's tables, where units' rows have no sealed order, are other plans, and pinned without
// a server.

// planned is a question's plan over the home's tables, and over such on a server.
type planned struct {
	ID    string  `json:"id"`
	Files figures `json:"files"`
	Live  figures `json:"live,omitempty"` // nil where the tables cannot all be a server's
}

func plansFile(name string) string { return filepath.Join("testdata", "plans", name+".jsonl.gz") }

// The plans of all questions are what they were: their keys, marks, prices, caps, sensitivities and noises.
func TestGoldenPlans(t *testing.T) {
	eachHome(t, func(t *testing.T, name string) {
		goldens, want := readLines[golden](t, figuresFile(name)), readLines[planned](t, plansFile(name))
		got := plansOf(t, name, goldens)
		if len(got) != len(want) {
			t.Fatalf("%d plans, want %d", len(got), len(want))
		}
		asked := map[string]golden{}
		for _, g := range goldens {
			asked[g.ID] = g
		}
		for i, p := range got {
			if p.ID != want[i].ID {
				t.Fatalf("%s, want %s", p.ID, want[i].ID)
			}
			check(t, asked[p.ID], "plan over files", p.Files, want[i].Files)
			// The people of "scarred" are of version 2.
			if key := asked[p.ID].charged(); key != nil && name != "scarred" && p.Files["key"] != key {
				t.Errorf("%s: the plan's key is %v, and what was charged has %v", p.ID, p.Files["key"], key)
			}
			check(t, asked[p.ID], "plan over a server", p.Live, want[i].Live)
		}
	})
}

// Every construct of docs/reference/sql.md, and every kind of question, is in some question that is answered.
func TestGoldenConstructs(t *testing.T) {
	met, ways, lacking := enginetest.Met{}, map[string]bool{}, true
	eachHome(t, func(t *testing.T, name string) {
		p := policyOf(t, name)
		for i, g := range readLines[golden](t, figuresFile(name)) {
			if i%20 == 0 {
				lacking = met.Lacking(1) != ""
			}
			if ways[g.Ask.Do] = true; g.Ask.Do != "" || g.Ask.Follows || !lacking {
				continue
			}
			if q, err := plan.Build(p, requestOf(p, g.Ask)); err == nil && g.Fresh["refused"] == nil {
				met.Add(q, g.Ask.SQL)
			}
		}
	})
	if os.Getenv("DITHER_GOLDEN_HOME") != "" || update != "" {
		return
	}
	for name := met.Lacking(1); name != ""; name = met.Lacking(1) {
		t.Errorf("no question has %s", name)
		met[name]++
	}
	for way := range asks {
		if !ways[way] {
			t.Errorf("nothing is asked by %q", way)
		}
	}
}

// charged is the key that was charged; nil if none was.
func (g golden) charged() any {
	all, _ := g.Fresh["charged"].([]any)
	if len(all) == 0 {
		return nil
	}
	return all[0].(figures)["key"]
}

// plansOf plans the questions of a home.
func plansOf(t *testing.T, name string, goldens []golden) (out []planned) {
	t.Helper()
	files := policyOf(t, name)
	file := regexp.MustCompile(`\{(csv|jsonl|parquet|duckdb): (source\.)?(\w+)[^}]*\}`)
	server := file.ReplaceAllString(policyText(t, name), "{postgres: {service: golden}, table: public.${3}_$1}")
	live, err := policy.Decode([]byte(server), ".")
	if err != nil {
		t.Fatal(err)
	}
	live = filled(live)
	for _, g := range goldens {
		if g.Ask.Do != "" || g.Ask.Follows || g.ID == name {
			continue
		}
		if g.Ask.Within != "" || strings.Contains(g.Ask.SQL, "target_relative_error") {
			// its price is not the plan's to find
			continue
		}
		sums := g.sums(files)
		p := planned{ID: g.ID, Files: planOf(t, files, g.Ask, sums), Live: planOf(t, live, g.Ask, sums)}
		out = append(out, p)
	}
	return out
}

// requestOf is a question as it is planned.
func requestOf(p *policy.Policy, a ask) plan.Request {
	r := plan.Request{SQL: a.SQL, MaxGroups: a.MaxGroups, Unknown: plan.Unknown{MinUnits: a.MinUnits, Other: a.Other}}
	switch a.MaxRows {
	case "":
	case "auto":
		r.AutoRows = true
	default:
		n, _ := new(big.Int).SetString(a.MaxRows, 10)
		r.MaxRows = n.Int64()
	}
	if a.Truncation == "0" {
		r.Truncation.Share = new(big.Rat)
	} else if share, err := policy.Truncation(a.Truncation); err == nil {
		r.Truncation = plan.Estimate{Share: share, Rows: a.LostRows}
	}
	if e, err := privacy.ParseEpsilon(a.Epsilon); err == nil {
		r.Price = p.Budget.Price(e)
	} else if rho, err := privacy.ParseRho(a.Rho); err == nil {
		r.Price = privacy.ZCDPLoss(rho, privacy.Delta{})
	}
	if d, err := privacy.ParseDelta(a.Delta); err == nil {
		r.Unknown.Delta = d
	}
	return r
}

// sums says how the home's release of a question measured its sums: each by itself, if it is older than sums that share
// the measures of averages. Then that plan is the one that is replayed.
func (g golden) sums(p *policy.Policy) plan.Sums {
	request := requestOf(p, g.Ask)
	request.Sums = plan.SumsApart
	key, versions := g.charged(), g.versions()
	apart, err := plan.Build(p, request)
	if key == nil || g.Ask.Do != "" || err != nil || len(versions) != len(apart.Tables()) || apart.Key(versions...) != key {
		return plan.SumsBeside
	}
	if now, err := plan.Build(p, requestOf(p, g.Ask)); err == nil && now.Key(versions...) == key {
		return plan.SumsBeside
	}
	return plan.SumsApart
}

// versions are those of the tables that were read for the first charge.
func (g golden) versions() (out []int) {
	all, _ := g.Fresh["charged"].([]any)
	if len(all) == 0 {
		return nil
	}
	for _, source := range list(all[0].(figures)["sources"]) {
		n, _ := source.(figures)["version"].(json.Number).Int64()
		out = append(out, int(n))
	}
	return out
}

func planOf(t *testing.T, p *policy.Policy, a ask, sums plan.Sums) figures {
	t.Helper()
	request := requestOf(p, a)
	request.Sums = sums
	q, err := plan.Build(p, request)
	if err != nil {
		return figures{"refused": true}
	}
	versions := slices.Repeat([]int{1}, len(q.Tables()))
	out := figures{
		"key": q.Key(versions...), "any_price": reuse.MarkAtAnyPrice(q, versions...), "price": q.Price.String(),
		"caps":       []int64{q.Caps.Rows, q.Caps.Groups, q.Caps.RowsPerGroup},
		"order_caps": []int64{q.OrderCaps.Rows, q.OrderCaps.Groups, q.OrderCaps.RowsPerGroup},
		"mode_rows":  q.RowCaps.Rows, "cells": q.Released(), "looks": len(q.Looks()),
	}
	measures, conditions := reuse.Marks(q)
	out["marks"], out["conditions"] = measures, conditions
	var all []any
	for _, m := range q.Vectors() {
		all = append(all, []string{
			m.String(), string(m.Noise), rational(m.Parameter), m.L1.String(),
			m.L2Squared.String(), m.Loss.String(),
		})
	}
	out["measures"] = all
	for _, o := range q.Quantiles {
		out["quantiles"] = append(list(out["quantiles"]), []any{
			o.String(), rational(o.Sensitivity), o.Draw().String(), o.Width().String(), o.Loss.String(),
		})
	}
	for _, m := range q.Modes {
		out["modes"] = append(list(out["modes"]), []any{m.String(), m.Rows, m.Loss.String()})
	}
	for _, s := range q.Searches {
		out["searches"] = append(list(out["searches"]), []any{s.String(), s.Loss.String()})
	}
	if q.Selection != nil {
		out["selection"] = q.Selection.String()
	}
	if q.Rows != nil {
		out["rows"] = q.Rows.String()
	}
	got, err := plain(out)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// rational writes a number, or "" if there is none yet.
func rational(r *big.Rat) string {
	if r == nil {
		return ""
	}
	return r.RatString()
}

func list(v any) []any {
	out, _ := v.([]any)
	return out
}

// policyOf is a home's policy, as questions are planned by it.
func policyOf(t *testing.T, name string) *policy.Policy {
	t.Helper()
	p, err := policy.Decode([]byte(policyText(t, name)), ".")
	if err != nil {
		t.Fatal(err)
	}
	return filled(p)
}

// filled gives columns the values that they take from public tables: the clinic's wards.
func filled(p *policy.Policy) *policy.Policy {
	return p.Filled(func(policy.Origin) ([]value.Value, int, string) {
		var wards []value.Value
		for _, ward := range []string{"east", "north", "south", "west"} {
			wards = append(wards, value.OfText(ward))
		}
		return wards, 1, ""
	})
}

// policyText is the policy of a home, from its archive.
func policyText(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(homeFile(name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for in := tar.NewReader(z); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			t.Fatalf("the home %s has no policy", name)
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Name == "policy.yaml" {
			var text strings.Builder
			if _, err := io.Copy(&text, in); err != nil {
				t.Fatal(err)
			}
			return text.String()
		}
	}
}

// plansWritten writes the plans of a home's questions.
func plansWritten(t *testing.T, name string) {
	t.Helper()
	writeLines(t, plansFile(name), plansOf(t, name, readLines[golden](t, figuresFile(name))))
}
