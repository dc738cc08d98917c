package strategies

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/strategy"
)

// shown is a comparison of strategies, with the question that it answers.
type shown struct {
	*strategy.Choice
	workload strategy.Workload
	price    price
}

func show(s *console.Console, a asked, c shown) error {
	header, rows := c.rows()
	right := []bool{false, true, true}
	switch s.Format {
	case "json":
		if err := s.JSON(c); err != nil {
			return err
		}
	case "markdown":
		s.Print("%s\n%s\n", render.MarkdownTable(header, right, rows), render.MarkdownParagraphs(c.words()))
	default:
		s.Print("%s\n%s\n", grid(header, right, rows), c.words())
	}
	if a.explain && s.Format != "json" {
		header, rows := c.lengths()
		right := []bool{true, true, true, true}
		switch {
		case len(rows) == 0:
			s.Print("\nThe questions are no intervals, so they have no lengths.\n")
		case s.Format == "markdown":
			s.Print("\n%s", render.MarkdownTable(header, right, rows))
		default:
			s.Print("\n%s", grid(header, right, rows))
		}
	}
	if a.picture.File != "" {
		return console.DrawFile(a.picture.File, plot.WriteLines, c.lines(), "")
	}
	return nil
}

func grid(header []string, right []bool, rows [][]string) string {
	g := render.Grid{Right: right}
	g.Add(header...)
	for _, row := range rows {
		g.Add(row...)
	}
	return g.Text("  ")
}

// rows returns the table of candidates and the bound.
func (c shown) rows() (header []string, rows [][]string) {
	for _, k := range c.Candidates {
		name := k.Name
		if name == c.Chosen.Name {
			name += " (chosen)"
		}
		rows = append(rows, []string{name, digits(k.RMSE), digits(k.Maximum)})
	}
	rows = append(rows, []string{"lower bound", digits(c.Bound), ""})
	return []string{"measure", "rmse", "maximum"}, rows
}

// digits returns an error with four decimals, or a large one in the form 1.2e+20.
func digits(x float64) string {
	if x >= 1e9 {
		return strconv.FormatFloat(x, 'e', 3, 64)
	}
	return render.Fixed(x, 4)
}

// words explains the units of the table.
func (c shown) words() string {
	return errorWords(float64(c.workload.Queries()), c.price, c.Chosen.RMSE)
}

// errorWords explains the units of a table of expected errors, and states the rmse of the chosen strategy at its price.
func errorWords(answers float64, p price, rmse float64) string {
	text := fmt.Sprintf("rmse is the root of the mean variance of %s, and maximum the root of the largest variance.\n"+
		"Both are in units of the noise of one count, whose standard deviation at %s is %s.\n"+
		"No strategy has an rmse below the bound.",
		render.Plural(int(min(answers, 1e18)), "answer"), p.text, render.Compact(p.deviation))
	if p.unit == strategy.Epsilon {
		text += " It is the bound for Gaussian noise, which holds for a price in ε too,\nbut no strategy may come near it."
	}
	return text + fmt.Sprintf("\nAt this price, the errors of the chosen strategy have a root mean square of %s. Answers below that are lost in it.",
		render.Compact(rmse*p.deviation))
}

// lengths returns the expected error by the length of intervals, for at most some twenty lengths.
func (c shown) lengths() (header []string, rows [][]string) {
	all := c.Chosen.ByLength()
	next := 1
	for i, l := range all {
		if l.Length < next && i < len(all)-1 {
			continue
		}
		next = max(l.Length+1, l.Length*3/2)
		rows = append(rows, []string{
			fmt.Sprint(l.Length), fmt.Sprint(l.Queries), digits(l.RMSE), digits(l.Maximum),
		})
	}
	return []string{"length", "questions", "rmse", "maximum"}, rows
}

// lines returns a picture of the expected error by length, beside that of measuring each cell.
func (c shown) lines() plot.Lines {
	of := plot.Line{Name: c.Chosen.Name}
	each := plot.Line{Name: "identity"}
	for _, l := range c.Chosen.ByLength() {
		of.Points = append(of.Points, plot.Point{X: float64(l.Length), Y: l.RMSE})
		each.Points = append(each.Points, plot.Point{X: float64(l.Length), Y: math.Sqrt(float64(l.Length))})
	}
	l := plot.Lines{
		Title: "Expected error by length", X: "length of the interval", Y: "rmse", Linear: true,
		Caption: "In units of the noise of one count at " + c.price.text + ".",
		Lines:   []plot.Line{each},
	}
	if c.Chosen.Name != each.Name {
		l.Lines = append(l.Lines, of)
	}
	return l
}

// comparison is the JSON form of a comparison of strategies: the chosen one has its errors beside it.
type comparison struct {
	Candidates []candidate `json:"candidates"`
	Chosen     string      `json:"chosen"`
	RMSE       float64     `json:"rmse"`
	Maximum    float64     `json:"maximum"`
	Bound      float64     `json:"bound"`

	Noise float64       `json:"noise,omitempty"` // of one count or sum in a home, whose bounds make it larger
	Price *curator.Loss `json:"price,omitempty"` // in a home
}

// in returns the comparison with the noise in the home that the price is for, if there is one.
func (c comparison) in(p price) comparison {
	if p.home != nil {
		c.Noise, c.Price = p.deviation, p.home
	}
	return c
}

type candidate struct {
	Name    string  `json:"name"`
	RMSE    float64 `json:"rmse"`
	Maximum float64 `json:"maximum"`
}

// MarshalJSON writes the candidates, the chosen one with its errors, and the bound.
func (c shown) MarshalJSON() ([]byte, error) {
	out := comparison{Chosen: c.Chosen.Name, RMSE: c.Chosen.RMSE, Maximum: c.Chosen.Maximum, Bound: c.Bound}
	for _, k := range c.Candidates {
		out.Candidates = append(out.Candidates, candidate{k.Name, k.RMSE, k.Maximum})
	}
	return json.Marshal(out.in(c.price))
}
