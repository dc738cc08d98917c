package attack

import (
	"bytes"
	_ "embed" // for the two tables
)

//go:embed hospitals/east.csv
var east []byte

//go:embed hospitals/west.csv
var west []byte

// Hospitals returns two made-up tables as CSV files, as an example for [Intersect]. One is 4-anonymous, and the
// other 5-anonymous.
func Hospitals() (eastern, western []byte) { return bytes.Clone(east), bytes.Clone(west) }
