package statistics

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/privacy"
)

// planned is the plan of a test: its power, or the number of people or the price that a given power requires.
type planned struct {
	of, asked      string // asked is the computed quantity: power, n or epsilon
	n, power       float64
	alpha          float64
	epsilon, rho   string
	noise          string
	known          bool
	reached        bool
	curve          []plot.Point
	against, where string
}

type plannedJSON struct {
	Test    string   `json:"test"`
	Asked   string   `json:"asked"`
	Power   *float64 `json:"power"`
	N       *float64 `json:"n"`
	Alpha   float64  `json:"alpha"`
	Epsilon *string  `json:"epsilon"`
	Rho     *string  `json:"rho"`
	Noise   string   `json:"noise"`
	Reached bool     `json:"reached"`
}

// MarshalJSON writes the plan in the form that docs/reference/json.md documents.
func (p planned) MarshalJSON() ([]byte, error) {
	return json.Marshal(plannedJSON{
		p.of, p.asked, render.NumberOrNull(p.power), render.NumberOrNull(p.n), p.alpha,
		render.TextOrNull(p.epsilon), render.TextOrNull(p.rho), p.noise, p.reached,
	})
}

// priced converts a price to the variance of the noise. rho reports whether prices are ρ rather than ε.
type priced struct {
	rho bool
	// sensitivity of a histogram: 1, or 2 if neighbours replace one person; under ρ this is the square of the L₂
	// sensitivity
	delta float64
}

// variance returns the variance of the noise at a price.
func (p priced) variance(price float64) float64 {
	if p.rho {
		return p.delta / (2 * price) // delta is the square of the L₂ sensitivity
	}
	e := math.Exp(-price / p.delta)
	d := -math.Expm1(-price / p.delta)
	return 2 * e / (d * d)
}

// runPower computes a test's power, or the number of people or the price that it requires.
func runPower(s *console.Console, o *testOptions) error {
	switch o.get("of") {
	case "binomial":
		return binomialPower(s, o)
	case "gof", "independence":
		return countsPower(s, o)
	}
	return console.Usage("test power needs --of gof, --of independence or --of binomial")
}

// level parses the level and the power of the test.
func (o *testOptions) level() (alpha, power float64, err error) {
	if alpha, err = o.number("alpha", 0.05); err != nil {
		return
	}
	if power, err = o.number("power", 0.8); err != nil {
		return
	}
	if !(alpha > 0 && alpha < 1 && power > 0 && power < 1) {
		err = console.Usage("--alpha and --power must be between 0 and 1")
	}
	return
}

// prices parses the flags that determine how a price becomes noise.
func (o *testOptions) prices() (p priced, err error) {
	p.delta = 1
	if o.given["neighbours"] {
		n, err := privacy.ParseNeighbours(o.get("neighbours"))
		if err != nil {
			return p, console.Usage("--%v", err)
		}
		if n == privacy.ChangeOne {
			p.delta = 2
		}
	}
	p.rho = o.given["rho"]
	return p, nil
}

func countsPower(s *console.Console, o *testOptions) error {
	d, truth, err := o.design()
	if err != nil {
		return err
	}
	alpha, power, err := o.level()
	if err != nil {
		return err
	}
	d.Alpha = alpha
	p := planned{of: o.get("of"), alpha: alpha, n: math.NaN(), power: power, reached: true, against: truth}
	prices, err := o.prices()
	if err != nil {
		return err
	}
	given := 0
	for _, name := range []string{"epsilon", "rho", "sigma", "laplace-scale"} {
		if o.given[name] {
			given++
		}
	}
	if given > 1 {
		return console.Usage("give the noise by only one of --epsilon, --rho, --sigma and --laplace-scale")
	}
	n, err := o.people()
	if err != nil {
		return err
	}
	if given == 0 {
		return countsPrice(s, p, d, n, power, prices)
	}
	var v float64
	switch {
	case o.given["epsilon"] || o.given["rho"]:
		name := "epsilon"
		if prices.rho {
			name = "rho"
		}
		price, err := o.number(name, 0)
		if err != nil {
			return err
		}
		if !(price > 0) {
			return console.Usage("%s must be above 0", console.Dashed(name))
		}
		p.epsilon, p.rho, v = "", "", prices.variance(price)
		if prices.rho {
			p.rho = o.get(name)
		} else {
			p.epsilon = o.get(name)
		}
	default:
		law, err := o.noiseFrom("sigma", "laplace-scale")
		if err != nil {
			return err
		}
		if law != nil {
			v = law.Variance()
		}
	}
	p.noise = "noise of standard deviation " + render.Number6(math.Sqrt(v))
	if n > 0 {
		p.asked, p.n = "power", n
		if p.power, err = d.Power(n, v); err != nil {
			return err
		}
	} else {
		p.asked = "n"
		if p.n, p.reached, err = d.People(power, v); err != nil {
			return err
		}
		if p.power = math.NaN(); p.reached {
			p.power, _ = d.Power(p.n, v)
		}
	}
	most := p.n
	if math.IsNaN(most) || !p.reached {
		most = 10_000
	}
	for i := 1; i <= 60; i++ { // draw the curve up to twice the number of people
		at := math.Max(1, math.Round(most*2*float64(i)/60))
		y, err := d.Power(at, v)
		if err != nil {
			return err
		}
		p.curve = append(p.curve, plot.Point{X: at, Y: y})
	}
	p.where = "people"
	return showPlanned(s, o, p)
}

// countsPrice finds the least price at which the test reaches the power.
func countsPrice(s *console.Console, p planned, d hypothesis.Design, n, power float64, prices priced) error {
	if !(n > 0) {
		return console.Usage(
			"test power needs two of --n, --power and a price (--epsilon or --rho), and computes the third")
	}
	p.asked, p.n, p.noise = "epsilon", n, ""
	sd, ok, err := d.Noise(power, n)
	if err != nil {
		return err
	}
	if p.reached = ok; !ok {
		p.power, _ = d.Power(n, 0)
		return showPlanned(s, nil, p)
	}
	low, high := 1e-12, 1e6
	for range 200 {
		middle := math.Sqrt(low * high)
		if prices.variance(middle) <= sd*sd {
			high = middle
		} else {
			low = middle
		}
	}
	p.epsilon = render.Number6(high)
	p.noise = "noise of standard deviation " + render.Number6(math.Sqrt(prices.variance(high)))
	if p.power, err = d.Power(n, prices.variance(high)); err != nil {
		return err
	}
	return showPlanned(s, nil, p)
}

// design parses the null hypothesis and the true probabilities.
func (o *testOptions) design() (d hypothesis.Design, truth string, err error) {
	if !o.given["truth"] {
		return d, "", console.Usage("test power needs --truth, the probabilities at which the test should reject")
	}
	rows, err := o.table("truth")
	if err != nil {
		return d, "", err
	}
	for _, r := range rows {
		d.Truth = append(d.Truth, r...)
		if len(r) != len(rows[0]) {
			return d, "", console.Usage("all rows of --truth must have the same length")
		}
	}
	if o.get("of") == "independence" {
		if d.Rows = len(rows); d.Rows < 2 {
			return d, "", console.Usage("--truth must be a table, such as '0.26,0.24;0.24,0.26'")
		}
		if o.given["null"] {
			return d, "", console.Usage("test power --of independence has no --null: its null hypothesis is " +
				"independence")
		}
	} else if null := o.get("null"); null != "" && null != "uniform" {
		if d.Null, err = o.numbers("null"); err != nil {
			return d, "", err
		}
	}
	n := o.get("neighbours")
	d.Known = n == "change-one"
	return d, o.get("truth"), nil
}

// showPlanned prints the plan of a test.
func showPlanned(s *console.Console, o *testOptions, p planned) error {
	if s.Format == "json" {
		return s.JSON(p)
	}
	var g render.Grid
	price := p.epsilon
	if p.rho != "" {
		g.Add("ρ", p.rho)
	} else if price != "" {
		g.Add("ε", price)
	}
	if p.noise != "" {
		g.Add("noise", p.noise)
	}
	if !math.IsNaN(p.n) {
		g.Add("people", strconv.FormatFloat(p.n, 'f', -1, 64))
	}
	g.Add("level", render.Number6(p.alpha))
	if !math.IsNaN(p.power) {
		g.Add("power", render.Number6(p.power))
	}
	about := map[string]string{
		"power":   "How often does the test reject, if the truth is " + p.against + "?",
		"n":       "How many people does the test need, if the truth is " + p.against + "?",
		"epsilon": "What price does the test need, if the truth is " + p.against + "?",
	}[p.asked]
	if !p.reached {
		about += " No value reaches this power."
	}
	if s.Format == "markdown" {
		s.Print("%s\n\n%s", render.MarkdownText(about),
			render.MarkdownTable([]string{"", ""}, []bool{false, true}, g.Rows))
	} else {
		s.Print("%s\n\n%s", about, g.Text("   "))
	}
	if o == nil || o.get("plot") == "" {
		return nil
	}
	l := plot.Lines{
		Title: fmt.Sprintf("Power of a test of %s at level %s",
			map[string]string{
				"gof": "goodness of fit", "independence": "independence",
				"binomial": "a probability",
			}[p.of], render.Number6(p.alpha)), X: p.where, Y: "power", Linear: true,
		Caption: "The probability that the test rejects, if the truth is " + p.against + ".",
		Lines:   []plot.Line{{Name: "power", Points: p.curve}},
	}
	if p.reached {
		l.Marked = []plot.Point{{X: p.n, Y: p.power}}
	}
	return console.DrawFile(o.get("plot"), plot.WriteLines, l, "")
}
