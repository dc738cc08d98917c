package cli

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"dither/account"
	"dither/privacy"
)

// runCalibrate tells the least noise that keeps a promise. It reads no home: it spends nothing.
func runCalibrate(s *session, args []string) error {
	s.formatFlag()
	epsilon := s.flags.String("epsilon", "", "")
	delta := s.flags.String("delta", "0", "")
	sensitivity := s.flags.String("sensitivity", "1", "")
	count := s.flags.Int64("count", 1, "")
	sampling := s.flags.String("sampling", "", "")
	rest, helped, err := s.parse(args)
	if err != nil || helped {
		return err
	}
	switch {
	case s.format == "csv":
		return usage("calibrate --format is table, json or markdown")
	case len(rest) != 1 || !slices.Contains(account.Calibratable(), rest[0]):
		return usage("calibrate %s --epsilon E --delta D", strings.Join(account.Calibratable(), "|"))
	case *epsilon == "":
		return usage("calibrate needs --epsilon E")
	case *count < 1:
		return usage("--count must be at least 1")
	}
	t := account.Target{Count: *count}
	if t.Epsilon, err = privacy.ParseEpsilon(*epsilon); err != nil {
		return usage("--epsilon: %v", err)
	}
	if t.Delta, err = privacy.ParseDelta(*delta); err != nil {
		return usage("--delta: %v", err)
	}
	if t.Sensitivity, err = account.ParseNumber(*sensitivity); err != nil {
		return usage("--sensitivity %v", err)
	}
	if *sampling != "" {
		if t.Sampling, err = account.ParseNumber(*sampling); err != nil {
			return usage("--sampling %v", err)
		}
	}
	c, err := account.Calibrate(rest[0], t)
	if err != nil {
		return usage("%s", plainly(err))
	}
	switch s.format {
	case "json":
		return s.json(calibrated(c))
	case "markdown":
		s.print("%s\n", markdownText(calibrationText(c, t)))
	default:
		s.print("%s\n", calibrationText(c, t))
	}
	return nil
}

// calibrated is a calibration as JSON.
type calibrated account.Calibration

// MarshalJSON writes the value with all its digits: read as a decimal or as a float, it fits.
func (c calibrated) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"mechanism":%q,"parameter":%q,"value":%s}`, c.Mechanism, c.Parameter, strconv.FormatFloat(c.Value, 'f', -1, 64)), nil
}

func calibrationText(c account.Calibration, t account.Target) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s = %s\n\n", c.Parameter, strconv.FormatFloat(c.Value, 'g', -1, 64))
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
	fmt.Fprintf(&b, "%s of sensitivity %s%s with this %s noise %s (%s, %s)-differentially private,\ncertified by %s.",
		times, t.Sensitivity.RatString(), sampled, strings.ReplaceAll(c.Mechanism, "-", " "), verb, t.Epsilon, t.Delta, accountantName(c.Accountant))
	if c.TooLittle != nil {
		share := new(big.Rat).Quo(c.TooLittle, new(big.Rat).SetFloat64(c.Value))
		f, _ := new(big.Rat).Sub(big.NewRat(1, 1), share).Float64()
		fmt.Fprintf(&b, " It is certified too that noise smaller by a share of %.0e does not do.", f)
	} else {
		b.WriteString(" Whether less would do is not known for certain.")
	}
	switch c.Mechanism {
	case "gaussian":
		b.WriteString("\nThe figure is for continuous Gaussian noise, and for what is computed from it, as when it is rounded to integers\n" +
			"that the values are of too. The discrete Gaussian has its own: calibrate discrete-gaussian.")
	case "laplace":
		b.WriteString("\nThe figure is for continuous Laplace noise, and for what is computed from it, as when it is rounded to integers\n" +
			"that the values are of too. Discrete Laplace noise, which dither itself draws, loses more at the same scale: calibrate discrete-laplace.")
	case "discrete-laplace":
		b.WriteString("\nThe values are integers, and the noise too: a value k with a probability in proportion to e^(−|k|/scale).")
	case "discrete-gaussian":
		b.WriteString("\nThe values are integers, and sigma a parameter: the noise's standard deviation is slightly below it.")
	}
	return b.String()
}

// accountantName is an accountant in a sentence.
func accountantName(name string) string {
	names := map[string]string{
		"basic": "basic composition", "advanced": "advanced composition", "zcdp": "zCDP", "renyi": "Rényi's divergences",
		"pld": "privacy loss distributions",
	}
	if n := names[name]; n != "" {
		return n
	}
	return name
}
