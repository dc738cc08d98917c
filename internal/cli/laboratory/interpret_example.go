package laboratory

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"dither/audit/interpret"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
)

// studied is the published answer in the worked example. It is a typical answer if smoking is harmful.
const studied = 21

// smoking is the worked example with its results.
type smoking struct {
	interpret.Study
	beliefs []belief
	ratio   float64 // largest |ln ratio| over all events and all answers
	at      int64   // the answer at which it is attained
}

// belief is what an insurer believes about one event.
type belief struct {
	key, name     string
	prior         *big.Rat
	with, without interpret.Between
	ratio         interpret.Between // bounds of |ln(with/without)|
}

// interpretExample prints the worked example.
func interpretExample(s *console.Console, name, epsilon string, specs []string, picture string) error {
	if name != "smoking" {
		return console.Usage("there is no example %q; there is smoking", name)
	}
	if other := strayFlag(s.Flags, "C", "format", "example", "epsilon", "plot"); other != "" {
		return console.Usage("%s cannot be used with --example", console.Dashed(other))
	}
	if len(specs) > 0 {
		return console.Usage("--example takes no mechanism: give --epsilon")
	}
	if err := (&console.Picture{File: picture}).Check(s); err != nil {
		return err
	}
	if epsilon == "" {
		epsilon = "0.5"
	}
	e, err := console.EpsilonFlag(epsilon)
	if err != nil {
		return err
	}
	// Below 0.1, the noise hides the result of the study. Above 5, the bound 2ε promises almost nothing about
	// Alice.
	if r := e.Rat(); r.Cmp(big.NewRat(1, 10)) < 0 || r.Cmp(big.NewRat(5, 1)) > 0 {
		return console.Usage("--example smoking needs an ε from 0.1 to 5, not --epsilon %s", epsilon)
	}
	x := smoking{Study: interpret.SmokingStudy(e)}
	if err := x.infer(); err != nil {
		return err
	}
	switch s.Format {
	case "json":
		err = s.JSON(x)
	case "markdown":
		header, rows := x.rows()
		s.Print("%s\n\n%s\n%s\n", render.MarkdownParagraphs(x.story()),
			render.MarkdownTable(header, []bool{1: true, 2: true, 3: true, 4: true}, rows),
			render.MarkdownParagraphs(x.moral()))
	default:
		g := render.Grid{Right: []bool{1: true, 2: true, 3: true, 4: true}}
		header, rows := x.rows()
		g.Add(header...)
		for _, row := range rows {
			g.Add(row...)
		}
		s.Print("%s\n\n%s\n%s\n", x.story(), g.Text("  "), x.moral())
	}
	if err != nil || picture == "" {
		return err
	}
	return console.DrawFile(picture, plot.Write, x.chart(), "")
}

func (x *smoking) infer() error {
	in, err := x.Inference(studied)
	if err != nil {
		return err
	}
	p, err := in.Posterior()
	if err != nil {
		return err
	}
	for _, b := range []struct {
		key, name string
		event     func(int) bool
	}{{"harmful", "smoking is harmful", x.HarmfulIn}, {"alice", "Alice has lung cancer", x.AliceIn}} {
		one := belief{key: b.key, name: b.name, prior: new(big.Rat), ratio: p.EventRatio(b.event)}
		for set, weight := range in.Prior {
			if b.event(set) {
				one.prior.Add(one.prior, weight)
			}
		}
		one.with, one.without = p.Of(b.event)
		x.beliefs = append(x.beliefs, one)
	}
	x.ratio, x.at, err = x.LargestRatio()
	return err
}

func (x *smoking) story() string {
	return filled(
		fmt.Sprintf(
			"Alice smokes, and takes part in a study of %d smokers. Her insurer gives even odds to two hypotheses: smoking is harmless "+
				"(%s of smokers have lung cancer) or harmful (%s have it). The study publishes the number of participants with lung cancer, "+
				"with discrete Laplace noise, at ε = %s. The published number is %d.",
			x.Smokers, decimal(x.Harmless), decimal(x.Harmful), render.Given(x.Epsilon.Rat()), studied))
}

func (x *smoking) rows() (header []string, rows [][]string) {
	header = []string{"the insurer believes that", "before", "after", "after, without her", "|ln of their ratio|"}
	for _, b := range x.beliefs {
		rows = append(rows, []string{
			b.name, string(decimal(b.prior)), believed(b.with), believed(b.without),
			fourDigits(b.ratio.Upper),
		})
	}
	return header, rows
}

// believed writes a probability. It never writes 1 for a probability below 1.
func believed(b interpret.Between) string {
	if text := fourDigits(b.Lower); text != "1" {
		return text
	}
	return "above 0.9999"
}

// fourDigits writes a number with four digits. The bounds of the number agree in many more.
func fourDigits(x float64) string { return render.ShortPower(strconv.FormatFloat(x, 'g', 4, 64)) }

func (x *smoking) moral() string {
	bound := 2 * floatUp(x.Epsilon.Rat())
	return filled(
		"The insurer's belief about Alice changes a lot, and her premium with it. Without her data it would have changed as much: "+
			"the insurer learned about smoking, not about her.",
	) + "\n\n" +
		filled(
			fmt.Sprintf(
				"The promise: for every event, after every answer and whatever was believed before, |ln| of that ratio is at most "+
					"2ε = %s [Kasiviswanathan & Smith 2014]. In this study it is at most %s, at an answer of %d. If the study published the exact "+
					"count, an insurer who knows all the other rows would know Alice's row.",
				upTo(bound),
				upTo(x.ratio),
				x.at,
			))
}

func (x *smoking) chart() plot.Chart {
	c := plot.Chart{
		Title:  "What an insurer believes, before and after a study",
		Series: []string{"before", "after", "after, without Alice"},
		Caption: fmt.Sprintf(
			"ε = %s. After any answer, beliefs with her data and without are within a factor of e^±2ε.",
			render.Given(x.Epsilon.Rat())),
	}
	p := plot.Panel{Name: "probability", Marks: make([][]plot.Mark, 3)}
	for _, b := range x.beliefs {
		c.Groups = append(c.Groups, b.name)
		for i, value := range []float64{float(b.prior), b.with.Upper, b.without.Upper} {
			p.Marks[i] = append(p.Marks[i],
				plot.Mark{Value: value, Low: math.NaN(), High: math.NaN(), Text: fourDigits(value)})
		}
	}
	c.Panels = []plot.Panel{p}
	return c
}

// The JSON form of the example, which docs/reference/json.md documents.
type (
	smokingJSON struct {
		Epsilon         json.RawMessage `json:"epsilon"`
		Smokers         int             `json:"smokers"`
		Harmless        json.RawMessage `json:"harmless"`
		Harmful         json.RawMessage `json:"harmful"`
		Answer          int             `json:"answer"`
		Beliefs         beliefsJSON     `json:"beliefs"`
		LargestLogRatio json.RawMessage `json:"largest_log_ratio"`
		LargestAt       int64           `json:"largest_at"`
		Bound           json.RawMessage `json:"bound"`
	}
	beliefsJSON struct {
		Harmful beliefJSON `json:"harmful"`
		Alice   beliefJSON `json:"alice"`
	}
	beliefJSON struct {
		Before   json.RawMessage `json:"before"`
		After    *betweenJSON    `json:"after"`
		Without  *betweenJSON    `json:"without"`
		LogRatio *betweenJSON    `json:"log_ratio"`
	}
)

// MarshalJSON implements json.Marshaler.
func (x smoking) MarshalJSON() ([]byte, error) {
	of := func(b belief) beliefJSON {
		return beliefJSON{decimal(b.prior), between(b.with), between(b.without), between(b.ratio)}
	}
	return json.Marshal(smokingJSON{
		decimal(x.Epsilon.Rat()), x.Smokers, decimal(x.Harmless), decimal(x.Harmful), studied,
		beliefsJSON{of(x.beliefs[0]), of(x.beliefs[1])},
		number(x.ratio), x.at, number(2 * floatUp(x.Epsilon.Rat())),
	})
}
