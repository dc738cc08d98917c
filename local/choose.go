package local

import (
	"fmt"
	"slices"

	"dither/privacy"
)

// Candidate is an oracle that Choose considered.
type Candidate struct {
	Mechanism string
	Bits      int     // the size of a report
	Variance  float64 // of an estimated frequency: the mean over all values (see Choose)
	Refused   string  // why the oracle was not considered further, or ""
}

// Choose returns the oracle with the least error for k values, ε and n reports of at most the given number of bits (0
// for any number), and what it compared. The error is the variance of the estimated frequency, as a mean over all
// values. The variance is linear in the frequency, so this is the variance at 1/k, whatever the frequencies are. For
// oracles with shared hash functions it includes their largest share. If others have an error of at most 1 % more,
// the one of them with the shortest reports is chosen.
//
// "coin", whose ε is fixed, and the oracles with memory, whose reports are noisier because devices repeat them, are no
// candidates.
// An oracle is refused if all values could not be estimated in minutes. The error is ErrParameter.
func Choose(k uint64, e privacy.Epsilon, n int64, bits int) (best *Oracle, candidates []Candidate, err error) {
	if n < 1 || n > MostReports {
		return nil, nil, fmt.Errorf("%w: the number of reports is from 1 to %d", ErrParameter, int64(MostReports))
	}
	if k > MaxValues {
		return nil, nil, fmt.Errorf("%w: at most %d values are estimated at once", ErrParameter, MaxValues)
	}
	var oracles []*Oracle
	least := -1.0
	for _, name := range Mechanisms() {
		if slices.Contains([]string{"coin", "rappor", "loloha", "dbit"}, name) {
			continue
		}
		o, err := New(Params{Mechanism: name, Values: k, Epsilon: e})
		if err != nil {
			return nil, nil, err
		}
		c := Candidate{Mechanism: name, Bits: o.Bits(), Variance: o.Variance(n, 1/float64(k))}
		switch {
		case bits > 0 && c.Bits > bits:
			c.Refused = fmt.Sprintf("a report has more than %d bits", bits)
		case o.scheme.work(float64(n), float64(k)) > mostWork:
			c.Refused = "estimating all values takes too long"
		case least < 0 || c.Variance < least:
			least = c.Variance
		}
		oracles, candidates = append(oracles, o), append(candidates, c)
	}
	for i, c := range candidates {
		if c.Refused == "" && c.Variance <= 1.01*least && (best == nil || c.Bits < best.Bits()) {
			best = oracles[i]
		}
	}
	if best == nil {
		return nil, nil, fmt.Errorf("%w: every oracle's reports have more than %d bits", ErrParameter, bits)
	}
	return best, candidates, nil
}
