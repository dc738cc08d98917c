package stats

import "dither/curator"

// classDesign reads a formula, and finds its design over a table of the policy, within bounds that were found and with a response of classes; of more than two only where a model can have so many.
func classDesign(c *curator.Curator, table, text string, found []FoundBounds, k Classes, many bool) (*Design, error) {
	f, err := ParseFormula(text)
	if err != nil {
		return nil, err
	}
	t, err := tableOf(c, table)
	if err != nil {
		return nil, err
	}
	return f.designWith(t, designOptions{Found: found, Classes: k, Several: many})
}
