package statistics

import (
	"fmt"
	"math"
	"math/big"

	"dither/curator"
	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/noise"
)

// runBinomial tests a probability from one noisy count.
func runBinomial(s *console.Console, o *testOptions) error {
	home, err := o.fromHome("released", "sigma", "laplace-scale", "delta")
	if err != nil {
		return err
	}
	n, err := o.people()
	if err != nil {
		return err
	}
	if home && o.given["column"] {
		if err := o.declaredRows(s, &n, o.get("column")); err != nil {
			return err
		}
	}
	if n == 0 {
		return console.Usage(
			"test binomial needs --n, the public number of people; if that number is private, give the noisy counts " +
				"of both outcomes to test gof")
	}
	b := hypothesis.Binomial{N: int(math.Min(n, 1e15))}
	if home {
		if o.given["seed"] {
			return console.Usage(
				"--seed is only for published counts: for a home's release, the name of the release is the seed")
		}
		return binomialAtHome(s, o, b)
	}
	if !o.given["released"] {
		return console.Usage("test binomial needs --released and --n, or --table and --column")
	}
	if b.Value, err = o.number("released", 0); err != nil {
		return err
	}
	given := 0
	for _, name := range []string{"epsilon", "sigma", "laplace-scale"} {
		if o.given[name] {
			given++
		}
	}
	if given != 1 || o.given["rho"] || o.given["delta"] && !o.given["epsilon"] {
		return console.Usage(
			"give the noise by exactly one of --epsilon (Tulap noise, with --delta if it is truncated), " +
				"--laplace-scale and --sigma (noise on integers)")
	}
	about := ""
	if o.given["epsilon"] {
		e, err := console.EpsilonFlag(o.get("epsilon"))
		if err != nil {
			return err
		}
		delta := "0"
		if o.given["delta"] {
			delta = o.get("delta")
		}
		d, err := console.DeltaFlag(delta)
		if err != nil {
			return err
		}
		law, err := noise.NewTulap(e.Rat(), d.Rat())
		if err != nil {
			return console.Usage("%s", console.AccountWords(err))
		}
		b.Tulap, about = &law, fmt.Sprintf("Tulap noise of ε = %s", given6(e.Rat()))
		if o.given["delta"] {
			about += ", δ = " + given6(d.Rat())
		}
		return binomial(s, o, b, about, nil)
	}
	d, err := o.noiseFrom("sigma", "laplace-scale")
	if err != nil {
		return err
	}
	if d == nil {
		return console.Usage("test binomial is for noisy counts; for a count without noise, use an ordinary " +
			"binomial test")
	}
	b, about, err = dithered(b, d, o.get("seed"))
	if err != nil {
		return err
	}
	return binomial(s, o, b, about, nil)
}

func given6(r *big.Rat) string { f, _ := r.Float64(); return render.Number6(f) }

// dithered adds the uniform number that turns discrete Laplace noise into Tulap noise, if there is a seed for it.
// Otherwise the discrete noise is tested.
func dithered(b hypothesis.Binomial, d noise.Distribution, seed string) (hypothesis.Binomial, string, error) {
	l, ok := d.(noise.DiscreteLaplace)
	if !ok || seed == "" {
		b.Noise = d
		about := "noise " + noiseText(d)
		if ok {
			about += " (--seed makes the noise continuous, and the test more powerful)"
		}
		return b, about, nil
	}
	x := new(big.Int)
	if b.Value != math.Trunc(b.Value) {
		return b, "", console.Usage(
			"--seed is only for integer counts; for a count that is no integer, give the ε of its Tulap noise by " +
				"--epsilon")
	}
	big.NewFloat(b.Value).Int(x)
	out, err := hypothesis.Dither(x, l, b.N, seed)
	return out, fmt.Sprintf("Tulap noise: noise %s, plus the uniform number %s from the seed %q",
		noiseText(d), render.Number6(hypothesis.Uniform(seed)), seed), err
}

// binomialAtHome tests a noisy count of the rows in which a column has a value.
func binomialAtHome(s *console.Console, o *testOptions, b hypothesis.Binomial) error {
	if !o.given["value"] {
		return console.Usage("test binomial with --table needs --value: it counts the rows in which --column has " +
			"this value")
	}
	if o.given["by"] {
		return console.Usage(
			"test binomial has no --by: select the rows by --where, or compare groups by test proportions")
	}
	column, err := columnOf(s, o.get("table"), o.get("column"))
	if err != nil {
		return err
	}
	is := " = " + curator.SQLText(o.get("value"))
	switch column.Type {
	case "integer", "real":
		if _, err := oneNumber("value", o.get("value")); err != nil {
			return err
		}
		is = " = " + o.get("value")
	case "boolean":
		if is = map[string]string{"true": "", "false": " = FALSE"}[o.get("value")]; is == "" &&
			o.get("value") != "true" {
			return console.Usage("--value must be true or false for the column %s", column.Name)
		}
	}
	where := curator.SQLName(column.Name) + is
	if w := o.get("where"); w != "" {
		where = "(" + w + ") AND " + where
	}
	q := &testOptions{text: map[string]*string{"table": o.text["table"], "where": &where}}
	sql := q.groupedBy("COUNT(*)")
	try := func(int) error {
		law, err := noise.NewDiscreteLaplace(big.NewRat(1, 1))
		if err != nil {
			return err
		}
		_, _, err = o.binomial(hypothesis.Binomial{N: 10, Value: 5, Noise: law})
		return err
	}
	return measure(s, o, sql, try, func(r *released) error {
		if len(r.Vectors) != 1 || len(r.Vectors[0].Values) != 1 {
			return console.Usage("the release is not one noisy count")
		}
		b, v := b, r.Vectors[0]
		b.Value, _ = new(big.Rat).SetInt(v.Values[0]).Float64()
		// The release's name serves as the seed. It is independent of the count, and the same for all spellings of
		// the question.
		b, about, err := dithered(b, v.Noise, "release "+r.ID)
		if err != nil {
			return err
		}
		return binomial(s, o, b, about, r)
	})
}

func binomial(s *console.Console, o *testOptions, b hypothesis.Binomial, about string, r *released) error {
	t, null, err := o.binomial(b)
	if err != nil {
		return err
	}
	o.seeded(t)
	compared := map[string]string{"two-sided": "", "greater": " or less", "less": " or more"}[t.Alternative]
	return showTest(s, tested{
		Test: t, about: fmt.Sprintf("Is the probability %s%s? A noisy count of %s among %d, with %s.",
			render.Number6(null), compared, render.Number6(b.Value), b.N, about),
		estimated: "share", release: r,
	})
}

// binomial tests a count with the alternative, the null hypothesis and the confidence from the flags.
func (o *testOptions) binomial(b hypothesis.Binomial) (t *hypothesis.Test, null float64, err error) {
	confidence, err := o.confidence()
	if err != nil {
		return nil, 0, err
	}
	alternative := o.get("alternative")
	if alternative == "" {
		alternative = hypothesis.TwoSided
	}
	if null, err = o.number("null", 0.5); err != nil {
		return nil, 0, err
	}
	if t, err = b.Test(null, alternative); err != nil {
		return nil, 0, err
	}
	t.Interval, err = b.Interval(confidence, alternative)
	return t, null, err
}

// noiseText describes a noise distribution in a few words.
func noiseText(d noise.Distribution) string {
	switch d := d.(type) {
	case nil:
		return "of 0"
	case noise.DiscreteLaplace:
		return "discrete Laplace of scale " + given6(d.Scale())
	case noise.DiscreteGaussian:
		f, _ := d.Sigma2().Float64()
		return "Gaussian of σ = " + render.Number6(math.Sqrt(f))
	case noise.RoundedGaussian:
		f, _ := d.Sigma2().Float64()
		return "rounded Gaussian of σ = " + render.Number6(math.Sqrt(f))
	}
	return "of standard deviation " + render.Number6(d.StdDev())
}
