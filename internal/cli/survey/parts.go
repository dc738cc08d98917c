package survey

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local"
)

// Two mechanisms send reports in several parts: prefix finds the most frequent values of a large domain, and tree
// estimates the distribution of numbers.
const (
	prefix = "prefix"
	tree   = "tree"
)

// formatIn returns the format of a file of reports, or "". It reads ahead.
func formatIn(in *bufio.Reader) string {
	head, _ := in.Peek(200) // a shorter file is no file of reports, which reading it will report
	line, _, _ := strings.Cut(string(head), "\n")
	_, rest, _ := strings.Cut(line, `"format":"`)
	format, _, _ := strings.Cut(rest, `"`)
	return format
}

// randomizePrefixes writes a report about a prefix of each value.
func randomizePrefixes(s *console.Console, o *options) error {
	if o.bounds != "" || o.devices != "" {
		return console.Usage("prefix is for values: it takes --domain, without --bounds and --devices")
	}
	e, err := o.epsilonOf(prefix)
	if err != nil {
		return err
	}
	d, err := domainOf(o.domain)
	if err != nil {
		return err
	}
	h, err := local.NewHeavy(local.HeavyParams{Epsilon: e, Bits: max(bits.Len64(d.k-1), 2)})
	if err != nil {
		return err
	}
	if d.names != nil {
		return console.Usage("prefix is for the numbers of a large domain: --domain K. A file of values suits the other mechanisms")
	}
	var reports []local.PrefixReport
	err = eachLine(o.in, s.Stdin, func(number int, line string) error {
		v, err := d.value(line)
		if err != nil {
			return console.Usage("%s: line %d: %s", inputName(o.in), number, strings.TrimPrefix(err.Error(), "usage: "))
		}
		r, err := h.Randomize(v)
		reports = append(reports, r)
		return err
	})
	if err != nil {
		return err
	}
	if len(reports) == 0 {
		return console.Usage("%s has no values", inputName(o.in))
	}
	write := func(w io.Writer) error { return h.Write(w, reports) }
	return writeOut(s, o, write, randomizedJSON{prefix, json.RawMessage(render.JSONRat(e.Rat())), len(reports), h.Bits()})
}

// estimatePrefixes finds the most frequent values.
func estimatePrefixes(s *console.Console, o *options, in io.Reader, confidence float64) error {
	if err := o.single(prefix); err != nil {
		return err
	}
	top, err := console.WholeFlag("top", o.top, 1, 1000)
	if err != nil {
		return err
	}
	t, err := local.ReadHeavy(in)
	if err != nil {
		return fileError(err, o.in)
	}
	if err := o.agrees(prefix, t.Params().Epsilon); err != nil {
		return err
	}
	found, err := t.Find(int(4*top), confidence)
	if err != nil {
		return err
	}
	found = found[:min(len(found), int(top))]
	n := float64(t.Reports())
	e := estimated{confidence: o.confidence, domain: domain{k: 1 << t.Params().Bits}, people: t.Reports()}
	if e.shuffled, err = o.shuffle(t.Reports(), t.Params().Epsilon); err != nil {
		return err
	}
	for _, f := range found {
		e.estimates = append(e.estimates, local.Estimate{
			Value: f.Value, Count: n * f.Frequency, Stddev: n * f.Stddev, Low: n * f.Low, High: n * f.High,
		})
	}
	e.about = fmt.Sprintf("%s about prefixes; each is private by itself, with ε = %s. The table has the %d largest estimates\n"+
		"that were found. They are too large on average, because they were chosen by their size, and the %s intervals\n"+
		"contain the truth less often than that. A value is missed if one of its prefixes is not among the largest.",
		render.Plural(int(t.Reports()), "report"), t.Params().Epsilon, len(found), render.Percent(o.confidence)) +
		e.shuffled.words()
	return e.show(s)
}

// single refuses the options of `estimate` that are for reports of one part.
func (o *options) single(mechanism string) error {
	if o.consistent || o.with != nil || o.assigned || o.domain != "" {
		return console.Usage("the reports are of %s: --domain, --consistent, --with and --assigned are for others", mechanism)
	}
	return nil
}

// randomizeTree writes a report about the bins of each number.
func randomizeTree(s *console.Console, o *options) error {
	if o.domain != "" || o.devices != "" {
		return console.Usage("tree is for numbers: it takes --bounds, without --domain and --devices")
	}
	b, err := boundsOf(o.bounds)
	if err != nil {
		return err
	}
	e, err := o.epsilonOf(tree)
	if err != nil {
		return err
	}
	bins, err := console.WholeFlag("bins", o.bins, 2, 1<<16)
	if err != nil {
		return err
	}
	numbers, err := numbersIn(s, o.in, func(x *big.Rat) float64 {
		f, _ := x.Float64()
		return f
	})
	if err != nil {
		return err
	}
	low, _ := b.low.Float64()
	high, _ := b.high.Float64()
	q, err := local.NewQuantiles(e, low, high, uint64(bins), int64(len(numbers)))
	if err != nil {
		return err
	}
	var reports []local.MarginalsReport
	for _, x := range numbers {
		r, err := q.Randomize(x)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	write := func(w io.Writer) error { return q.Write(w, reports) }
	return writeOut(s, o, write, randomizedJSON{tree, json.RawMessage(render.JSONRat(e.Rat())), len(reports), q.Bits()})
}

type (
	distributionJSON struct {
		N         int64          `json:"n"`
		Quantiles []quantileJSON `json:"quantiles"`
		Below     []edgeJSON     `json:"below"`
		Shuffled  *shuffled      `json:"shuffled,omitempty"`
	}
	quantileJSON struct {
		Rank  json.RawMessage `json:"rank"`
		Value json.RawMessage `json:"value"`
		Low   json.RawMessage `json:"low"`
		High  json.RawMessage `json:"high"`
	}
	edgeJSON struct {
		Edge   json.RawMessage `json:"edge"`
		Share  json.RawMessage `json:"share"`
		Stddev json.RawMessage `json:"stddev"`
		Low    json.RawMessage `json:"low"`
		High   json.RawMessage `json:"high"`
	}
)

// estimateTree estimates quantiles, and the shares of numbers below the edges of the bins.
func estimateTree(s *console.Console, o *options, in io.Reader, confidence float64) error {
	if err := o.single(tree); err != nil {
		return err
	}
	q, t, err := local.ReadQuantiles(in)
	if err != nil {
		return fileError(err, o.in)
	}
	e, low, high := q.Params()
	if err := o.agrees(tree, e); err != nil {
		return err
	}
	below, err := q.Below(t, confidence)
	if err != nil {
		return err
	}
	k, _ := q.Bins()
	width := (high - low) / float64(k)
	out := distributionJSON{N: t.Reports()}
	if out.Shuffled, err = o.shuffle(t.Reports(), e); err != nil {
		return err
	}
	header := []string{"rank", "value", "from", "to"}
	places := render.Decimals(width)
	var rows [][]string
	for _, text := range strings.Split(o.quantiles, ",") {
		p, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return console.Usage("--quantiles must be ranks above 0 and below 1, such as 0.25,0.5,0.75, not %q", o.quantiles)
		}
		x, from, to, err := q.Quantile(t, p, confidence)
		if err != nil {
			return err
		}
		out.Quantiles = append(out.Quantiles, quantileJSON{number(p), number(x), number(from), number(to)})
		rows = append(rows, []string{
			strings.TrimSpace(text), render.Fixed(x, places), render.Fixed(from, places), render.Fixed(to, places),
		})
	}
	records := [][]string{{"edge", "share", "stddev", "low", "high"}}
	for i, f := range below {
		edge := low + float64(i)*width
		out.Below = append(out.Below, edgeJSON{
			number(edge), number(f.Frequency), number(f.Stddev), number(f.Low), number(f.High),
		})
		records = append(records, []string{
			render.CSVFloat(&edge), render.CSVFloat(&f.Frequency), render.CSVFloat(&f.Stddev), render.CSVFloat(&f.Low),
			render.CSVFloat(&f.High),
		})
	}
	words := fmt.Sprintf("%s about %s; each is private by itself, with ε = %s. The %s intervals cover the\n"+
		"sampling of the senders too. --format csv and json have the share below each of the %d edges of the bins.",
		render.Plural(int(t.Reports()), "report"), render.Plural(int(k), "bin"), e, render.Percent(o.confidence),
		len(below)) + out.Shuffled.words()
	return answered{out, records, header, rows, []bool{true, true, true, true}, words}.show(s)
}
