package local

import (
	"fmt"
	"io"
	"slices"

	"dither/local/internal/lines"
	"dither/privacy"
)

// MarginalsFormat is the name of the format in the header.
const MarginalsFormat = "dither local marginals"

// Column is an attribute of a file of reports about marginals.
type Column struct {
	Name   string `json:"name"`
	Values uint64 `json:"values"`
	Domain string `json:"domain,omitempty"` // what identifies the texts of the values, as in Header
}

type marginalsJSON struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Epsilon privacy.Epsilon `json:"epsilon"`
	N       int64           `json:"n"` // the number of people that the mechanisms were chosen for
	Columns []Column        `json:"columns"`
	Sets    [][]int         `json:"marginals"`
	// Split and Mechanisms are what was chosen. A later version of this program might choose differently.
	Split      bool     `json:"split"`
	Mechanisms []string `json:"mechanisms"`
}

// Write writes a file of reports. The columns are the names of the attributes, whose numbers of values are known. The
// error is ErrParameter if there is not one for each attribute, ErrFile if the header is too long, or that of w.
func (m *Marginals) Write(w io.Writer, columns []Column, reports []MarginalsReport) error {
	if !slices.EqualFunc(columns, m.sizes, func(c Column, size uint64) bool { return c.Values == size }) {
		return fmt.Errorf("%w: the columns do not have the values of the attributes", ErrParameter)
	}
	header := marginalsJSON{
		MarginalsFormat, lines.Version, m.epsilon, m.n, columns, m.sets, m.split, m.mechanisms(),
	}
	return writeParts(w, header, len(reports), func(i int) (int, [][]byte) {
		return reports[i].Marginal, reports[i].Reports
	})
}

// ReadMarginals reads a file of reports about marginals. accept is called once, with the columns and ε of the header,
// before any report is read; its error is returned. An invalid line is ErrFile, with its number.
func ReadMarginals(r io.Reader, accept func([]Column, privacy.Epsilon) error) (*Marginals, *MarginalsTally, error) {
	var j marginalsJSON
	in, err := lines.Open(r, MarginalsFormat, &j)
	if err != nil {
		return nil, nil, err
	}
	if err := accept(j.Columns, j.Epsilon); err != nil {
		return nil, nil, err
	}
	var sizes []uint64
	for _, c := range j.Columns {
		sizes = append(sizes, c.Values)
	}
	m, err := NewMarginals(j.Epsilon, sizes, j.Sets, j.N)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: line 1: %w", ErrFile, err)
	}
	if m.split != j.Split || !slices.Equal(j.Mechanisms, m.mechanisms()) {
		return nil, nil, fmt.Errorf("%w: line 1: this version of dither chooses other mechanisms for the marginals", ErrFile)
	}
	t := m.NewTally()
	return m, t, readParts(in, sizesOf(m.oracles), func(marginal int, parts [][]byte) error {
		return t.Add(MarginalsReport{marginal, parts})
	})
}
