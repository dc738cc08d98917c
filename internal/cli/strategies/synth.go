package strategies

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/synth"
	"dither/synth/database"
	"dither/synth/server"
)

// Synth is the command `dither synth`.
var Synth = console.Verb{
	Name:  "synth",
	Args:  "--table T --out FILE",
	About: "make a synthetic table with the measured statistics of a real one, at one price",
	Run:   runSynth,
}

func runSynth(s *console.Console, args []string) error {
	if len(args) > 0 && args[0] == "estimate" {
		return runEstimate(s, args[1:])
	}
	if len(args) > 0 && args[0] == "ask" {
		return runAsk(s, args[1:])
	}
	if len(args) > 0 && args[0] == "test" {
		return runExam(s, args[1:])
	}
	var r synth.Request
	var out, report, method, columns, cliques, ways, size, rows, bins, edges, keys, values, constraints string
	var require []string
	var privateEdges, privateValues string
	var from, workload string
	var explain, progress bool
	var draws int
	var of family
	s.FormatFlag("table", "json")
	s.Flag(&r.Table, "table", "T", "the table")
	s.Flag(&out, "out", "FILE", "write the rows to FILE, which ends in .csv, .parquet or .duckdb, or to a new table: postgres://ROLE@HOST/DB#TABLE")
	s.Flag(&report, "report", "FILE", "write a report on the errors to FILE, which ends in .html or .json")
	s.Flag(&explain, "explain", "", "show the columns, the marginals and the price, free")
	s.PriceFlags(&r.Epsilon, &r.Rho, "all measurements together")
	s.Flag(&r.Delta, "delta", "D", "with --epsilon, if the budget is under zCDP: the price is the largest ρ that implies (E, D)")
	s.Flag(&method, "method", "NAME", "aim (default; mst with --draws), mst, mwem, independent or fixed")
	s.Flag(&draws, "draws", "M", "write M tables, from draws of the model's posterior distribution, for synth estimate")
	s.Flag(joins(&cliques, ","), "cliques", "A+B,…", "measure the marginals of these columns, and choose none (method fixed)")
	s.Flag(joins(&columns, ","), "columns", "C,…", "the columns (default: all with declared values or bounds)")
	s.Flag(&ways, "ways", "K,…", "aim and mwem: the numbers of columns of the marginals that rows should have (default 2,3)")
	s.Flag(&r.Target, "target", "C", "aim: a column that matters most, such as one that classifiers will predict: "+
		"marginals with it weigh three times as much")
	s.Flag(&workload, "workload", "FILE", "aim and mwem: the questions that rows should answer well, in SQL, separated by semicolons; or a "+
		"specification of tabulate, which ends in .yaml")
	s.Flag(&size, "model-size", "SIZE", "aim: the largest size of the model, such as 1MB (default)")
	s.Flag(&bins, "bins", "N", "the largest number of values or bins of a column of numbers (default 32)")
	s.Flag(joins(&edges, ";"), "edges", "C=A,B;…", "columns of numbers, dates or times: bins begin at these values, in place of equal bins")
	s.Flag(joins(&privateEdges, ","), "private-edges", "C,…", "columns of numbers, dates or times: bins begin at private quantiles, so that they have about the same number "+
		"of rows; a twentieth of the price pays for it")
	s.Flag(joins(&values, ";"), "values", "C=A,B;…", "known values of text columns for which the policy declares none: all other texts are 'other'")
	s.Flag(joins(&privateValues, ","), "private-values", "C,…", "text columns for which the policy declares no values: a private selection finds values of many "+
		"persons, and all other texts are 'other'")
	s.Flag(joins(&keys, ","), "keys", "C,…", "columns of whole numbers or texts, such as identifiers, that get fresh values: no two rows have the same")
	s.Flag(&constraints, "constraints", "FILE", "every row satisfies the constraints in FILE, one a line")
	s.Flag(&require, "require", "CONSTRAINT", "every row satisfies CONSTRAINT, such as 'age < 18 => NOT married'; may be repeated")
	s.Flag(&of.children, "children", "T", "the table of the rows of these persons, which becomes a synthetic table too")
	s.Flag(&of.out, "children-out", "FILE", "with --children: write its rows to FILE, as --out does")
	s.Flag(&of.report, "children-report", "FILE", "with --children: write a report on its errors to FILE, which ends in .html or .json")
	s.Flag(&of.order, "order", "C", "with --children: the date or timestamp that a person's rows are in order of")
	s.Flag(&rows, "rows", "N", "the number of synthetic rows (default: the noisy number of real rows)")
	s.Flag(&r.Resume, "resume", "", "continue an interrupted synthesis, given the same flags, and pay for nothing")
	s.Flag(joins(&from, ","), "from", "RELEASES", "make rows of what these earlier syntheses have measured, such as r3,r7, free")
	s.Flag(&progress, "progress", "", "print the progress and the time left, also if the output is no terminal")
	s.AnalystFlag(&r.Analyst)
	s.FreshFlag(&r.Fresh)
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	switch {
	case len(rest) > 0:
		return console.Usage("synth takes no arguments besides its flags, not %q", rest[0])
	case !explain && out == "":
		return console.Usage("the rows need a file: --out FILE, or --explain to see the price first")
	}
	for _, target := range [][3]string{{"--out", out, r.Table}, {"--children-out", of.out, of.children}} { // before anything is paid
		if err := checkOut(s, target[0], target[1], target[2], explain); err != nil {
			return err
		}
	}
	for _, file := range [][2]string{{"--report", report}, {"--children-report", of.report}} {
		if folder, err := os.Stat(filepath.Dir(file[1])); !explain && (err != nil || !folder.IsDir()) {
			return console.Usage("%s %s: there is no such folder", file[0], file[1])
		}
		if file[1] != "" && !isHTML(file[1]) && !strings.EqualFold(filepath.Ext(file[1]), ".json") {
			return console.Usage("%s %s: name a file that ends in .html or .json", file[0], file[1])
		}
	}
	outs := []string{fileOf(out), report, fileOf(of.out), of.report}
	for i := range max(0, min(draws, synth.MaxDraws)) {
		outs = append(outs, synth.DrawName(out, i+1))
	}
	for _, name := range outs {
		if name != "" && mayBeReal(s.Home, name) {
			return console.Usage("%s is named in the policy of a home: name another file, which does not replace a source", name)
		}
	}
	r.Method = synth.Method(strings.ToLower(method))
	r.Columns, r.From, r.Keys = listed(columns), listed(from), listed(keys)
	if len(r.Keys) > 0 && (draws != 0 || of.children != "") {
		return console.Usage("--keys cannot be combined with --draws and --children")
	}
	for _, clique := range listed(cliques) {
		var names []string
		for _, name := range strings.Split(clique, "+") {
			names = append(names, strings.TrimSpace(name))
		}
		r.Cliques = append(r.Cliques, names)
	}
	if explain && from != "" {
		return console.Usage("--explain shows what would be measured, and --from measures nothing: leave one out")
	}
	if draws != 0 {
		if r.Method == "" && from == "" && len(r.Cliques) == 0 {
			r.Method = synth.MST
		}
		if err := synth.CheckDraws(r.Method, draws); err != nil {
			return err
		}
		if !explain && !isCSV(out) {
			return console.Usage("--draws writes CSV: --out FILE.csv")
		}
	}
	for _, k := range listed(ways) {
		n, err := whole(k)
		if err != nil {
			return console.Usage("--ways: %q is not a whole number", k)
		}
		r.Ways = append(r.Ways, n)
	}
	if bins != "" {
		if r.Bins, err = whole(bins); err != nil {
			return console.Usage("--bins: %q is not a whole number", bins)
		}
	}
	if rows != "" {
		if r.Rows, err = strconv.ParseInt(rows, 10, 64); err != nil || r.Rows < 1 {
			return console.Usage("--rows: %q is not a whole number above 0", rows)
		}
	}
	if r.Workload, err = wantedOf(workload); err != nil {
		return err
	}
	if r.Values, err = listsOf("--values", values); err != nil {
		return err
	}
	r.PrivateEdges, r.PrivateValues = listed(privateEdges), listed(privateValues)
	if r.Edges, err = listsOf("--edges", edges); err != nil {
		return err
	}
	if r.Constraints, err = constraintsOf(constraints, require); err != nil {
		return err
	}
	if r.ModelBytes, err = bytesOf(size); err != nil {
		return err
	}
	if of.children != "" || of.out != "" || of.order != "" || of.report != "" {
		of.people, of.draws, of.progress = report, draws, progress
		return runFamily(s, r, &of, out, explain)
	}
	return s.Asking(func(c *curator.Session) error {
		if explain {
			p, err := synth.Explain(s.Context(), c, r)
			if err != nil {
				return err
			}
			d, err := p.Compare(s.Context(), c)
			if err != nil {
				return err
			}
			if err := showSynthPlan(s, p, d); err != nil || draws == 0 || s.Format == "json" {
				return err
			}
			showIntervals(s, p)
			return nil
		}
		result, err := synthesized(s, c, r, progress)
		if err != nil {
			return err
		}
		var drawn *synth.Draws
		if draws != 0 {
			drawn, err = writeDraws(s, result, draws, out)
		} else {
			err = writeRows(s, out, result.Table())
		}
		if err == nil && report != "" {
			err = writeSynthReport(report, result)
		}
		if err != nil {
			return fmt.Errorf("the rows could not be written: %w (%s is recorded: repeat the command, free)", err, result.Release)
		}
		if drawn == nil {
			return showSynth(s, result, described(out, result.Table()))
		}
		if err := showSynth(s, drawn.Results[0], synth.DrawName(out, 1)); err != nil {
			return err
		}
		showDraws(s, drawn, out)
		return nil
	})
}

// checkOut refuses a target that cannot be written. name is that of the real table.
func checkOut(s *console.Console, flag, out, name string, explain bool) error {
	if out == "" {
		return nil
	}
	if !server.Is(out) && !isCSV(out) && !strings.EqualFold(filepath.Ext(out), ".parquet") && !isDuckDB(out) {
		if strings.Contains(out, ":/") { // it may hold a password
			out = "…"
		}
		return console.Usage("%s %s: name a file that ends in .csv, .parquet or .duckdb, or a server: postgres://ROLE@HOST/DATABASE#TABLE", flag, out)
	}
	if explain {
		return nil
	}
	if !server.Is(out) {
		if folder, err := os.Stat(filepath.Dir(out)); err != nil || !folder.IsDir() {
			return console.Usage("%s %s: there is no such folder", flag, out)
		}
		if isDuckDB(out) {
			if err := database.CheckFile(out); err != nil {
				return console.Usage("%s: %v", flag, err)
			}
		}
		return nil
	}
	target, err := server.Parse(out)
	if err == nil {
		err = target.Check(s.Context(), name)
	}
	if err != nil {
		return console.Usage("%s: %v", flag, err)
	}
	return nil
}

// described returns the name of a file, or that of a table on a server, without its role.
func described(out string, t *synth.Table) string {
	if server.Is(out) {
		if target, err := server.Parse(out); err == nil {
			return target.Describe(t)
		}
	}
	return out
}

func isCSV(name string) bool { return strings.EqualFold(filepath.Ext(name), ".csv") }

// fileOf returns the name of a file, and "" for a table on a server.
func fileOf(out string) string {
	if server.Is(out) {
		return ""
	}
	return out
}

func isDuckDB(name string) bool { return strings.EqualFold(filepath.Ext(name), ".duckdb") }

// writeRows writes the file completely, or leaves it unchanged.
func writeRows(s *console.Console, out string, r *synth.Table) error {
	if isCSV(out) {
		return console.ReplaceFile(out, r.WriteCSV)
	}
	if server.Is(out) {
		target, err := server.Parse(out)
		if err != nil {
			return err
		}
		return target.Write(s.Context(), r)
	}
	path, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	write := database.WriteParquet
	if isDuckDB(out) {
		write = database.Write
	}
	return console.ReplaceNamed(path, func(temporary string) error { return write(s.Context(), temporary, r) })
}

// listed returns the fields of a list with commas.
func listed(text string) (out []string) {
	if text == "" {
		return nil
	}
	for _, field := range strings.Split(text, ",") {
		out = append(out, strings.TrimSpace(field))
	}
	return out
}

// bytesOf parses a size such as 1MB or 500kB. It returns 0 for "".
func bytesOf(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	for _, u := range []struct {
		name string
		size float64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"B", 1}, {"", 1}} {
		number, found := strings.CutSuffix(strings.ToUpper(text), u.name)
		if !found {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(n > 0) {
			break
		}
		return n * u.size, nil
	}
	return 0, console.Usage("--model-size: %q is not a size such as 1MB", text)
}

// showSynthPlan prints a plan.
func showSynthPlan(s *console.Console, p *synth.Plan, d *synth.Direct) error {
	if s.Format == "json" {
		return s.JSON(synth.Explained{Plan: p, Direct: d})
	}
	g := render.Grid{Right: []bool{false, true, false}}
	g.Add("column", "cells", "")
	for _, c := range p.Columns {
		about := "values"
		if c.Binned {
			about = "bins"
		}
		if p.Private(c) {
			about += " at most, to be chosen privately"
		}
		g.Add(render.Printable(c.Name), strconv.Itoa(c.Cells), about)
	}
	s.Print("%s\n", g.Text("  "))
	for _, c := range p.Keys {
		s.Print("key: %s: fresh values, of which no two rows have the same\n", render.Printable(c.Name))
	}
	for _, o := range p.Omitted {
		s.Print("left out: %s: %s\n", render.Printable(o.Name), o.Reason)
	}
	if p.HeldOut != "" {
		text := ""
		if price := p.HoldoutPrice.String(); p.HoldoutPrice != (curator.Loss{}) {
			text = ": `dither synth test` costs " + price
		}
		s.Print("held out for a test: %s%s\n", render.Printable(p.HeldOut), text)
	}
	if p.Ahead > 0 {
		s.Print("first: %s, for %s of the price: quantiles of columns with private edges, and values of many persons\n",
			render.Plural(p.Ahead, "private choice"), synth.AheadShare)
	}
	price := p.Price.String()
	if !p.Affordable {
		price += ", more than what remains"
	}
	s.Print("method: %s, which may measure %s\n", p.Method, render.Plural(p.Candidates, "marginal"))
	for _, c := range p.Constraints() {
		how := "kept in the model"
		if !c.Modelled {
			how = "its columns have too many cells together for the model, so rows that break it are drawn again"
		}
		s.Print("constraint %s: %s\n", render.Printable(c.Text), how)
	}
	showLeftOut(s, p)
	s.Print("price: %s; %s remain\n", price, p.Remaining)
	s.Print("at this price, a table needs about %s rows: below that, the first measurements are more noise than signal\n",
		render.Thousands(int(p.Useful)))
	showDirect(s, d)
	return nil
}

// showLeftOut says how many marginals are too large to be measured.
func showLeftOut(s *console.Console, p *synth.Plan) {
	if p.LeftOut > 0 {
		s.Print("too large to be measured: %s; a larger --model-size or fewer --bins may include them\n",
			render.Plural(p.LeftOut, "marginal"))
	}
}

// showChosen prints lists that were chosen privately, as an option that repeats them.
func showChosen(s *console.Console, flag string, lists map[string][]string) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		all = append(all, name+"="+strings.Join(lists[name], ","))
	}
	if len(all) > 0 {
		s.Print("chosen privately: %s '%s'\n", flag, render.Printable(strings.Join(all, ";")))
	}
}

// showSynth prints what was made.
func showSynth(s *console.Console, r *synth.Result, out string) error {
	if s.Format == "json" {
		return s.JSON(r)
	}
	g := render.Grid{Right: []bool{false, true, true, true}}
	g.Add("measured", "cells", "stddev", "expected error")
	for _, m := range r.Measured {
		name, expected := render.Printable(strings.Join(m.Columns, ", ")), render.TwoDigits(m.Expected)
		switch {
		case name == "":
			name = "(the number of rows)"
		case m.Shape:
			name, expected = name+" (the shape within bins)", "smoothed" // where the noise exceeds the counts
		}
		g.Add(name, strconv.Itoa(m.Cells), render.TwoDigits(m.StdDev), expected)
	}
	s.Print("%s\n", g.Text("  "))
	free := ""
	if r.Replayed {
		free = ", measured before: free"
	}
	made := render.Thousands(int(r.Rows)) + " synthetic rows are"
	if r.Rows == 1 {
		made = "1 synthetic row is"
	}
	s.Print("%s in %s, from %s%s\n", made, render.Printable(out), r.Release, free)
	if r.Plan.Method == synth.Recorded {
		s.Print("price: none; %s remain\n", r.Remaining)
	} else {
		s.Print("price: %s; %s remain\n", r.Plan.Price, r.Remaining)
	}
	showLeftOut(s, r.Plan)
	showChosen(s, "--edges", r.Edges)
	showChosen(s, "--values", r.Values)
	if r.Outdated {
		s.Print("an earlier version of the table was measured: its rows have changed since then\n")
	}
	if len(r.Unmeasured) > 0 {
		s.Print("no measured marginal has %s: these columns are evenly distributed\n", render.Printable(strings.Join(r.Unmeasured, ", ")))
	}
	s.Print("expected error of the measured marginals: %s, as a total variation distance, from the noise alone. Other "+
		"statistics may be further off.\n", render.TwoDigits(r.ExpectedError))
	return nil
}
