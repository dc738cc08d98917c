package regression

import (
	"dither/curator"
	"dither/stats/formula"
	"dither/stats/internal/request"
)

// classDesign parses a formula and returns its design over a table of the policy. found are narrower bounds of
// columns, and k selects the classes of the response. many permits more than two classes.
func classDesign(
	c *curator.Session, table, text string, found []formula.Bounds, k formula.Classes, many bool,
) (*formula.Design, error) {
	f, err := formula.Parse(text)
	if err != nil {
		return nil, err
	}
	t, err := request.Table(c, table)
	if err != nil {
		return nil, err
	}
	return f.DesignWith(t, formula.Options{Found: found, Classes: k, Several: many})
}
