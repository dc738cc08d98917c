package survey

import (
	"encoding/json"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local"
	"dither/local/mean"
)

// ofNumbers reports whether the flags are about numbers and their mean.
func (o *options) ofNumbers() bool {
	return o.bounds != "" || slices.Contains(mean.Mechanisms, mean.Mechanism(o.mechanism))
}

// bounds are the smallest and the largest number of a question. Numbers beyond them are clamped.
type bounds struct {
	low, high         *big.Rat
	lowText, highText string
}

func boundsOf(text string) (b bounds, err error) {
	if text == "" {
		return b, console.Usage("--bounds is missing: the smallest and the largest number, such as --bounds 0,100")
	}
	var found bool
	if b.lowText, b.highText, found = strings.Cut(text, ","); !found {
		return b, console.Usage("--bounds must be two numbers, such as 0,100, not %q", text)
	}
	b.lowText, b.highText = strings.TrimSpace(b.lowText), strings.TrimSpace(b.highText)
	if b.low, err = console.NumberFlag("bounds", b.lowText); err != nil {
		return b, err
	}
	if b.high, err = console.NumberFlag("bounds", b.highText); err != nil {
		return b, err
	}
	if b.low.Cmp(b.high) >= 0 {
		return b, console.Usage("--bounds must begin with the smaller number, not %q", text)
	}
	return b, nil
}

// unit maps a number to −1 … 1, after clamping it.
func (b bounds) unit(x *big.Rat) float64 {
	span := new(big.Rat).Sub(b.high, b.low)
	x = new(big.Rat).Sub(x, b.low)
	x.Quo(x.Add(x, x), span).Sub(x, big.NewRat(1, 1))
	f, _ := x.Float64()
	return min(max(f, -1), 1)
}

// scale returns the center of the bounds and half of their distance.
func (b bounds) scale() (center, half float64) {
	low, _ := b.low.Float64()
	high, _ := b.high.Float64()
	return (low + high) / 2, (high - low) / 2
}

// randomizerOf returns the randomizer of numbers of the flags.
func (o *options) randomizerOf(s *console.Console) (*mean.Randomizer, error) {
	name := mean.Mechanism(o.mechanism)
	if name != mean.Best && !slices.Contains(mean.Mechanisms, name) {
		return nil, console.Usage("--bounds needs --mechanism duchi, piecewise, hybrid or best, not %q", o.mechanism)
	}
	e, err := o.epsilonOf(o.mechanism)
	if err != nil {
		return nil, err
	}
	r, err := mean.New(mean.Params{Mechanism: name, Epsilon: e})
	if err == nil && name == mean.Best {
		s.Note("best for ε = %s: %s\n", e, r.Params().Mechanism)
	}
	return r, err
}

// randomizeNumbers writes a report about each number of a column.
func randomizeNumbers(s *console.Console, o *options) error {
	if o.domain != "" {
		return console.Usage("--domain is for values, and --bounds for numbers: give one of them")
	}
	if o.devices != "" {
		return console.Usage("--devices is for rappor, loloha and dbit")
	}
	b, err := boundsOf(o.bounds)
	if err != nil {
		return err
	}
	r, err := o.randomizerOf(s)
	if err != nil {
		return err
	}
	numbers, err := numbersIn(s, o.in, b.unit)
	if err != nil {
		return err
	}
	reports, err := r.Randomize(numbers)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		return mean.Write(w, mean.Header{Params: r.Params(), Low: b.lowText, High: b.highText}, reports)
	}
	p := r.Params()
	return writeOut(s, o, write, randomizedJSON{
		string(p.Mechanism), json.RawMessage(render.JSONRat(p.Epsilon.Rat())), len(reports), r.Bits(),
	})
}

// numbersIn reads one number from each line of a file, of which there is at least one, and converts each.
func numbersIn(s *console.Console, in string, convert func(*big.Rat) float64) (numbers []float64, err error) {
	err = eachLine(in, s.Stdin, func(number int, line string) error {
		x, err := console.NumberFlag("in", line)
		if err != nil {
			return console.Usage("%s: line %d: %q is no number", inputName(in), number, line)
		}
		numbers = append(numbers, convert(x))
		return nil
	})
	if err == nil && len(numbers) == 0 {
		err = console.Usage("%s has no numbers", inputName(in))
	}
	return numbers, err
}

// varianceNumbers states the variance of an estimated mean.
func varianceNumbers(s *console.Console, o *options) error {
	if o.bounds == "" {
		o.bounds = "-1,1"
	}
	b, err := boundsOf(o.bounds)
	if err != nil {
		return err
	}
	n, err := peopleOf(o.n)
	if err != nil {
		return err
	}
	r, err := o.randomizerOf(s)
	if err != nil {
		return err
	}
	worst, at := r.Worst(), "at most "
	if o.at != "" {
		x, err := console.NumberFlag("at", o.at)
		if err != nil {
			return err
		}
		worst, at = r.Variance(b.unit(x)), ""
	}
	_, half := b.scale()
	v := worst * half * half / float64(n)
	if s.Format == "json" {
		return s.JSON(varianceJSON{number(v), r.Bits()})
	}
	s.Print(
		"The estimated mean has the variance %s%s (standard deviation %s), apart from the spread of the numbers.\n"+
			"A report has %s.\n",
		at,
		render.Number6(v),
		render.Number6(math.Sqrt(v)),
		render.Plural(r.Bits(), "bit"),
	)
	return nil
}

// fileError returns an error about a file of reports as a usage error that names the file.
func fileError(err error, name string) error {
	text, ok := strings.CutPrefix(err.Error(), local.ErrFile.Error()+": ")
	if !ok {
		return err
	}
	return console.Usage("%s: %s", inputName(name), text)
}
