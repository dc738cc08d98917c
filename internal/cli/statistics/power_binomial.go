package statistics

import (
	"math"
	"math/big"
	"strconv"

	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/noise"
)

// binomialPower computes the power of a most powerful test, or the number of people or the ε that it requires.
func binomialPower(s *console.Console, o *testOptions) error {
	alpha, power, err := o.level()
	if err != nil {
		return err
	}
	null, err := o.number("null", 0.5)
	if err != nil {
		return err
	}
	truth, err := o.number("truth", math.NaN())
	if err != nil {
		return err
	}
	if math.IsNaN(truth) {
		return console.Usage("test power --of binomial needs --truth, the probability at which the test should reject")
	}
	if o.given["rho"] || o.given["sigma"] || o.given["laplace-scale"] || o.given["neighbours"] {
		return console.Usage("test power --of binomial assumes Tulap noise: give it by --epsilon and --delta")
	}
	alternative := o.get("alternative")
	if alternative == "" {
		alternative = hypothesis.TwoSided
	}
	delta := new(big.Rat)
	if o.given["delta"] {
		d, err := console.DeltaFlag(o.get("delta"))
		if err != nil {
			return err
		}
		delta = d.Rat()
	}
	n, err := o.people()
	if err != nil {
		return err
	}
	at := func(n float64, epsilon *big.Rat) (float64, error) {
		law, err := noise.NewTulap(epsilon, delta)
		if err != nil {
			return 0, console.Usage("%s", console.AccountWords(err))
		}
		return hypothesis.Binomial{N: int(min(n, 1e15)), Tulap: &law}.Power(null, truth, alpha, alternative)
	}
	p := planned{
		of: "binomial", alpha: alpha, n: n, power: power, known: true, reached: true,
		against: render.Number6(truth), where: "people",
	}
	if !o.given["epsilon"] {
		if n == 0 {
			return console.Usage("test power needs two of --n, --power and --epsilon, and computes the third")
		}
		return binomialPrice(s, p, n, power, at)
	}
	e, err := console.EpsilonFlag(o.get("epsilon"))
	if err != nil {
		return err
	}
	p.epsilon, p.noise = o.get("epsilon"), "Tulap noise"
	if p.asked = "power"; n == 0 {
		p.asked = "n"
		if p.n, p.reached, err = hypothesis.Least(power, mostPlanned,
			func(n float64) (float64, error) { return at(n, e.Rat()) }); err != nil {
			return err
		}
		if !p.reached {
			p.n = math.NaN()
		}
	}
	if p.power = math.NaN(); p.reached {
		if p.power, err = at(p.n, e.Rat()); err != nil {
			return err
		}
	}
	if o.given["plot"] {
		for i := 1; i <= 40; i++ {
			x := math.Max(1, math.Round(p.n*2*float64(i)/40))
			y, err := at(x, e.Rat())
			if err != nil {
				return err
			}
			p.curve = append(p.curve, plot.Point{X: x, Y: y})
		}
	}
	return showPlanned(s, o, p)
}

// mostPlanned is the largest number of people that is considered for a binomial test.
const mostPlanned = 1 << 22

// binomialPrice finds the least ε, to four digits, at which the test reaches the power.
func binomialPrice(
	s *console.Console, p planned, n, power float64, at func(n float64, epsilon *big.Rat) (float64, error),
) error {
	p.asked, p.noise = "epsilon", "Tulap noise"
	step := func(i int) *big.Rat { // from 1e-4 to 10 in steps by a factor of 1.001
		r, _ := new(big.Rat).SetString(strconv.FormatFloat(1e-4*math.Pow(1.001, float64(i)), 'g', 4, 64))
		return r
	}
	low, high := 0, int(math.Log(1e5)/math.Log(1.001))
	most, err := at(n, step(high))
	if err != nil {
		return err
	}
	if p.reached = most >= power; !p.reached {
		p.power = most
		return showPlanned(s, nil, p)
	}
	for high > low {
		middle := (low + high) / 2
		v, err := at(n, step(middle))
		if err != nil {
			return err
		}
		if v >= power {
			high = middle
		} else {
			low = middle + 1
		}
	}
	p.epsilon = given6(step(high))
	if p.power, err = at(n, step(high)); err != nil {
		return err
	}
	return showPlanned(s, nil, p)
}
