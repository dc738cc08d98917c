package model

import (
	"fmt"
	"slices"
)

// The limits of a domain.
const (
	MaxAttributes = 256
	MaxSize       = 1_000_000 // values of an attribute
)

// Domain is a list of attributes, each with the codes 0 to its size − 1.
type Domain struct{ sizes []int }

// NewDomain returns the domain of attributes of these sizes. There are 1 to [MaxAttributes] attributes, each of size 1
// to [MaxSize].
func NewDomain(sizes ...int) (*Domain, error) {
	if len(sizes) == 0 || len(sizes) > MaxAttributes {
		return nil, fmt.Errorf("model: a domain has 1 to %d attributes, not %d", MaxAttributes, len(sizes))
	}
	for i, n := range sizes {
		if n < 1 || n > MaxSize {
			return nil, fmt.Errorf("model: attribute %d has %d values: it may have 1 to %d", i, n, MaxSize)
		}
	}
	return &Domain{slices.Clone(sizes)}, nil
}

// Sizes returns the sizes of the attributes, in order.
func (d *Domain) Sizes() []int { return slices.Clone(d.sizes) }

// Cells returns the number of cells of a marginal, as a float because it may be large.
func (d *Domain) Cells(attributes ...int) float64 {
	n := 1.0
	for _, a := range attributes {
		n *= float64(d.sizes[a])
	}
	return n
}

// read returns the set of a marginal's attributes, which must be known, ascending and different.
func (d *Domain) read(attributes []int) (set, error) {
	var s set
	for i, a := range attributes {
		switch {
		case a < 0 || a >= len(d.sizes):
			return s, fmt.Errorf("model: the domain has attributes 0 to %d, not %d", len(d.sizes)-1, a)
		case i > 0 && a <= attributes[i-1]:
			return s, fmt.Errorf("model: the attributes %v of a marginal must be ascending and different", attributes)
		}
		s.add(a)
	}
	return s, nil
}

// only returns the number of cells of the marginal of a set.
func (d *Domain) only(s set) float64 {
	n := 1.0
	for a := s.next(0); a >= 0; a = s.next(a + 1) {
		n *= float64(d.sizes[a])
	}
	return n
}
