package survey

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local/mean"
)

// averages are files of reports about numbers.
type averages struct {
	bounds  bounds
	tallies []*mean.Tally // with different mechanisms or ε
	headers []mean.Header // of these
}

// read reads a file. The bounds of all files, and those of --bounds, are the same.
func (a *averages) read(in io.Reader, name string, o *options) error {
	var of mean.Header
	t, err := mean.ReadTally(in, func(h mean.Header) (err error) {
		of = h
		b, err := boundsOf(h.Low + "," + h.High)
		if err != nil {
			return console.Usage("%s: line 1: the bounds are invalid", inputName(name))
		}
		same := func(other bounds) bool { return other.low.Cmp(b.low) == 0 && other.high.Cmp(b.high) == 0 }
		if a.tallies != nil && !same(a.bounds) {
			return console.Usage("%s: the reports have the bounds %s,%s, but those of --in have %s,%s", name, h.Low, h.High,
				a.bounds.lowText, a.bounds.highText)
		}
		if o.bounds != "" {
			given, err := boundsOf(o.bounds)
			if err != nil {
				return err
			}
			if !same(given) {
				return console.Usage("the reports have the bounds %s,%s, not --bounds %s", h.Low, h.High, o.bounds)
			}
		}
		if a.tallies == nil {
			a.bounds = b
		}
		return o.agrees(string(h.Mechanism), h.Epsilon)
	})
	if err != nil {
		return fileError(err, name)
	}
	for _, other := range a.tallies {
		if other.Merge(t) == nil {
			return nil
		}
	}
	a.tallies, a.headers = append(a.tallies, t), append(a.headers, of)
	return nil
}

// combined estimates the mean of all files. It weights them by their numbers of reports, which is right whatever made
// people choose their ε. If they were assigned to the files, the weights have a smaller error.
func (a *averages) combined(confidence float64, assigned bool) (e mean.Combined, err error) {
	switch t := a.tallies; {
	case len(t) == 1 && t[0].Reports() == 0:
		e.Estimate, err = t[0].Estimate(confidence)
	case assigned:
		e, err = mean.Pool(confidence, t)
	default:
		e, err = mean.Sum(confidence, t)
	}
	center, half := a.bounds.scale()
	e.Mean, e.Low, e.High = center+half*e.Mean, center+half*e.Low, center+half*e.High
	e.Stddev, e.Effect = half*e.Stddev, half*e.Effect
	return e, err
}

// estimateNumbers estimates a mean from files of reports.
func estimateNumbers(s *console.Console, o *options, in io.Reader, confidence float64) error {
	if o.consistent || o.domain != "" {
		return console.Usage("the reports are about numbers: --domain and --consistent are for values")
	}
	a := &averages{}
	if err := a.read(in, o.in, o); err != nil {
		return err
	}
	err := o.further(func(file *os.File, name string) error { return a.read(file, name, o) })
	if err != nil {
		return err
	}
	e, err := a.combined(confidence, o.assigned)
	if err != nil {
		return err
	}
	var after *shuffled
	if len(a.headers) > 1 {
		err = o.severalShuffled()
	} else {
		after, err = o.shuffle(e.N, a.headers[0].Epsilon)
	}
	if err != nil {
		return err
	}
	switch s.Format {
	case "json":
		return s.JSON(meanJSON{e.N, number(e.Mean), number(e.Stddev), number(e.Low), number(e.High), after})
	case "csv":
		return s.CSV([][]string{
			{"mean", "stddev", "low", "high"},
			{render.CSVFloat(&e.Mean), render.CSVFloat(&e.Stddev), render.CSVFloat(&e.Low), render.CSVFloat(&e.High)},
		})
	}
	text := a.words(o, e) + after.words()
	if s.Format == "markdown" {
		text = render.MarkdownParagraphs(text)
	}
	s.Print("%s\n", text)
	return nil
}

func (a *averages) words(o *options, e mean.Combined) string {
	places := render.Decimals(max((e.High-e.Low)/2, 1e-12))
	var text strings.Builder
	fmt.Fprintf(&text, "The mean is %s, with the %s interval from %s to %s.\n", render.Fixed(e.Mean, places),
		render.Percent(o.confidence), render.Fixed(e.Low, places), render.Fixed(e.High, places))
	for i, h := range a.headers {
		fmt.Fprintf(&text, "%s by %s; each is private by itself, with ε = %s.\n",
			render.Plural(int(a.tallies[i].Reports()), "report"), h.Mechanism, h.Epsilon)
	}
	switch {
	case len(a.tallies) == 1:
	case o.assigned:
		text.WriteString("The files were weighted by their declared parameters and numbers of reports. " +
			"That is right if people were\nassigned to the files independently of their numbers.\n")
	default:
		text.WriteString("The files were weighted by their numbers of reports, " +
			"which is right whatever made people choose their ε.\n")
	}
	fmt.Fprintf(&text, "Numbers beyond %s and %s were clamped. The interval covers the sampling of the senders too.",
		a.bounds.lowText, a.bounds.highText)
	if e.N > 0 {
		fmt.Fprintf(&text, "\nOne false report moves the mean by at most %s.", render.TwoDigitsUp(e.Effect))
	}
	return text.String()
}

type meanJSON struct {
	N        int64           `json:"n"`
	Mean     json.RawMessage `json:"mean"`
	Stddev   json.RawMessage `json:"stddev"`
	Low      json.RawMessage `json:"low"`
	High     json.RawMessage `json:"high"`
	Shuffled *shuffled       `json:"shuffled,omitempty"`
}
