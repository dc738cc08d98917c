package attack

import (
	"bytes"
	_ "embed" // the two tables
)

//go:embed hospitals/east.csv
var east []byte

//go:embed hospitals/west.csv
var west []byte

// Hospitals is a made-up example of the intersection of two tables, one 4-anonymous and one 5-anonymous, as CSV files.
func Hospitals() (eastern, western []byte) { return bytes.Clone(east), bytes.Clone(west) }
