package mechanism

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"dither/privacy"
)

// Ordered is a multiset of true integers on its way from an engine to a mechanism, as a sequence in increasing order that can
// be read again and again: millions of values need not be held. It is as opaque as Exact. The zero value is the empty one.
type Ordered struct {
	scan func(yield func(value, count int64) bool) error // unexported, and no method reads it out
}

// NewOrdered seals a sequence. scan gives each value with the number of rows that have it, in increasing order, until yield
// returns false or nothing is left; a value may come in several parts, and a count may be 0. Each call gives the same. A
// mechanism scans several times, keeps no more of it than its own parameters say, and wraps an error of scan's.
func NewOrdered(scan func(yield func(value, count int64) bool) error) Ordered { return Ordered{scan} }

// String reveals nothing.
func (Ordered) String() string { return redacted }

// GoString reveals nothing.
func (Ordered) GoString() string { return redacted }

// Format reveals nothing, whatever the verb that asks it.
func (Ordered) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue reveals nothing.
func (Ordered) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON is an error: true values must not be encoded by accident.
func (Ordered) MarshalJSON() ([]byte, error) { return nil, errRedacted }

// MarshalText is an error.
func (Ordered) MarshalText() ([]byte, error) { return nil, errRedacted }

// MarshalBinary is an error.
func (Ordered) MarshalBinary() ([]byte, error) { return nil, errRedacted }

// GobEncode is an error.
func (Ordered) GobEncode() ([]byte, error) { return nil, errRedacted }

// ErrOrder reports a scan that is no ordered sequence: values that fall, negative counts, more than 2⁴⁰ rows, or another
// number of rows the second time. It is a defect of the engine's, and says nothing of the values.
var ErrOrder = errors.New("not an ordered sequence of values")

// maxRows keeps products of ranks and denominators within 64 bits.
const maxRows = 1 << 40

// each calls visit for each value, moved into the domain, with how many rows have it: values rise strictly, counts are above
// 0. It returns the number of rows. An error may come after some of the visits.
func (o Ordered) each(in Domain, visit func(value, count int64)) (rows int64, err error) {
	if o.scan == nil {
		return 0, nil
	}
	var last, pending, count int64
	started, bad := false, false
	err = o.scan(func(value, n int64) bool {
		bad = bad || n < 0 || n > maxRows-rows || started && value < last
		if bad {
			return false
		}
		last, started = value, true
		rows += n
		value = in.clamp(value)
		if count > 0 && n > 0 && value != pending {
			visit(pending, count)
			count = 0
		}
		if n > 0 {
			pending = value
		}
		count += n
		return true
	})
	switch {
	case bad:
		return 0, ErrOrder
	case err != nil:
		return 0, fmt.Errorf("scanning the values: %w", err)
	case count > 0:
		visit(pending, count)
	}
	return rows, nil
}

// rows counts.
func (o Ordered) rows(in Domain) (int64, error) { return o.each(in, func(int64, int64) {}) }

// again is each for a scan after the first: with another number of rows it is ErrOrder.
func (o Ordered) again(in Domain, rows int64, visit func(value, count int64)) error {
	n, err := o.each(in, visit)
	if err == nil && n != rows {
		err = ErrOrder
	}
	return err
}

// Domain is the range of integers that values are taken to lie in, ends included: a value beyond an end counts as that end.
// It is public, and never read from the data. It has at most 2⁶² integers.
type Domain struct{ Lower, Upper int64 }

func (d Domain) check() error {
	if d.Lower > d.Upper || uint64(d.Upper)-uint64(d.Lower) >= 1<<62 {
		return fmt.Errorf("%w: a domain needs between 1 and 2^62 integers", ErrParameter)
	}
	return nil
}

// points is how many integers there are.
func (d Domain) points() int64 { return d.Upper - d.Lower + 1 }

func (d Domain) clamp(x int64) int64 { return min(max(x, d.Lower), d.Upper) }

// Unit says whose privacy is kept: which data sets are neighbours, and how many rows one unit of privacy (a person, mostly)
// may have. Under AddRemove one of two neighbours has up to MaxRows rows that the other lacks; under ChangeOne up to MaxRows
// rows are replaced by up to MaxRows others.
type Unit struct {
	Neighbours privacy.Neighbours
	MaxRows    int64 // at least 1; the caller has seen to it that no unit has more
}

// maxUnitRows keeps sensitivities within 64 bits.
const maxUnitRows = 1 << 40

func (u Unit) check() error {
	if u.Neighbours != privacy.AddRemove && u.Neighbours != privacy.ChangeOne {
		return fmt.Errorf("%w: no neighbouring relation", ErrParameter)
	}
	if u.MaxRows < 1 || u.MaxRows > maxUnitRows {
		return fmt.Errorf("%w: a unit needs between 1 and 2^40 rows", ErrParameter)
	}
	return nil
}

// steps is how many additions and removals of single rows lead from one neighbour to the other, at most.
func (u Unit) steps() int64 {
	if u.Neighbours == privacy.ChangeOne {
		return 2 * u.MaxRows
	}
	return u.MaxRows
}

// longestEpsilon limits the size of the two parts of an ε: beyond it they are taken for an attempt to exhaust memory.
const longestEpsilon = 4096

// checkRelease is ErrParameter unless a mechanism on ordered values has what each of them needs.
func checkRelease(in Domain, u Unit, e privacy.Epsilon) error {
	if err := in.check(); err != nil {
		return err
	}
	if err := u.check(); err != nil {
		return err
	}
	if r := e.Rat(); r.Sign() == 0 || max(r.Num().BitLen(), r.Denom().BitLen()) > longestEpsilon {
		return fmt.Errorf("%w: an epsilon above 0, of at most %d bits", ErrParameter, longestEpsilon)
	}
	return nil
}

// checkBound is ErrParameter for a probability that no bound fails with.
func checkBound(beta float64) error {
	if !(beta > 0) || !(beta <= 1) {
		return fmt.Errorf("%w: a bound fails with a probability above 0 and at most 1", ErrParameter)
	}
	return nil
}

// OrderStatistics is what a mechanism says of the order of values: integers of the domain, one for each rank that was asked
// for.
type OrderStatistics struct {
	Values []int64
	Loss   privacy.Loss // of all values together
}
