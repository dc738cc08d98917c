package console

import (
	"math/big"
	"strings"
	"time"

	"dither/account"
	"dither/internal/cli/render"
	"dither/privacy"
)

// SecondsFlag parses a positive number of seconds, at most a day.
func SecondsFlag(name, text string) (time.Duration, error) {
	r, err := account.ParseNumber(text)
	if err != nil || r.Sign() <= 0 || r.Cmp(big.NewRat(86400, 1)) > 0 {
		return 0, Usage("%s must be a number of seconds above 0 and at most 86400", Dashed(name))
	}
	seconds, _ := r.Float64()
	return max(time.Millisecond, time.Duration(seconds*float64(time.Second))), nil
}

// NumberFlag parses a number: a decimal or a fraction, as in a job's specification. Its error begins with the name
// of the flag.
func NumberFlag(name, text string) (*big.Rat, error) {
	r, err := account.ParseNumber(text)
	if err != nil {
		return nil, Usage("%s %v", Dashed(name), err)
	}
	return r, nil
}

// EpsilonFlag parses a positive ε.
func EpsilonFlag(text string) (privacy.Epsilon, error) {
	r, err := NumberFlag("epsilon", text)
	if err != nil {
		return privacy.Epsilon{}, err
	}
	if r.Sign() <= 0 || r.Cmp(big.NewRat(privacy.MaxEpsilon, 1)) > 0 {
		return privacy.Epsilon{}, Usage("--epsilon must be above 0 and at most %d", privacy.MaxEpsilon)
	}
	return privacy.EpsilonOf(r)
}

// DeltaFlag parses a δ that is at least 0 and below 1.
func DeltaFlag(text string) (privacy.Delta, error) {
	r, err := NumberFlag("delta", text)
	if err != nil {
		return privacy.Delta{}, err
	}
	if r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return privacy.Delta{}, Usage("--delta must be at least 0 and below 1")
	}
	return privacy.DeltaOf(r)
}

// WholeFlag parses an integer, and returns an error unless it is between the limits least and most.
func WholeFlag(name, text string, least, most int64) (int64, error) {
	r, err := account.ParseNumber(text)
	if err != nil || !r.IsInt() || r.Cmp(big.NewRat(least, 1)) < 0 || r.Cmp(big.NewRat(most, 1)) > 0 {
		return 0, Usage("%s must be an integer from %d to %s", Dashed(name), least, render.ShortInt(most))
	}
	return r.Num().Int64(), nil
}

// CountFlag parses the value of --count, a number of answers.
func CountFlag(text string) (int64, error) { return WholeFlag("count", text, 1, account.MostSteps) }

// AccountWords returns the text of an error of package account without its prefix, which is meant for programs.
func AccountWords(err error) string {
	return strings.TrimPrefix(err.Error(), account.ErrParameter.Error()+": ")
}
