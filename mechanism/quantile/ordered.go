package quantile

import (
	"fmt"

	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// Domain is a range of integers, ends included. Values beyond an end are clamped to it. The domain is public, and
// is never read from the data. It has at most 2⁶² integers.
type Domain struct{ Lower, Upper int64 }

func (d Domain) check() error {
	if d.Lower > d.Upper || uint64(d.Upper)-uint64(d.Lower) >= 1<<62 {
		return fmt.Errorf("%w: a domain must have from 1 to 2^62 integers", mechanism.ErrParameter)
	}
	return nil
}

// points returns the number of integers in the domain.
func (d Domain) points() int64 { return d.Upper - d.Lower + 1 }

func (d Domain) clamp(x int64) int64 { return min(max(x, d.Lower), d.Upper) }

// each scans an ordered multiset with its values clamped to a domain: see opaque.Scan.
func each(data mechanism.Ordered, in Domain, visit func(value, count int64)) (rows int64, err error) {
	return opaque.Scan(data, in.Lower, in.Upper, visit)
}

// countRows returns the number of rows of an ordered multiset.
func countRows(data mechanism.Ordered, in Domain) (int64, error) {
	return each(data, in, func(int64, int64) {})
}

// eachAgain is each for a later scan. It returns ErrOrder if the number of rows is not that of the first scan.
func eachAgain(data mechanism.Ordered, in Domain, rows int64, visit func(value, count int64)) error {
	n, err := each(data, in, visit)
	if err == nil && n != rows {
		err = mechanism.ErrOrder
	}
	return err
}

// eachCell scans the values of all cells, clamped to a domain: see opaque.ScanCells.
func eachCell(data mechanism.OrderedCells, in Domain, visit func(cell int, value, count int64)) ([]int64, error) {
	return opaque.ScanCells(data, in.Lower, in.Upper, visit)
}

// steps returns the most single rows that must be added or removed to turn one neighbour into the other.
func steps(u mechanism.Unit) int64 {
	if u.Neighbours == privacy.ChangeOne {
		return 2 * u.MaxRows
	}
	return u.MaxRows
}

// checkRelease checks the parameters that every mechanism on ordered values needs. Invalid ones are ErrParameter.
func checkRelease(in Domain, u mechanism.Unit, e privacy.Epsilon) error {
	if err := in.check(); err != nil {
		return err
	}
	if err := parameter.Unit(u.Neighbours, u.MaxRows); err != nil {
		return err
	}
	return parameter.Rate(e)
}

// OrderStatistics is the release of a mechanism on ordered values: an integer of the domain for each requested
// rank.
type OrderStatistics struct {
	Values []int64
	Loss   privacy.Loss // the loss of all values together
}
