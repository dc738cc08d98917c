package local

import (
	"cmp"
	"fmt"
	"slices"

	"dither/internal/entropy"
	"dither/privacy"
)

// HeavyParams describe the search for the most frequent values of a large domain.
type HeavyParams struct {
	Epsilon privacy.Epsilon // ε of one report
	Bits    int             // the length of a value in bits, from 2 to 60
	Start   int             // the length of the first prefix; 0 stands for 8, or Bits if that is less
	Step    int             // the bits by which a prefix is extended; 0 stands for 4
}

// Heavy finds the most frequent values of a domain that is too large to estimate all of it, such as 2⁴⁸ values
// [prefix extending: Wang, Li & Jha 2021]. Each person draws one of the groups, and reports a prefix of the value, of
// the length of the group, with optimized local hashing. The collector estimates all first prefixes, keeps the most
// frequent ones, extends them, estimates the extensions from the next group, and so on.
//
// Claim: a report is ε-differentially private between any two values. Proof: the group is drawn without the value. The
// rest of the report is a report of "olh" about one of two prefixes. ∎
type Heavy struct {
	params HeavyParams
	groups []*Oracle // by increasing length of the prefix
	size   []int     // the lengths
}

// NewHeavy returns a search, or ErrParameter.
func NewHeavy(p HeavyParams) (*Heavy, error) {
	if p.Start == 0 {
		p.Start = min(8, p.Bits)
	}
	if p.Step == 0 {
		p.Step = 4
	}
	if p.Bits < 2 || p.Bits > 60 || p.Start < 1 || p.Start > min(p.Bits, 20) || p.Step < 1 || p.Step > 16 {
		return nil, fmt.Errorf("%w: a search has 2 to 60 bits, begins with 1 to 20 of them, and extends by 1 to 16",
			ErrParameter)
	}
	h := &Heavy{params: p}
	for size := p.Start; ; size = min(size+p.Step, p.Bits) {
		o, err := New(Params{Mechanism: "olh", Values: 1 << size, Epsilon: p.Epsilon})
		if err != nil {
			return nil, err
		}
		h.groups, h.size = append(h.groups, o), append(h.size, size)
		if size == p.Bits {
			return h, nil
		}
	}
}

// Groups returns the number of groups of people.
func (h *Heavy) Groups() int { return len(h.groups) }

// Bits returns the largest size of a report in bits, apart from the number of its group.
func (h *Heavy) Bits() (most int) {
	for _, o := range h.groups {
		most = max(most, o.Bits())
	}
	return most
}

// Params returns the parameters of the search, with their defaults.
func (h *Heavy) Params() HeavyParams { return h.params }

// Variance returns the variance of the estimated frequency of one value that was chosen in advance, if n people report
// and a share of them has the value. It includes that of drawing the people of the last group, from a population.
func (h *Heavy) Variance(n int64, frequency float64) float64 {
	last := max(n/int64(len(h.groups)), 1)
	return h.groups[len(h.groups)-1].Variance(last, frequency) + frequency*(1-frequency)/float64(last)
}

// PrefixReport is a report of a person in a group.
type PrefixReport struct {
	Group  int
	Report []byte // of "olh" about the prefix
}

// Randomize returns a report about a value of Bits bits. The error is ErrValue.
func (h *Heavy) Randomize(value uint64) (PrefixReport, error) {
	if value>>h.params.Bits != 0 {
		return PrefixReport{}, fmt.Errorf("%w: a value has more than %d bits", ErrValue, h.params.Bits)
	}
	source := entropy.System()
	group := int(source.Below64(uint64(len(h.groups))))
	source.Wipe()
	report, err := h.groups[group].Randomize(value >> (h.params.Bits - h.size[group]))
	return PrefixReport{group, report}, err
}

// HeavyTally accumulates reports of a search. It is not safe for concurrent use.
type HeavyTally struct {
	h  *Heavy
	by []*Tally
}

// NewTally returns a tally without reports.
func (h *Heavy) NewTally() *HeavyTally {
	t := &HeavyTally{h: h}
	for _, o := range h.groups {
		t.by = append(t.by, o.NewTally())
	}
	return t
}

// Params returns the parameters of the search, with their defaults.
func (t *HeavyTally) Params() HeavyParams { return t.h.Params() }

// Reports returns the number of added reports.
func (t *HeavyTally) Reports() (n int64) {
	for _, by := range t.by {
		n += by.Reports()
	}
	return n
}

// Add adds a report, or returns ErrReport.
func (t *HeavyTally) Add(r PrefixReport) error {
	if r.Group < 0 || r.Group >= len(t.by) {
		return fmt.Errorf("%w: there is no group %d", ErrReport, r.Group)
	}
	return t.by[r.Group].Add(r.Report)
}

// MostFound is the largest number of values that Find keeps.
const MostFound = 1 << 12

// Find returns the values that are probably the most frequent, at most the given number of them, by decreasing
// estimate. The estimates are of the frequencies among all senders, from the last group alone. That group is a random
// sample of the senders, and the standard deviations and intervals include this sampling.
//
// A value is missed if one of its prefixes is not among the kept ones. Since Find chooses values with large estimates,
// the estimates of the chosen values are too large on average, and their intervals cover less often than the
// confidence. Values whose interval includes 0 may not occur at all. Errors are those of Tally.Estimate; there are at
// most MaxValues candidates of one length.
func (t *HeavyTally) Find(keep int, confidence float64) ([]Frequency, error) {
	if keep < 1 || keep > MostFound {
		return nil, fmt.Errorf("%w: a search keeps 1 to %d values", ErrParameter, MostFound)
	}
	var candidates []uint64 // all first prefixes
	for v := range uint64(1) << t.h.size[0] {
		candidates = append(candidates, v)
	}
	var found []Frequency
	for i, tally := range t.by {
		if tally.Reports() == 0 {
			return nil, fmt.Errorf("%w: group %d has no reports", ErrParameter, i)
		}
		if i > 0 {
			extend := t.h.size[i] - t.h.size[i-1]
			if len(found)<<extend > MaxValues {
				return nil, fmt.Errorf("%w: %d prefixes that are extended by %d bits are more than %d candidates", ErrWork,
					len(found), extend, MaxValues)
			}
			candidates = candidates[:0]
			for _, f := range found {
				for tail := range uint64(1) << extend {
					candidates = append(candidates, f.Value<<extend|tail)
				}
			}
		}
		var err error
		if found, err = Pool(confidence, []*Tally{tally}, candidates...); err != nil {
			return nil, err
		}
		slices.SortFunc(found, func(a, b Frequency) int {
			return cmp.Or(cmp.Compare(b.Frequency, a.Frequency), cmp.Compare(a.Value, b.Value))
		})
		found = found[:min(keep, len(found))]
	}
	return found, nil
}
