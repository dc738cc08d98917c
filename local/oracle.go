package local

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"dither/internal/entropy"
	"dither/local/internal/coin"
	"dither/privacy"
)

var (
	// ErrParameter reports parameters for which there is no oracle.
	ErrParameter = errors.New("invalid parameter of a local randomizer")
	// ErrValue reports a value outside the domain.
	ErrValue = errors.New("value outside the domain")
	// ErrReport reports bytes that the oracle's randomizer never sends.
	ErrReport = errors.New("invalid report")
	// ErrWork reports an estimate that would take too long.
	ErrWork = errors.New("too much work")
)

// Params describe an oracle. People and collector must use the same.
type Params struct {
	Mechanism string // a name of Mechanisms
	Values    uint64 // k, the number of values; values are 0 … k − 1
	// ε of one report, or ε∞ of the mechanisms with memory (see Device); from 10⁻⁶ to 40. Unused by "coin", whose ε is
	// ln 3.
	Epsilon privacy.Epsilon
	// Seed selects the public hash functions of "flh", "cms" and "hcms". It protects nobody.
	Seed uint64
	// First is the ε of one report of "loloha", below Epsilon; 0 stands for half of it.
	First privacy.Epsilon
	// Positions is d, the number of bits of a report of "dbit"; 0 stands for 1.
	Positions uint64
}

// Limits on the number of values. Estimating all values takes memory for each of them.
const (
	MaxValues       = 1 << 24
	MaxHashedValues = 1 << 60 // for "olh", which can estimate chosen values of a larger domain
)

// Oracle is a frequency oracle: a randomizer with its estimator. It is immutable.
//
// Every oracle is pure in the sense of Wang, Blocki, Li & Jha 2017. A report supports a set of values. It supports
// the true value of its sender with probability p, and each other value with probability q < p. So if a value has the
// support of s of n reports, (s − nq)/(p − q) is an unbiased estimate of the number of people with the value.
type Oracle struct {
	params Params
	scheme scheme
	p, q   *big.Rat
	// near q and p − q
	other, gap float64
}

// scheme is a mechanism with fixed parameters.
type scheme interface {
	// size returns the number of bits of a report.
	size() int
	// support returns p and q of [Oracle], exactly.
	support() (p, q *big.Rat)
	// ratio returns e^ε: the largest ratio of a report's probabilities under two values, exactly.
	ratio() *big.Rat
	// randomize packs a report about the value v. The report has size bits, all 0.
	randomize(c coin.Chooser, v uint64, report []byte)
	// sends reports whether the randomizer sends a report of the right size.
	sends(report []byte) bool
	// shared returns the factor of the variance that shared hash functions add (see Oracle.Variance), or 0.
	shared() float64
	// work returns the number of elementary steps of estimating this many values from n reports.
	work(n, values float64) float64
	tally() tally
}

// tally accumulates reports.
type tally interface {
	// add adds a report that the randomizer sends.
	add(report []byte)
	// support returns the number of reports that support each of the values.
	support(values []uint64) []int64
	// merge adds the reports of a tally of the same oracle.
	merge(tally)
}

// mechanism is a named constructor of schemes.
type mechanism struct {
	name, about string
	make        func(Params) scheme
	most        uint64 // the largest number of values
}

// mechanisms is a function because constructors refer to it through New.
func mechanisms() []mechanism {
	return []mechanism{
		{"coin", "two fair coins, ε = ln 3 (yes or no)", newCoins, 2},
		{"krr", "k-ary randomized response", newKRR, MaxValues},
		{"sue", "symmetric unary encoding", newSUE, MaxValues},
		{"oue", "optimized unary encoding", newOUE, MaxValues},
		{"olh", "optimized local hashing", newOLH, MaxHashedValues},
		{"flh", "fast local hashing, with shared hash functions", newFLH, MaxValues},
		{"ss", "subset selection", newSubset, MaxValues},
		{"hr", "Hadamard response", newHadamard, MaxValues},
		{"rappor", "RAPPOR: permanent and instantaneous response", newRappor, MaxValues},
		{"loloha", "longitudinal local hashing, for repeated questions", newLOLOHA, MaxHashedValues},
		{"dbit", "d-bit flipping with memory, for repeated questions", newDBit, MaxValues},
		{"cms", "count-mean sketch", newCMS, MaxValues},
		{"hcms", "Hadamard count-mean sketch", newHCMS, MaxValues},
	}
}

// Mechanisms returns the names of the oracles.
func Mechanisms() (names []string) {
	for _, m := range mechanisms() {
		names = append(names, m.name)
	}
	return names
}

// About returns a description of a mechanism in a few words, or "" if there is none of this name.
func About(name string) string {
	for _, m := range mechanisms() {
		if m.name == name {
			return m.about
		}
	}
	return ""
}

// New returns the oracle with the given parameters, or ErrParameter.
func New(p Params) (*Oracle, error) {
	i := slices.IndexFunc(mechanisms(), func(m mechanism) bool { return m.name == p.Mechanism })
	if i < 0 {
		return nil, fmt.Errorf("%w: there is no mechanism %q", ErrParameter, p.Mechanism)
	}
	m := mechanisms()[i]
	switch {
	case p.Values < 2:
		return nil, fmt.Errorf("%w: a domain has at least 2 values", ErrParameter)
	case p.Values > m.most:
		return nil, fmt.Errorf("%w: %s has at most %d values", ErrParameter, m.name, m.most)
	}
	if p.Mechanism != "coin" {
		if err := coin.Check(p.Epsilon, ErrParameter); err != nil {
			return nil, err
		}
	}
	switch {
	case !p.First.IsZero() && p.Mechanism != "loloha", p.Positions != 0 && p.Mechanism != "dbit":
		return nil, fmt.Errorf("%w: First is for loloha, and Positions for dbit", ErrParameter)
	case p.Mechanism == "loloha" && p.first().Cmp(p.Epsilon) >= 0:
		return nil, fmt.Errorf("%w: the ε of one report must be below that of the permanent response", ErrParameter)
	case p.Positions > min(p.Values, maxPositions):
		return nil, fmt.Errorf(
			"%w: a device has at most %d positions, and not more than values",
			ErrParameter,
			maxPositions,
		)
	}
	if p.Mechanism == "loloha" {
		if err := coin.Check(p.first(), ErrParameter); err != nil {
			return nil, err
		}
	}
	return newOracle(p, m.make(p)), nil
}

// maxPositions limits the size of a report of dbit.
const maxPositions = 1 << 12

func newOracle(p Params, s scheme) *Oracle {
	o := &Oracle{params: p, scheme: s}
	o.p, o.q = o.scheme.support()
	o.other, _ = o.q.Float64()
	o.gap, _ = new(big.Rat).Sub(o.p, o.q).Float64()
	return o
}

// Params returns the parameters.
func (o *Oracle) Params() Params { return o.params }

// Bits returns the size of a report in bits. A report is padded with zeros to whole bytes.
func (o *Oracle) Bits() int { return o.scheme.size() }

// Ratio returns e^ε of one report, exactly: the largest ratio of a report's probabilities under two values. It is
// rational, since all probabilities are. Its logarithm is at most the declared ε.
func (o *Oracle) Ratio() *big.Rat { return o.scheme.ratio() }

// Support returns the exact probabilities p and q of [Oracle].
func (o *Oracle) Support() (p, q *big.Rat) { return new(big.Rat).Set(o.p), new(big.Rat).Set(o.q) }

// Randomize returns a report about a value, with fresh randomness of the operating system. The error is ErrValue.
func (o *Oracle) Randomize(value uint64) ([]byte, error) {
	reports, err := o.RandomizeAll([]uint64{value})
	if err != nil {
		return nil, err
	}
	return reports[0], nil
}

// RandomizeAll returns an independent report about each value. The error is ErrValue; then there are no reports.
func (o *Oracle) RandomizeAll(values []uint64) ([][]byte, error) {
	for _, v := range values {
		if v >= o.params.Values {
			return nil, fmt.Errorf("%w: a value is not below %d", ErrValue, o.params.Values)
		}
	}
	source := entropy.System()
	defer source.Wipe()
	size := o.bytes()
	all, reports := make([]byte, size*len(values)), make([][]byte, len(values))
	for i, v := range values {
		reports[i] = all[i*size : (i+1)*size : (i+1)*size]
		o.scheme.randomize(coin.Random{Source: source}, v, reports[i])
	}
	return reports, nil
}

// Check returns ErrReport if the randomizer never sends these bytes. A report that it may send can still be a lie.
func (o *Oracle) Check(report []byte) error {
	size := o.Bits()
	if !padded(report, size) {
		has := fmt.Sprintf("%d bits, in %d bytes that end with zeros", size, o.bytes())
		switch {
		case size == 1:
			has = "1 bit, in 1 byte that ends with zeros"
		case o.bytes() == 1:
			has = fmt.Sprintf("%d bits, in 1 byte that ends with zeros", size)
		}
		return fmt.Errorf("%w: a report of %s has %s", ErrReport, o.params.Mechanism, has)
	}
	if !o.scheme.sends(report) {
		return fmt.Errorf("%w: %s never sends these bits", ErrReport, o.params.Mechanism)
	}
	return nil
}

func (o *Oracle) bytes() int { return (o.scheme.size() + 7) / 8 }
