package cli

import (
	"strconv"

	"dither/internal/exact"
	"dither/stats"
)

// coefficientsCSV writes coefficients as a table for other programs. What is not known is empty; what the fit needs to be known beside them is in JSON.
func (s *session) coefficientsCSV(header []string, rows [][]string) error {
	return s.csv(append([][]string{header}, rows...))
}

func csvCell(x *float64) string {
	if x == nil {
		return ""
	}
	return exact.FormatFloat(*x, 'g', -1)
}

func (s *session) linearCSV(f *stats.LinearFit) error {
	var rows [][]string
	for _, c := range f.Coefficients {
		rows = append(rows, []string{c.Name, csvCell(c.Estimate), csvCell(c.StdError), csvCell(c.Low), csvCell(c.High)})
	}
	return s.coefficientsCSV([]string{"name", "estimate", "std_error", "low", "high"}, rows)
}

func (s *session) glmCSV(f *stats.GLMFit) error {
	var rows [][]string
	for _, c := range f.Coefficients {
		rows = append(rows, []string{c.Name, csvCell(c.Estimate), csvCell(c.StdError), csvCell(c.Z), csvCell(c.P), csvCell(c.Low), csvCell(c.High)})
	}
	return s.coefficientsCSV([]string{"name", "estimate", "std_error", "z", "p_value", "low", "high"}, rows)
}

func (s *session) trainedCSV(t trained) error {
	var rows [][]string
	for _, c := range t.Coefficients {
		rows = append(rows, []string{c.Class, c.Name, csvCell(c.Estimate)})
	}
	if rows == nil { // a network's have no names
		for i := range t.Theta {
			rows = append(rows, []string{"", strconv.Itoa(i), csvCell(&t.Theta[i])})
		}
	}
	return s.coefficientsCSV([]string{"class", "name", "estimate"}, rows)
}
