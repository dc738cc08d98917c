package survey

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local"
	"dither/local/mean"
	"dither/privacy"
)

// estimated is the result of `dither local estimate`.
type estimated struct {
	strata     []stratum
	domain     domain
	estimates  []local.Estimate
	confidence string
	consistent bool
	assigned   bool // the strata were pooled
	shuffled   *shuffled

	people int64  // without strata: the number of reports
	about  string // without strata: what explains the estimates
}

// reports returns the number of reports.
func (e *estimated) reports() (n int64) {
	n = e.people
	for _, s := range e.strata {
		n += s.tally.Reports()
	}
	return n
}

// estimate estimates the number of people with each value, from files of reports.
func estimate(s *console.Console, o *options) error {
	confidence, err := confidenceOf(o.confidence)
	if err != nil {
		return err
	}
	e := estimated{confidence: o.confidence, consistent: o.consistent, assigned: o.assigned}
	if o.domain != "" {
		if e.domain, err = domainOf(o.domain); err != nil {
			return err
		}
	}
	ahead := bufio.NewReader(s.Stdin)
	if o.in != "-" {
		file, err := os.Open(o.in)
		if err != nil {
			return console.Usage("%v", err)
		}
		defer func() { _ = file.Close() }() // it was only read
		ahead = bufio.NewReader(file)
	}
	switch format := formatIn(ahead); {
	case format == local.MarginalsFormat:
		return estimateMarginals(s, o, ahead, confidence)
	case format == mean.VectorFormat:
		return estimateVectors(s, o, ahead, confidence)
	case o.column != nil:
		return console.Usage("--column is for reports about several columns of a CSV file")
	case format == local.PrefixFormat:
		return estimatePrefixes(s, o, ahead, confidence)
	case format == local.QuantileFormat:
		return estimateTree(s, o, ahead, confidence)
	case format == mean.FileFormat:
		return estimateNumbers(s, o, ahead, confidence)
	}
	if o.ofNumbers() {
		return console.Usage("the reports are not about numbers: --bounds and --mechanism %s are", o.mechanism)
	}
	if err := e.read(ahead, o.in, o); err != nil {
		return err
	}
	if err := o.further(func(file *os.File, name string) error { return e.read(file, name, o) }); err != nil {
		return err
	}
	if e.shuffled, err = e.shuffle(o); err != nil {
		return err
	}
	if e.estimates, err = e.combined(confidence); err != nil {
		return err
	}
	return e.show(s)
}

// read reads the reports of a file, and compares their header with the flags that are given.
func (e *estimated) read(in io.Reader, name string, o *options) (err error) {
	var header local.Header
	tally, err := local.ReadTally(in, func(h local.Header) error {
		header = h
		switch {
		case o.domain == "" && h.Domain != "":
			return console.Usage("--domain is missing: the reports are about the values of a file")
		case o.domain == "" && len(e.strata) == 0:
			e.domain = domain{k: h.Values}
		case h.Values != e.domain.k:
			return console.Usage("the reports are about %d values, but %s has %d", h.Values, e.against(o), e.domain.k)
		case h.Domain != e.domain.digest:
			return console.Usage("the reports are about other values than those of --domain, or about their numbers")
		}
		return o.agrees(h.Mechanism, h.Epsilon)
	})
	if err != nil {
		return fileError(err, name)
	}
	return e.add(stratum{tally, header})
}

// against names what a file of reports is compared with.
func (e *estimated) against(o *options) string {
	if o.domain == "" {
		return "another file"
	}
	return "--domain"
}

// agrees returns an error if --mechanism or --epsilon is given, and is not that of the reports.
func (o *options) agrees(mechanism string, e privacy.Epsilon) error {
	if o.mechanism != "" && o.mechanism != mechanism {
		return console.Usage("the reports are of %s, not of --mechanism %s", mechanism, o.mechanism)
	}
	if o.epsilon == "" {
		return nil
	}
	given, err := console.EpsilonFlag(o.epsilon)
	if err != nil {
		return err
	}
	if given.Cmp(e) != 0 {
		return console.Usage("the reports have ε = %s, not --epsilon %s", e, o.epsilon)
	}
	return nil
}

// confidenceOf parses a confidence above 0 and below 1.
func confidenceOf(text string) (float64, error) {
	r, err := console.NumberFlag("confidence", text)
	if err != nil {
		return 0, err
	}
	c, _ := r.Float64()
	if r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 || !(c > 0 && c < 1) {
		return 0, console.Usage("--confidence must be above 0 and below 1")
	}
	return c, nil
}

// mostRows is the largest number of values of a table for people. Other formats have all values.
const mostRows = 50

func (e estimated) show(s *console.Console) error {
	switch s.Format {
	case "json":
		return e.json(s)
	case "csv":
		records := [][]string{{"value", "estimate", "stddev", "low", "high"}}
		for _, v := range e.estimates {
			records = append(records, []string{
				e.domain.name(v.Value), render.CSVFloat(&v.Count), render.CSVFloat(&v.Stddev),
				render.CSVFloat(&v.Low), render.CSVFloat(&v.High),
			})
		}
		return s.CSV(records)
	}
	header := []string{"value", "people", "from", "to", "share"}
	n := float64(e.reports())
	var rows [][]string
	for _, v := range e.estimates[:min(len(e.estimates), mostRows)] {
		places := 0
		half := (v.High - v.Low) / 2
		if half > 0 {
			places = render.Decimals(half)
		}
		share := "–"
		if n > 0 {
			share = render.Fixed(100*v.Count/n, min(render.Decimals(100*half/n), 6)) + " %"
		}
		rows = append(rows, []string{
			e.domain.name(
				v.Value,
			),
			render.Fixed(v.Count, places),
			render.Fixed(v.Low, places),
			render.Fixed(v.High, places),
			share,
		})
	}
	right := []bool{false, true, true, true, true}
	if s.Format == "markdown" {
		s.Print("%s\n%s\n", render.MarkdownTable(header, right, rows), render.MarkdownParagraphs(e.words()))
		return nil
	}
	s.Print("%s\n%s\n", grid(header, rows, right...), e.words())
	return nil
}

// words explains the estimates.
func (e estimated) words() string {
	text := ""
	if hidden := len(e.estimates) - mostRows; hidden > 0 {
		text = fmt.Sprintf(
			"The table has the first %d of %d values: --format csv and json have all.\n",
			mostRows,
			len(e.estimates),
		)
	}
	if e.about != "" {
		return text + e.about
	}
	text += e.sources() + fmt.Sprintf("The %s intervals cover the randomness of the reports, not a sampling of their senders.\n"+
		"One false report changes an estimate by at most %s.", render.Percent(e.confidence),
		render.TwoDigitsUp(e.weight()))
	if e.consistent {
		text += "\nThe counts are moved to the nearest ones that are not negative and sum up to n.\n" +
			"So rare values are overestimated."
	}
	return text + e.shuffled.words()
}

// valueJSON is an estimate in JSON.
type valueJSON struct {
	Value    string          `json:"value"`
	Estimate json.RawMessage `json:"estimate"`
	Stddev   json.RawMessage `json:"stddev"`
	Low      json.RawMessage `json:"low"`
	High     json.RawMessage `json:"high"`
}

func number(x float64) json.RawMessage { return json.RawMessage(render.JSONFloat(x)) }

// json prints the estimates piece by piece, because there may be millions.
func (e estimated) json(s *console.Console) error {
	var b strings.Builder
	fmt.Fprintf(&b, `{"n":%d,"values":[`, e.reports())
	for i, v := range e.estimates {
		text, err := json.Marshal(valueJSON{
			e.domain.name(v.Value), number(v.Count), number(v.Stddev), number(v.Low), number(v.High),
		})
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(render.PrintableJSON(text))
		if b.Len() > 1<<16 {
			s.Print("%s", b.String())
			b.Reset()
		}
	}
	s.Print("%s]%s}\n", b.String(), e.shuffled.json())
	return nil
}
