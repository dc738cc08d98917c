package attack

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// Attributes is a table of numbers with named columns: people's attributes, which are 0 or 1, or the published
// means of attributes.
type Attributes struct {
	names []string
	rows  [][]float64
}

// MostValues is the largest number of values in a table of attributes.
const MostValues = 1 << 24

// ReadAttributes reads a table from CSV: a line of names, and then lines of numbers. It returns ErrTable for an
// invalid table, or the reader's own error.
func ReadAttributes(r io.Reader) (*Attributes, error) {
	a := &Attributes{}
	err := records(r, func(_ int, record []string) error {
		if a.names == nil {
			a.names = slices.Clone(record)
			seen := map[string]bool{}
			for _, name := range a.names {
				if name == "" || seen[name] {
					return fmt.Errorf("each attribute must have a unique name that is not empty, unlike "+
						"%q", shortened(name))
				}
				seen[name] = true
			}
			return nil
		}
		if (len(a.rows)+1)*len(a.names) > MostValues {
			return fmt.Errorf("there are more than %d values", MostValues)
		}
		row := make([]float64, len(record))
		for i, text := range record {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || !(math.Abs(x) <= farOff) {
				return fmt.Errorf("field %d: %q is not a number between -1e9 and 1e9", i+1, shortened(text))
			}
			row[i] = x
		}
		a.rows = append(a.rows, row)
		return nil
	})
	if err == nil && len(a.rows) == 0 {
		err = fmt.Errorf("%w: %w", ErrTable, errors.New("it needs a line of names and then a line of numbers"))
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// as returns the rows as bits, with the columns in the order of names. Errors call the table by the text in `what`.
func (a *Attributes) as(names []string, what string) ([][]bool, error) {
	place, at := make(map[string]int, len(a.names)), make([]int, len(names))
	for i, name := range a.names {
		place[name] = i
	}
	for i, name := range names {
		var ok bool
		if at[i], ok = place[name]; !ok {
			return nil, fmt.Errorf("%w: the %s has no attribute %q", ErrParameter, what, shortened(name))
		}
	}
	out := make([][]bool, len(a.rows))
	for k, row := range a.rows {
		out[k] = make([]bool, len(names))
		for i, j := range at {
			if row[j] != 0 && row[j] != 1 {
				return nil, fmt.Errorf("%w: in the %s, the attribute %q must be 0 or 1, not %g",
					ErrParameter, what, shortened(names[i]), row[j])
			}
			out[k][i] = row[j] == 1
		}
	}
	return out, nil
}

// Traced is what published means reveal about one person.
type Traced struct {
	Attributes int
	Reference  int     // the number of other people for comparison
	Higher     int     // how many of them score at least as high as the person
	PValue     float64 // (1 + Higher)/(1 + Reference)
}

// Trace tests whether a person was in the group whose means are published. It scores the person, and reference
// people of the same population who are known not to be in the group. The score is ⟨x − p, q − p⟩, where q are the
// published means and p the frequencies among all these people.
//
// Claim: for a person of the population who is unrelated to the means, PValue is at most α with probability at most
// α, for every α. Proof: the person and the reference people are then exchangeable, and p treats them alike. ∎
//
// Attributes are matched by the names in means. Trace returns ErrParameter if an attribute is missing, if there is
// not exactly one line of means and one person, if there are fewer than 19 reference people, or if a person's
// attribute is neither 0 nor 1.
func Trace(means, person, reference *Attributes) (Traced, error) {
	if means == nil || person == nil || reference == nil {
		return Traced{}, fmt.Errorf("%w: a table is missing", ErrParameter)
	}
	if len(means.rows) != 1 || len(person.rows) != 1 || len(reference.rows) < 19 {
		return Traced{}, fmt.Errorf(
			"%w: give one line of means, one person, and at least 19 reference people, not %d, %d and %d",
			ErrParameter, len(means.rows), len(person.rows), len(reference.rows))
	}
	x, err := person.as(means.names, "record")
	if err != nil {
		return Traced{}, err
	}
	others, err := reference.as(means.names, "reference")
	if err != nil {
		return Traced{}, err
	}
	all := append(x, others...)
	p := make([]float64, len(means.names))
	for j := range p {
		has := 0
		for _, row := range all {
			if row[j] {
				has++
			}
		}
		p[j] = float64(has) / float64(len(all))
	}
	out := Traced{Attributes: len(p), Reference: len(others)}
	own := score(all[0], p, means.rows[0])
	for _, row := range others {
		if score(row, p, means.rows[0]) >= own {
			out.Higher++
		}
	}
	out.PValue = float64(1+out.Higher) / float64(1+out.Reference)
	return out, nil
}
