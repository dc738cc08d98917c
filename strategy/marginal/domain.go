package marginal

import (
	"fmt"
	"slices"

	"dither/curator"
)

// Queries is a kind of questions about one attribute.
type Queries int

// The kinds of questions about one attribute with c values.
const (
	Values   Queries = iota // the count of each value: a plain marginal; c queries
	Prefixes                // the count of the first j values, for j from 1 to c; c queries
	Ranges                  // the count of each run of neighbouring values; c(c+1)/2 queries
)

// kinds has the name of each kind, as commands write it.
var kinds = []string{"values", "prefixes", "ranges"}

// String returns the name of the kind: values, prefixes or ranges.
func (q Queries) String() string {
	if q < 0 || int(q) >= len(kinds) {
		return fmt.Sprintf("queries %d", int(q))
	}
	return kinds[q]
}

// ParseQueries returns the kind that a name stands for.
func ParseQueries(name string) (Queries, error) {
	if i := slices.Index(kinds, name); i >= 0 {
		return Queries(i), nil
	}
	return 0, fmt.Errorf("marginal: there are no queries %q: use values, prefixes or ranges", name)
}

// The limits of a domain.
const (
	MaxSize    = 1_000_000 // values of an attribute
	MaxOrdered = 256       // values of an attribute with prefixes or ranges, whose strategy is a dense matrix
)

// Attribute is one column of a domain.
type Attribute struct {
	Name    string
	Size    int     // the number of its values, from 1 to [MaxSize]
	Queries Queries // the questions about it in every marginal that has it
}

// queries returns the number of queries about the attribute.
func (a Attribute) queries() float64 {
	n := float64(a.Size)
	if a.Queries == Ranges {
		return n * (n + 1) / 2
	}
	return n
}

// Domain is a list of attributes. It has one cell for each combination of their values, of which there may be more
// than any computer can hold.
type Domain struct {
	attributes []Attribute
	position   map[string]int
	// the question that the domain is of, and its keys; nil for none
	session *curator.Session
	request curator.Request
	asked   *curator.Domain
}

// NewDomain returns the domain of these attributes. Names must differ. A size must be at least 1. An attribute with
// prefixes or ranges has at most [MaxOrdered] values.
func NewDomain(attributes ...Attribute) (*Domain, error) {
	if len(attributes) == 0 || len(attributes) > MaxAttributes {
		return nil, fmt.Errorf("marginal: a domain has 1 to %d attributes, not %d", MaxAttributes, len(attributes))
	}
	d := &Domain{attributes: slices.Clone(attributes), position: map[string]int{}}
	for i, a := range attributes {
		most := MaxSize
		if a.Queries != Values {
			most = MaxOrdered
		}
		switch {
		case a.Name == "":
			return nil, fmt.Errorf("marginal: attribute %d has no name", i+1)
		case a.Queries < 0 || int(a.Queries) >= len(kinds):
			return nil, fmt.Errorf("marginal: attribute %q has unknown queries %d", a.Name, int(a.Queries))
		case a.Size < 1 || a.Size > most:
			return nil, fmt.Errorf(
				"marginal: attribute %q has %d values: with %v it may have 1 to %d", a.Name, a.Size, a.Queries, most,
			)
		}
		if _, twice := d.position[a.Name]; twice {
			return nil, fmt.Errorf("marginal: two attributes have the name %q", a.Name)
		}
		d.position[a.Name] = i
	}
	return d, nil
}

// Ask returns the domain with another kind of questions about an attribute. An attribute with prefixes or ranges must have no
// NULL among the values of its key.
func (d *Domain) Ask(name string, kind Queries) (*Domain, error) {
	i, known := d.position[name]
	if !known {
		return nil, fmt.Errorf("marginal: the domain has no attribute %q", name)
	}
	if kind != Values && d.asked != nil && slices.Contains(d.asked.Values[i], any(nil)) {
		return nil, fmt.Errorf("marginal: attribute %q may be NULL, which has no place in the order of its values", name)
	}
	attributes := slices.Clone(d.attributes)
	attributes[i].Queries = kind
	out, err := NewDomain(attributes...)
	if err == nil {
		out.session, out.request, out.asked = d.session, d.request, d.asked
	}
	return out, err
}

// Attributes returns the attributes, in order.
func (d *Domain) Attributes() []Attribute { return slices.Clone(d.attributes) }

// positions returns the positions of the named attributes, in the order given.
func (d *Domain) positions(names []string) ([]int, error) {
	out := make([]int, len(names))
	var seen subset
	for i, name := range names {
		p, known := d.position[name]
		if !known {
			return nil, fmt.Errorf("marginal: the domain has no attribute %q", name)
		}
		if seen.has(p) {
			return nil, fmt.Errorf("marginal: a marginal names attribute %q twice", name)
		}
		seen[p/64] |= 1 << (p % 64)
		out[i] = p
	}
	return out, nil
}

// queries returns the number of queries of a marginal.
func (d *Domain) queries(positions []int) float64 {
	n := 1.0
	for _, p := range positions {
		n *= d.attributes[p].queries()
	}
	return n
}

// cells returns the number of cells of a marginal, as a float because it may be large.
func (d *Domain) cells(positions []int) float64 {
	n := 1.0
	for _, p := range positions {
		n *= float64(d.attributes[p].Size)
	}
	return n
}
