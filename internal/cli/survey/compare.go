package survey

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/local"
	"dither/privacy"
)

// compared is the expected error of a count under the three models.
type compared struct {
	n       int64
	epsilon privacy.Epsilon

	local      reporting
	candidates []local.Candidate // without --mechanism

	shuffled *reporting // nil if there is no certified ε

	centralError float64
}

// reporting is how people report, and the error of the result.
type reporting struct {
	mechanism string
	epsilon   privacy.Epsilon // of a report
	bits      int
	stddev    float64 // of the count of a value, as a mean over all values
}

type comparison struct {
	k     uint64
	of    string // --mechanism, or "" for counts by the best one
	delta privacy.Delta
	rows  []compared
}

// compare sets the errors of local, shuffled and central counts beside each other.
func compare(s *console.Console, o *options) error {
	k, err := o.valuesOf()
	if err != nil {
		return err
	}
	c := comparison{k: k}
	if c.delta, err = console.DeltaFlag(o.delta); err != nil {
		return err
	}
	if c.delta.IsZero() {
		return console.Usage("--delta must be above 0: shuffled reports promise an ε with a δ only")
	}
	bits, err := o.mostBits()
	if err != nil {
		return err
	}
	if err := o.comparable(); err != nil {
		return err
	}
	c.of = o.mechanism
	picture := console.Picture{File: o.plot}
	if err := picture.Check(s); err != nil {
		return err
	}
	epsilons, sizes := o.epsilon, o.n
	if epsilons == "" {
		epsilons = "1"
	}
	if sizes == "" {
		sizes = "1000,10000,100000"
	}
	for _, text := range strings.Split(epsilons, ",") {
		e, err := console.EpsilonFlag(strings.TrimSpace(text))
		if err != nil {
			return err
		}
		for _, size := range strings.Split(sizes, ",") {
			n, err := peopleOf(strings.TrimSpace(size))
			if err != nil {
				return err
			}
			if len(c.rows) == 100 {
				return console.Usage("compare takes at most 100 pairs of --epsilon and --n")
			}
			row, err := o.compareAt(k, e, n, c.delta, bits)
			if err != nil {
				return err
			}
			c.rows = append(c.rows, row)
		}
	}
	if err := c.show(s); err != nil || o.plot == "" {
		return err
	}
	return c.draw(o.plot)
}

// mostCertified is the largest number of reports for which compare certifies shuffling, which takes a time that grows
// as the square root.
const mostCertified = 10_000_000

func (o *options) compareAt(k uint64, e privacy.Epsilon, n int64, d privacy.Delta, bits int) (c compared, err error) {
	c.n, c.epsilon = n, e
	if c.local, c.candidates, err = o.reporting(k, e, n, bits); err != nil {
		return c, err
	}
	if n <= mostCertified && !o.repeats() {
		before, err := local.BeforeShuffling(n, e, d)
		if err != nil {
			return c, err
		}
		shuffled, _, err := o.reporting(k, before, n, bits)
		if err != nil {
			return c, err
		}
		c.shuffled = &shuffled
	}
	c.centralError, err = o.centralError(k, e)
	return c, err
}

func (c comparison) table() (header []string, rows [][]string) {
	header = []string{"ε", "people", "local", "± share", "shuffled", "± share", "central", "± share"}
	for _, r := range c.rows {
		share := func(x float64) string { return render.TwoDigits(100*x/float64(r.n)) + " %" }
		row := []string{
			render.Given(r.epsilon.Rat()),
			render.ShortInt(r.n),
			"±" + render.TwoDigits(2*r.local.stddev) + " " + r.local.mechanism,
			share(2 * r.local.stddev),
			"–",
			"–",
			"±" + render.TwoDigits(2*r.centralError),
			share(2 * r.centralError),
		}
		if r.shuffled != nil {
			row[4] = fmt.Sprintf(
				"±%s %s at ε₀ = %s",
				render.TwoDigits(2*r.shuffled.stddev),
				r.shuffled.mechanism,
				render.Given(r.shuffled.epsilon.Rat()),
			)
			row[5] = share(2 * r.shuffled.stddev)
		}
		rows = append(rows, row)
	}
	return header, rows
}

// choices is the table of the oracles that were compared.
func (r compared) choices() (header []string, rows [][]string) {
	header = []string{"mechanism", "±", "bits", ""}
	for _, c := range r.candidates {
		note := c.Refused
		if c.Mechanism == r.local.mechanism {
			note = "best"
		}
		rows = append(rows, []string{
			c.Mechanism,
			"±" + render.TwoDigits(2*float64(r.n)*math.Sqrt(c.Variance)),
			render.ShortInt(int64(c.Bits)),
			note,
		})
	}
	return header, rows
}

func (c comparison) words() string {
	of := fmt.Sprintf("the count of one of %s values, at the mean frequency", render.ShortInt(int64(c.k)))
	switch c.of {
	case prefix:
		of = fmt.Sprintf("the count of a rare value that was found among %s", render.ShortInt(int64(c.k)))
	case tree:
		of = fmt.Sprintf("the number of people below an edge of %s bins, as a mean over the edges", render.ShortInt(int64(c.k)))
	}
	text := fmt.Sprintf("±: two standard deviations of %s.\n"+
		"local: each person randomizes the own value, and nobody is trusted.\n", of)
	if memory(c.of) {
		return text + "A device answers again and again from its memory, and ε is the loss for each state of its value. Shuffling\n" +
			"is certified for one report of a person only.\n" +
			"central: a trusted curator adds noise to the exact counts once for each state. Both are for change-one neighbours."
	}
	return text + fmt.Sprintf("shuffled: reports of a larger ε₀ reach the collector through a separate shuffler that removes identities,\n"+
		"times and order, and are (ε, %s)-differentially private after it, if nobody of the batch colludes.\n"+
		"central: a trusted curator adds noise to the exact counts. All three are for change-one neighbours.",
		render.Given(c.delta.Rat()))
}

func (c comparison) show(s *console.Console) error {
	header, rows := c.table()
	switch s.Format {
	case "json":
		return s.JSON(c)
	case "csv":
		records := [][]string{
			{
				"epsilon",
				"n",
				"local",
				"local_stddev",
				"shuffled",
				"shuffled_epsilon",
				"shuffled_stddev",
				"central_stddev",
			},
		}
		for _, r := range c.rows {
			record := []string{
				r.epsilon.String(),
				fmt.Sprint(r.n),
				r.local.mechanism,
				render.CSVFloat(&r.local.stddev),
				"",
				"",
				"",
				render.CSVFloat(&r.centralError),
			}
			if r.shuffled != nil {
				record[4], record[5], record[6] = r.shuffled.mechanism, r.shuffled.epsilon.String(), render.CSVFloat(&r.shuffled.stddev)
			}
			records = append(records, record)
		}
		return s.CSV(records)
	}
	single := len(c.rows) == 1 && c.of == ""
	if s.Format == "markdown" {
		right := []bool{true, true, false, true, false, true, true, true}
		s.Print("%s\n%s\n", render.MarkdownTable(header, right, rows), render.MarkdownParagraphs(c.words()))
		if single {
			header, rows := c.rows[0].choices()
			s.Print("\n%s", render.MarkdownTable(header, []bool{false, true, true}, rows))
		}
		return nil
	}
	s.Print("%s\n", grid(header, rows, true, true, false, true, false, true, true, true))
	if single {
		header, rows := c.rows[0].choices()
		s.Print("%s\n", grid(header, rows, false, true, true))
	}
	s.Print("%s\n", c.words())
	return nil
}

// grid returns a table as text.
func grid(header []string, rows [][]string, right ...bool) string {
	g := render.Grid{Right: right}
	g.Add(header...)
	for _, r := range rows {
		g.Add(r...)
	}
	return g.Text("  ")
}

// draw draws the errors of counts against the number of people.
func (c comparison) draw(file string) error {
	l := plot.Lines{
		Title: "Error of a count, without and with trust",
		X:     "log₁₀ of the number of people",
		Y:     "standard deviation of a count",
		Caption: fmt.Sprintf(
			"%d values, change-one neighbours; δ = %s for shuffled reports.",
			c.k,
			render.Given(c.delta.Rat()),
		),
	}
	lines := map[string]int{}
	add := func(name string, n int64, y float64) {
		i, ok := lines[name]
		if !ok {
			i = len(l.Lines)
			lines[name], l.Lines = i, append(l.Lines, plot.Line{Name: name})
		}
		l.Lines[i].Points = append(l.Lines[i].Points, plot.Point{X: math.Log10(float64(n)), Y: y})
	}
	for _, r := range c.rows {
		at := ", ε = " + render.Given(r.epsilon.Rat())
		add("local"+at, r.n, r.local.stddev)
		if r.shuffled != nil {
			add("shuffled"+at, r.n, r.shuffled.stddev)
		}
		add("central"+at, r.n, r.centralError)
	}
	if len(l.Lines) > plot.MaxSeries {
		return console.Usage("--plot draws at most %d lines: choose at most two --epsilon", plot.MaxSeries)
	}
	return console.DrawFile(file, plot.WriteLines, l, "")
}

type (
	comparisonJSON struct {
		Values uint64          `json:"values"`
		Delta  json.RawMessage `json:"delta"`
		Rows   []comparedJSON  `json:"rows"`
	}
	comparedJSON struct {
		Epsilon  json.RawMessage `json:"epsilon"`
		N        int64           `json:"n"`
		Local    modelJSON       `json:"local"`
		Shuffled *modelJSON      `json:"shuffled"`
		Central  modelJSON       `json:"central"`
		Choices  []choiceJSON    `json:"choices"`
	}
	modelJSON struct {
		Mechanism string          `json:"mechanism,omitempty"`
		Epsilon   json.RawMessage `json:"report_epsilon,omitempty"`
		Bits      int             `json:"bits,omitempty"`
		Stddev    json.RawMessage `json:"stddev"`
	}
	choiceJSON struct {
		Mechanism string          `json:"mechanism"`
		Bits      int             `json:"bits"`
		Variance  json.RawMessage `json:"variance"`
		Refused   *string         `json:"refused"`
	}
)

// MarshalJSON implements json.Marshaler.
func (c comparison) MarshalJSON() ([]byte, error) {
	out := comparisonJSON{c.k, json.RawMessage(render.JSONRat(c.delta.Rat())), nil}
	model := func(r reporting) modelJSON {
		return modelJSON{r.mechanism, json.RawMessage(render.JSONRat(r.epsilon.Rat())), r.bits, number(r.stddev)}
	}
	for _, r := range c.rows {
		row := comparedJSON{
			Epsilon: json.RawMessage(render.JSONRat(r.epsilon.Rat())), N: r.n,
			Local: model(r.local), Central: modelJSON{Stddev: number(r.centralError)},
		}
		if r.shuffled != nil {
			m := model(*r.shuffled)
			row.Shuffled = &m
		}
		for _, x := range r.candidates {
			choice := choiceJSON{x.Mechanism, x.Bits, number(x.Variance), nil}
			if x.Refused != "" {
				choice.Refused = &x.Refused
			}
			row.Choices = append(row.Choices, choice)
		}
		out.Rows = append(out.Rows, row)
	}
	return json.Marshal(out)
}
