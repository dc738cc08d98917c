package opaque

import (
	"errors"
	"fmt"
)

// Ordered is a multiset of exact integers that an engine passes to a mechanism. It is an increasing sequence that
// can be scanned repeatedly, so millions of values need not be in memory. The zero value is the empty multiset.
type Ordered struct {
	redacted
	scan func(yield func(value, count int64) bool) error
}

// NewOrdered returns an Ordered that hides a sequence. scan must call yield with each value and its number of rows,
// in increasing order, until yield returns false or the sequence ends. Consecutive calls may repeat a value, and a
// count may be 0. Every scan must yield the same sequence. A mechanism scans several times, keeps only as much of
// the sequence as its own parameters allow, and wraps an error of scan.
func NewOrdered(scan func(yield func(value, count int64) bool) error) Ordered {
	return Ordered{scan: scan}
}

// ErrOrder reports a scan that does not yield an ordered sequence: values decrease, a count is negative, there are
// more than MaxRows rows, or the number of rows differs between scans. It is a defect of the engine, and says
// nothing about the values.
var ErrOrder = errors.New("the values are not an ordered sequence")

// MaxRows limits the number of rows, so that products of ranks and denominators fit in 64 bits.
const MaxRows = 1 << 40

// Scan opens an ordered multiset. It calls visit for each distinct value, clamped to [lower, upper], with its
// number of rows. The values increase strictly, and the counts are above 0. Scan returns the total number of rows.
// It may return an error after some of the visits.
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

// progress is the state of the scan of one cell.
type progress struct {
	rows           int64
	last           int64 // the last value that was scanned, before clamping
	pending, count int64 // the clamped value whose rows are being counted, and their number so far
	started        bool
}

// add counts n rows with the next value, and visits the previous value if it is complete. It reports whether the
// value may follow the previous one.
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

// end visits the last value, if there is one.
func (p *progress) end(visit func(value, count int64)) {
	if p.count > 0 {
		visit(p.pending, p.count)
	}
}
