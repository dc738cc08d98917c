package opaque

import (
	"errors"
	"fmt"
)

// Ordered is a multiset of exact integers on its way from an engine to a mechanism: an increasing sequence that can be
// scanned repeatedly, so that millions of values need not be in memory. The zero value is the empty multiset.
type Ordered struct {
	redacted
	scan func(yield func(value, count int64) bool) error
}

// NewOrdered hides a sequence. scan passes each value with the number of rows that have it, in increasing order, until
// yield returns false or the sequence ends. A value may come in several parts, and a count may be 0. Each call must
// pass the same sequence. A mechanism scans several times, keeps no more of the sequence than its own parameters say,
// and wraps an error of scan.
func NewOrdered(scan func(yield func(value, count int64) bool) error) Ordered {
	return Ordered{scan: scan}
}

// ErrOrder reports a scan that is not an ordered sequence: decreasing values, negative counts, more than MaxRows rows,
// or another number of rows the second time. It is a defect of the engine, and says nothing about the values.
var ErrOrder = errors.New("not an ordered sequence of values")

// MaxRows keeps products of ranks and denominators within 64 bits.
const MaxRows = 1 << 40

// Scan opens an ordered multiset: it calls visit for each value, clamped to [lower, upper], with the number of rows
// that have it. Values rise strictly, and counts are above 0. It returns the number of rows. An error may come after
// some of the visits.
func Scan(o Ordered, lower, upper int64, visit func(value, count int64)) (rows int64, err error) {
	if o.scan == nil {
		return 0, nil
	}
	var p progress
	good := true
	err = o.scan(func(value, n int64) bool {
		good = good && p.add(value, n, lower, upper, visit)
		return good
	})
	switch {
	case !good:
		return 0, ErrOrder
	case err != nil:
		return 0, fmt.Errorf("scanning the values: %w", err)
	}
	p.end(visit)
	return p.rows, nil
}

// progress is the state of a scan within one cell.
type progress struct {
	rows           int64
	last           int64 // the last value as scanned
	pending, count int64 // the clamped value whose rows are being gathered
	started        bool
}

// add takes the next value, and reports whether it may follow the previous one.
func (p *progress) add(value, n, lower, upper int64, visit func(value, count int64)) bool {
	if n < 0 || n > MaxRows-p.rows || p.started && value < p.last {
		return false
	}
	p.last, p.started = value, true
	p.rows += n
	value = min(max(value, lower), upper)
	if p.count > 0 && n > 0 && value != p.pending {
		visit(p.pending, p.count)
		p.count = 0
	}
	if n > 0 {
		p.pending = value
	}
	p.count += n
	return true
}

// end visits the last value.
func (p *progress) end(visit func(value, count int64)) {
	if p.count > 0 {
		visit(p.pending, p.count)
	}
}
