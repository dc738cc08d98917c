package regression

import (
	"dither/curator"
	"dither/stats/formula"
	"dither/stats/internal/request"
)

// classDesign reads a formula, and finds its design over a table of the policy, within bounds that were found and with
// a response of classes; of more than two only where a model can have so many.
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
