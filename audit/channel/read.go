package channel

import (
	"encoding/csv"
	"errors"
	"io"
)

// Options say how a matrix is read.
type Options struct {
	Normalize bool // divide each row by its sum: for what a program printed whose rows sum to 1 but for rounding
}

// Read reads a matrix from CSV.
func Read(r io.Reader, o Options) (*Matrix, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, errors.Join(ErrMatrix, err)
	}
	b, err := newBuilder(nil, nil, len(rows), len(rows[0]))
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		if err := b.row(row, i); err != nil {
			return nil, err
		}
	}
	return b.matrix(o.Normalize)
}
