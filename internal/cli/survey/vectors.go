package survey

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local/mean"
)

// randomizeVectors writes reports about several columns of numbers.
func randomizeVectors(s *console.Console, o *options, columns []column) error {
	if o.tables != "" {
		return console.Usage("--tables is for columns of values; numbers have a mean for each column")
	}
	p := mean.Params{Mechanism: mean.Mechanism(o.mechanism)}
	if p.Mechanism != mean.Best && !slices.Contains(mean.Mechanisms, p.Mechanism) {
		return console.Usage("columns of numbers take --mechanism duchi, piecewise, hybrid or best, not %q", o.mechanism)
	}
	var err error
	if p.Epsilon, err = o.epsilonOf(o.mechanism); err != nil {
		return err
	}
	v, err := mean.NewVector(p, len(columns))
	if err != nil {
		return err
	}
	sampled, of := v.Sampled()
	s.Note("each person draws %s of %d, and reports with ε = %s about each drawn one, by %s\n",
		render.Plural(sampled, "column"), len(columns), render.Given(of.Params().Epsilon.Rat()), of.Params().Mechanism)
	var reports [][]mean.Coordinate
	err = people(s, o, columns, func(fields []string) error {
		vector := make([]float64, len(columns))
		for i, c := range columns {
			x, err := console.NumberFlag("in", fields[i])
			if err != nil {
				return console.Usage("%s: %q is no number", c.name, fields[i])
			}
			vector[i] = c.bounds.unit(x)
		}
		r, err := v.Randomize(vector)
		reports = append(reports, r)
		return err
	})
	if err != nil {
		return err
	}
	var header []mean.Column
	for _, c := range columns {
		header = append(header, mean.Column{Name: c.name, Low: c.bounds.lowText, High: c.bounds.highText})
	}
	write := func(w io.Writer) error { return v.Write(w, header, reports) }
	return writeOut(s, o, write, randomizedJSON{
		string(of.Params().Mechanism), json.RawMessage(render.JSONRat(p.Epsilon.Rat())), len(reports), v.Bits(),
	})
}

// averaged is the estimated mean of a column.
type averaged struct {
	column column
	mean.Estimate
}

// estimateVectors estimates the mean of each column from a file of reports.
func estimateVectors(s *console.Console, o *options, in io.Reader, confidence float64) error {
	if err := o.single("numbers"); err != nil {
		return err
	}
	given, err := o.columnsOf()
	if err != nil {
		return err
	}
	var out []averaged
	var p mean.Params
	t, err := mean.ReadVectors(in, func(of mean.Params, columns []mean.Column) error {
		p = of
		for _, c := range columns {
			b, err := boundsOf(c.Low + "," + c.High)
			if err != nil {
				return console.Usage("%s: line 1: the bounds of %q are invalid", inputName(o.in), c.Name)
			}
			out = append(out, averaged{column: column{name: c.Name, bounds: b}})
		}
		if err := sameBounds(given, out); err != nil {
			return err
		}
		return o.agrees(string(of.Mechanism), of.Epsilon)
	})
	if err != nil {
		return fileError(err, o.in)
	}
	estimates, err := t.Estimate(confidence, false)
	if err != nil {
		return err
	}
	for i, e := range estimates {
		center, half := out[i].column.bounds.scale()
		out[i].Estimate = mean.Estimate{
			N: e.N, Mean: center + half*e.Mean, Stddev: half * e.Stddev, Low: center + half*e.Low, High: center + half*e.High,
		}
	}
	shuffled, err := o.shuffle(t.Reports(), p.Epsilon)
	if err != nil {
		return err
	}
	return showVectors(s, o, t.Reports(), p, out, shuffled)
}

// sameBounds compares --column with the columns of a file of reports.
func sameBounds(given []column, of []averaged) error {
	for _, g := range given {
		found := false
		for _, c := range of {
			if c.column.name != g.name {
				continue
			}
			found = true
			b := c.column.bounds
			if !g.ofNumbers() || g.bounds.low.Cmp(b.low) != 0 || g.bounds.high.Cmp(b.high) != 0 {
				return console.Usage("the reports have the bounds %s,%s for %s, not those of --column", b.lowText, b.highText, g.name)
			}
		}
		if !found {
			return console.Usage("the reports have no column %s", g.name)
		}
	}
	return nil
}

type averagedJSON struct {
	Column string           `json:"column"`
	N      int64            `json:"n"`
	Mean   *json.RawMessage `json:"mean"`
	Stddev *json.RawMessage `json:"stddev"`
	Low    json.RawMessage  `json:"low"`
	High   json.RawMessage  `json:"high"`
}

func showVectors(s *console.Console, o *options, n int64, p mean.Params, columns []averaged, after *shuffled) error {
	header := []string{"column", "reports", "mean", "from", "to"}
	records := [][]string{{"column", "n", "mean", "stddev", "low", "high"}}
	all := []averagedJSON{}
	var rows [][]string
	for _, c := range columns {
		places := render.Decimals(max((c.High-c.Low)/2, 1e-12))
		row := []string{
			c.column.name, fmt.Sprint(c.N), render.Fixed(c.Mean, places), render.Fixed(c.Low, places), render.Fixed(c.High, places),
		}
		record := []string{
			c.column.name, fmt.Sprint(c.N), render.CSVFloat(&c.Mean), render.CSVFloat(&c.Stddev), render.CSVFloat(&c.Low),
			render.CSVFloat(&c.High),
		}
		average, stddev := number(c.Mean), number(c.Stddev)
		j := averagedJSON{c.column.name, c.N, &average, &stddev, number(c.Low), number(c.High)}
		if c.N == 0 { // only the bounds are known
			row[2], record[2], record[3], j.Mean, j.Stddev = "?", "", "", nil, nil
		}
		rows, records, all = append(rows, row), append(records, record), append(all, j)
	}
	words := fmt.Sprintf("%s by %s; each is private by itself, with ε = %s, and about some of the columns.\n"+
		"Numbers beyond the bounds were clamped. The %s intervals cover the sampling of the senders too, and are\n"+
		"for each column alone.",
		render.Plural(int(n), "report"), p.Mechanism, p.Epsilon, render.Percent(o.confidence)) + after.words()
	right := []bool{false, true, true, true, true}
	object := struct {
		N        int64          `json:"n"`
		Columns  []averagedJSON `json:"columns"`
		Shuffled *shuffled      `json:"shuffled,omitempty"`
	}{n, all, after}
	return answered{object, records, header, rows, right, words}.show(s)
}
