package tabulate

import (
	"fmt"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/exact"
)

// warn lists the levels of counts whose margin of error is larger than their average cell can be, by the number of rows
// that the policy declares. It depends on no row.
func (p *Plan) warn(c *curator.Session, s *Spec) error {
	tables, err := c.Tables()
	if err != nil {
		return err
	}
	for i, t := range s.Tables {
		at := slices.IndexFunc(tables, func(of curator.Table) bool { return of.Name == t.From })
		if at < 0 || tables[at].ExpectedRows == 0 || t.Sum != "" {
			continue
		}
		rows := tables[at].ExpectedRows
		var noisy []string
		for _, l := range p.Tables[i].Levels {
			if average := float64(rows) / float64(l.Cells); l.Margin > average {
				noisy = append(noisy, fmt.Sprintf("%s (±%s, at most %s)", l.Name(), short(l.Margin), short(average)))
			}
		}
		if len(noisy) > 0 {
			p.Warnings = append(p.Warnings, fmt.Sprintf("table %s is mostly noise: the margin of error is larger than the "+
				"average of %d rows over the cells, in %s. Raise the price, or ask for fewer classifications or coarser levels",
				t.Name, rows, strings.Join(noisy, ", ")))
		}
	}
	return nil
}

// short writes a number as an integer, or with two digits if it is below 10.
func short(x float64) string {
	if x < 10 {
		return exact.FormatFloat(x, 'g', 2)
	}
	return exact.FormatFloat(x, 'f', 0)
}
