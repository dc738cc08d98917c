package statistics

import (
	"strconv"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/stats/regression"
)

// coefficientsCSV writes coefficients as CSV. Unknown numbers are empty. The format json has the rest of the fit.
func coefficientsCSV(s *console.Console, bounds *curator.Limits, header []string, rows [][]string) error {
	return s.CSV(render.BoundedRecords(bounds, append([][]string{header}, rows...)))
}

func linearCSV(s *console.Console, f *regression.LinearFit) error {
	var rows [][]string
	for _, c := range f.Coefficients {
		rows = append(rows, []string{
			c.Name, render.CSVFloat(c.Estimate), render.CSVFloat(c.StdError),
			render.CSVFloat(c.Low), render.CSVFloat(c.High),
		})
	}
	return coefficientsCSV(s, f.Limits, []string{"name", "estimate", "std_error", "low", "high"}, rows)
}

func glmCSV(s *console.Console, f *regression.GLMFit) error {
	var rows [][]string
	for _, c := range f.Coefficients {
		rows = append(rows, []string{
			c.Name, render.CSVFloat(c.Estimate), render.CSVFloat(c.StdError),
			render.CSVFloat(c.Z), render.CSVFloat(c.P), render.CSVFloat(c.Low), render.CSVFloat(c.High),
		})
	}
	return coefficientsCSV(s, f.Limits, []string{"name", "estimate", "std_error", "z", "p_value", "low", "high"}, rows)
}

func trainedCSV(s *console.Console, t trained) error {
	var rows [][]string
	for _, c := range t.Coefficients {
		rows = append(rows, []string{c.Class, c.Name, render.CSVFloat(c.Estimate)})
	}
	if rows == nil { // the parameters of a network have no names
		for i := range t.Theta {
			rows = append(rows, []string{"", strconv.Itoa(i), render.CSVFloat(&t.Theta[i])})
		}
	}
	return coefficientsCSV(s, t.Limits, []string{"class", "name", "estimate"}, rows)
}
