package strategies

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/strategy/tabulate"
)

// Tabulate is the command `dither tabulate`.
var Tabulate = console.Verb{
	Name:  "tabulate",
	Args:  "SPEC.yaml",
	About: "measure a set of tables that add up over levels and classifications, at one price",
	Run:   runTabulate,
}

func runTabulate(s *console.Console, args []string) error {
	var out, analyst, epsilon, rho string
	var explain, fresh bool
	var picture console.Picture
	s.FormatFlag(console.AnyFormat...)
	s.Flag(&out, "out", "FOLDER", "write each table as CSV, Parquet and Markdown into FOLDER, with tabulation.json and report.html")
	s.Flag(&explain, "explain", "", "show the price, the division of the price and the expected errors, free")
	s.Flag(&picture.File, "plot", "FILE", "with --explain: draw the expected margins as FILE.svg or FILE.png")
	s.Flag(&epsilon, "epsilon", "E", "the price of all tables, in place of the specification's")
	s.Flag(&rho, "rho", "R", "the price in ρ, in place of the specification's")
	s.AnalystFlag(&analyst)
	s.FreshFlag(&fresh)
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if err := picture.Check(s); err != nil {
		return err
	}
	switch {
	case len(rest) != 1:
		return console.Usage("one specification is needed: SPEC.yaml")
	case epsilon != "" && rho != "":
		return console.Usage("tabulate takes --epsilon or --rho, not both")
	case picture.File != "" && !explain:
		return console.Usage("--plot draws expected margins; give it with --explain")
	case explain && out != "":
		return console.Usage("--explain writes no files: leave --out out")
	}
	spec, err := tabulate.Load(rest[0])
	if err != nil {
		return badSpec(rest[0], err)
	}
	spec.Fresh = fresh
	if epsilon != "" || rho != "" {
		spec.Epsilon, spec.Rho = epsilon, rho
	}
	if out != "" {
		if out, err = folder(out); err != nil {
			return err
		}
	}
	return s.Asking(func(c *curator.Session) error {
		if explain {
			p, err := tabulate.Explain(s.Context(), c, spec, analyst)
			if err != nil {
				return err
			}
			return errors.Join(showPlan(s, p), picture.Draw(planChart(p)))
		}
		r, err := answered(s, c, spec, analyst)
		if err != nil {
			return err
		}
		if out != "" {
			err = write(s, out, r)
		}
		return errors.Join(showResult(s, r, out), err)
	})
}

// badSpec returns the error for a specification that cannot be read.
func badSpec(file string, err error) error {
	var missing *os.PathError
	if errors.As(err, &missing) {
		return console.Usage("the specification %s cannot be read: %v", file, missing.Err)
	}
	return console.Usage("%v", err)
}

// folder makes the folder for files before anything is paid for, and returns its absolute path.
func folder(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err == nil {
		err = os.MkdirAll(path, 0o700)
	}
	if err != nil {
		return "", console.Usage("--out: %v", err)
	}
	return path, nil
}

func answered(s *console.Console, c *curator.Session, spec *tabulate.Spec, analyst string) (*tabulate.Result, error) {
	if console.Obeys(s.Stderr) {
		defer console.Spin(s.Stderr, "tabulating")()
	}
	return tabulate.Tabulate(s.Context(), c, spec, analyst)
}

func showPlan(s *console.Console, p *tabulate.Plan) error {
	switch s.Format {
	case "json":
		return s.JSON(p)
	case "csv":
		return s.CSV(planRecords(p))
	case "markdown":
		records := planRecords(p)
		s.Print("%s\n", render.MarkdownTable(records[0], planRight, records[1:]))
		s.Print("%s", render.MarkdownList(planText(p)))
		return nil
	}
	g := render.Grid{Right: planRight}
	for _, r := range planRecords(p) {
		g.Add(r...)
	}
	s.Print("%s\n%s", g.Text("  "), planText(p))
	return nil
}

// planChart returns a picture of the expected margin of each level, by table.
func planChart(p *tabulate.Plan) plot.Chart {
	c := plot.Chart{
		Title: "Expected margins of error", Key: "table and level",
		Caption: "At " + render.Percent(p.Confidence) + " confidence, for " + p.Price.String() + ", around the least-squares estimates.",
		Panels:  []plot.Panel{{Name: "root of the mean square", Marks: [][]plot.Mark{nil}}, {Name: "largest", Marks: [][]plot.Mark{nil}}},
	}
	for _, t := range p.Tables {
		for _, l := range t.Levels {
			c.Groups = append(c.Groups, t.Name+" "+l.Name())
			for i, margin := range []float64{l.Margin, l.Worst} {
				c.Panels[i].Marks[0] = append(c.Panels[i].Marks[0], plot.Mark{Value: margin, Low: math.NaN(), High: math.NaN()})
			}
		}
	}
	return c
}

var planRight = []bool{false, false, true, true, true, true, true}

// planRecords returns the expected errors of each table and level.
func planRecords(p *tabulate.Plan) [][]string {
	out := [][]string{{"table", "level", "cells", "stddev", "margin", "largest margin", "10 % from"}}
	for _, t := range p.Tables {
		for _, l := range t.Levels {
			out = append(out, []string{
				t.Name, l.Name(), render.Thousands(l.Cells), twoDigits(l.StdDev), twoDigits(l.Margin),
				twoDigits(l.Worst), tenth(l.Worst),
			})
		}
	}
	return out
}

// tenth returns the smallest value whose margin of error is at most a tenth of it, rounded up to two digits.
func tenth(margin float64) string {
	if !(margin > 0) || math.IsInf(margin, 1) {
		return twoDigits(margin)
	}
	unit := math.Pow(10, math.Floor(math.Log10(10*margin))-1)
	return twoDigits(math.Ceil(10*margin/unit) * unit)
}

// planText describes the price and the division of the price.
func planText(p *tabulate.Plan) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	price := p.Price.String()
	switch {
	case p.Replayed:
		price += ", paid before: repeating it is free"
	case !p.Affordable:
		price += ", more than what remains"
	}
	line("price: %s; %s remain", price, p.Remaining)
	for _, text := range p.Warnings {
		line("warning: %s", text)
	}
	line("margins are at %s confidence, around the least-squares estimates; a value above \"10 %% from\" has a margin of at "+
		"most a tenth of it", render.Percent(p.Confidence))
	for _, g := range p.Groups {
		line("%s: %s", strings.Join(g.Tables, ", "), g.SQL)
		for _, c := range g.Candidates {
			chosen := ""
			if c.Name == g.Chosen {
				chosen = ", chosen"
			}
			line("  %s: expected error %s%s", c.Name, render.Number6(c.Error), chosen)
		}
		line("  lower bound over all divisions of the price among these tables: %s", render.Number6(g.Bound))
		if !math.IsNaN(g.SVDBound) {
			loose := ""
			if g.Price.Rho == "" {
				loose = " (that of Gaussian noise, which holds for a price in ε too, but no measurement may come near it)"
			}
			line("  lower bound over all linear measurements: %s%s", render.Number6(g.SVDBound), loose)
		}
		if g.Declared {
			line("  %s", declaredWords)
		}
		for _, part := range g.Parts {
			line("  measures %s: %s of the price, noise of standard deviation %s", partName(part),
				render.Percent(fmt.Sprint(part.Share)), twoDigits(part.StdDev))
		}
	}
	return b.String()
}

// declaredWords qualifies the comparison of a group whose tables have declared totals.
const declaredWords = "these errors and bounds leave out the declared totals, which make the errors of the tables smaller"

func partName(p tabulate.Part) string {
	return strings.Join(append([]string{p.Level}, p.Columns...), " × ")
}
