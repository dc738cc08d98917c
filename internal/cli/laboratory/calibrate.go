package laboratory

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"dither/account"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/nearest"
)

// Calibrate is the command `dither calibrate`.
var Calibrate = console.Verb{
	Name:  "calibrate",
	Args:  "gaussian | discrete-gaussian | laplace | discrete-laplace | \"NAME key=? …\" … --epsilon E --delta D",
	About: "find the least noise that keeps a promise, free",
	Run:   runCalibrate,
	More:  func(*console.Console) string { return calibrateHelp },
}

// runCalibrate prints the least noise that keeps a promise. It reads no home and spends nothing.
func runCalibrate(s *console.Console, args []string) error {
	epsilon, delta, sensitivity, count, sampling := "", "0", "1", "1", ""
	s.FormatFlag("table", "json", "markdown")
	s.Flag(&epsilon, "epsilon", "E", "the ε to keep")
	s.Flag(&delta, "delta", "D", "the δ to keep (default 0, which only Laplace noise can keep)")
	s.Flag(&sensitivity, "sensitivity", "S",
		"how much one person can change the answer: in L1 norm for Laplace noise, in L2 for Gaussian (default 1)")
	s.Flag(&count, "count", "N", "the number of answers that must keep the promise together (default 1)")
	s.Flag(&sampling, "sampling", "Q", "each answer is on a Poisson sample of this rate, such as 0.01 or 256/60000")
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if slices.ContainsFunc(rest, func(spec string) bool { return strings.Contains(spec, "=") }) {
		return calibrateJob(s, rest, epsilon, delta)
	}
	switch {
	case len(rest) == 0:
		return console.Usage("calibrate needs a mechanism; there are %s", strings.Join(account.Calibratable(), ", "))
	case len(rest) > 1:
		return console.Usage(
			"calibrate takes one mechanism, not %d; give its keys as flags, such as --sensitivity and --count",
			len(rest))
	case !slices.Contains(account.Calibratable(), rest[0]):
		return console.Usage("%s", notCalibrated(rest[0]))
	case epsilon == "":
		return console.Usage("calibrate needs --epsilon E")
	}
	var t account.Target
	if t.Count, err = console.CountFlag(count); err != nil {
		return err
	}
	if t.Epsilon, err = console.EpsilonFlag(epsilon); err != nil {
		return err
	}
	if t.Delta, err = console.DeltaFlag(delta); err != nil {
		return err
	}
	if t.Sensitivity, err = console.NumberFlag("sensitivity", sensitivity); err != nil {
		return err
	}
	if sampling != "" {
		if t.Sampling, err = console.NumberFlag("sampling", sampling); err != nil {
			return err
		}
	}
	c, err := account.Calibrate(rest[0], t)
	if err != nil {
		return console.Usage("%s", console.AccountWords(err))
	}
	switch s.Format {
	case "json":
		return s.JSON(calibrated(c))
	case "markdown":
		s.Print("%s\n", render.MarkdownParagraphs(calibrationText(c, t)))
	default:
		s.Print("%s\n", calibrationText(c, t))
	}
	return nil
}

// calibrateJob finds the one unknown parameter of a job.
func calibrateJob(s *console.Console, specs []string, epsilon, delta string) error {
	var inFlags string
	s.Flags.Visit(func(f *flag.Flag) {
		if slices.Contains([]string{"sensitivity", "count", "sampling"}, f.Name) {
			inFlags = f.Name
		}
	})
	switch {
	case unquoted(specs) != "":
		return console.Usage("quote each mechanism: %s", unquoted(specs))
	case inFlags != "":
		return console.Usage(
			"write %s=… in a mechanism, such as \"laplace scale=? count=20\"; it is a flag only after a "+
				"mechanism's name alone",
			inFlags)
	case epsilon == "":
		return console.Usage("calibrate needs --epsilon E")
	}
	e, err := console.EpsilonFlag(epsilon)
	if err != nil {
		return err
	}
	d, err := console.DeltaFlag(delta)
	if err != nil {
		return err
	}
	c, err := account.CalibrateJob(specs, e, d)
	if err != nil {
		return console.Usage("%s", console.AccountWords(err))
	}
	text := fmt.Sprintf(
		"%s = %s\n\nWith this %s of %s the whole job is (%s, %s)-differentially private, certified by %s.",
		c.Parameter, render.ShortPower(strconv.FormatFloat(c.Value, 'g', -1, 64)), c.Parameter, c.Mechanism,
		render.Given(e.Rat()), render.Given(d.Rat()), accountantName(c.Accountant))
	if c.TooLittle != nil {
		f, _ := c.TooLittle.Float64()
		change := "smaller"
		if f > c.Value {
			change = "larger"
		}
		text += fmt.Sprintf("\nA value %s by one part in %s breaks the promise, which is certified too.",
			change, grouped(math.Abs(f/c.Value-1)))
	} else {
		text += "\nWhether a better value exists is not known for certain."
	}
	switch s.Format {
	case "json":
		return s.JSON(calibrated(c))
	case "markdown":
		s.Print("%s\n", render.MarkdownParagraphs(text))
	default:
		s.Print("%s\n", text)
	}
	return nil
}

// notCalibrated explains why a mechanism cannot be calibrated, and lists those that can.
func notCalibrated(name string) string {
	there := "there are " + strings.Join(account.Calibratable(), ", ")
	first, _, _ := strings.Cut(strings.TrimSpace(name), " ")
	switch {
	case slices.Contains(account.Calibratable(), first):
		return fmt.Sprintf("calibrate takes only the name, %s; give its keys as flags, such as --sensitivity and --count",
			first)
	case slices.Contains(account.Mechanisms(), first):
		return fmt.Sprintf("%s has no noise to calibrate; %s", first, there)
	}
	if n := nearest.Name(name, account.Calibratable()); n != "" {
		there = fmt.Sprintf("did you mean %s? There are %s", n, strings.Join(account.Calibratable(), ", "))
	}
	return fmt.Sprintf("there is no mechanism %q; %s", name, there)
}

// calibrated is the JSON form of a calibration.
type calibrated account.Calibration

// MarshalJSON writes the value with all its digits. Both the decimal and the float that it parses to meet the
// target.
func (c calibrated) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Mechanism string          `json:"mechanism"`
		Parameter string          `json:"parameter"`
		Value     json.RawMessage `json:"value"`
	}{c.Mechanism, c.Parameter, json.RawMessage(strconv.FormatFloat(c.Value, 'f', -1, 64))})
}

func calibrationText(c account.Calibration, t account.Target) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s = %s\n\n", c.Parameter, render.ShortPower(strconv.FormatFloat(c.Value, 'g', -1, 64)))
	times := "One answer"
	if t.Count > 1 {
		times = fmt.Sprintf("%d answers together", t.Count)
	}
	sampled := ""
	if t.Sampling != nil {
		sampled = fmt.Sprintf(", each on a Poisson sample of rate %s,", t.Sampling.RatString())
	}
	verb := "is"
	if t.Count > 1 {
		verb = "are"
	}
	fmt.Fprintf(&b, "%s of sensitivity %s%s with this %s %s (%s, %s)-differentially private,\ncertified by %s.",
		times, t.Sensitivity.RatString(), sampled, noiseName(c.Mechanism), verb, render.Given(t.Epsilon.Rat()),
		render.Given(t.Delta.Rat()), accountantName(c.Accountant))
	if c.TooLittle != nil {
		share := new(big.Rat).Quo(c.TooLittle, new(big.Rat).SetFloat64(c.Value))
		f, _ := new(big.Rat).Sub(big.NewRat(1, 1), share).Float64()
		fmt.Fprintf(&b, " Noise smaller by one part in %s is too little, which is certified too.", grouped(f))
	} else {
		b.WriteString(" Whether less noise is enough is not known for certain.")
	}
	switch c.Mechanism {
	case "gaussian":
		b.WriteString(
			"\nThis is for continuous Gaussian noise. It also holds for whatever is computed from the noisy\n" +
				"value, such as its rounding to an integer. For the discrete Gaussian, calibrate discrete-gaussian.",
		)
	case "laplace":
		b.WriteString(
			"\nThis is for continuous Laplace noise. It also holds for whatever is computed from the noisy\n" +
				"value, such as its rounding to an integer. dither itself draws discrete Laplace noise, which loses more at the same\n" +
				"scale: calibrate discrete-laplace.",
		)
	case "discrete-laplace":
		b.WriteString(
			"\nThe values and the noise are integers. The noise is k with a probability proportional to e^(−|k|/scale).")
	case "discrete-gaussian":
		b.WriteString(
			"\nThe values and the noise are integers. sigma is a parameter; the noise's standard deviation is slightly smaller.")
	}
	return b.String()
}

// grouped writes 1/share, rounded to a power of ten, such as 1,000.
func grouped(share float64) string {
	power := int(math.Round(-math.Log10(share)))
	return render.Grouped("1" + strings.Repeat("0", max(power, 0)))
}

// noiseName returns the name of a mechanism's noise for use in a sentence.
func noiseName(mechanism string) string {
	names := map[string]string{
		"gaussian": "Gaussian", "discrete-gaussian": "discrete Gaussian", "laplace": "Laplace",
		"discrete-laplace": "discrete Laplace",
	}
	return names[mechanism] + " noise"
}

// accountantName returns the name of an accountant for use in a sentence.
func accountantName(name string) string {
	names := map[string]string{
		"basic": "basic composition", "advanced": "advanced composition", "zcdp": "zCDP",
		"renyi": "Rényi's divergences",
		"pld":   "privacy loss distributions",
	}
	if n := names[name]; n != "" {
		return n
	}
	return name
}

const calibrateHelp = `
The mechanisms. The discrete ones add noise to integers, the others to real numbers:

  gaussian            finds sigma; continuous noise, sensitivity in L2 norm
  discrete-gaussian   finds sigma; noise on integers
  laplace             finds scale; continuous noise, sensitivity in L1 norm
  discrete-laplace    finds scale; noise on integers, as dither itself draws

Numbers are decimals or fractions.

  dither calibrate discrete-laplace --epsilon 1 --delta 1e-6 --count 20

Instead of a mechanism's name, you can give a job, as for dither account, with "?" for one parameter. calibrate finds
the least sigma or scale, or the largest epsilon, rho or mu. In a job, count, sensitivity and sampling are keys of each
mechanism:

  dither calibrate --epsilon 1 --delta 1e-6 "discrete-laplace scale=? count=40" "gaussian sigma=15 count=3"
`
