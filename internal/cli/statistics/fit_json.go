package statistics

import (
	"dither/stats/formula"
	"dither/stats/regression"
)

// What models of all kinds have in JSON.

// boundsFoundJSON are what a number was held within, which was found.
type boundsFoundJSON struct {
	Column string  `json:"column"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Mean   float64 `json:"mean,omitempty"`
	Spread float64 `json:"spread,omitempty"`
}

func foundJSON(found []formula.Bounds) []boundsFoundJSON {
	out := []boundsFoundJSON{}
	for _, b := range found {
		out = append(out, boundsFoundJSON{b.Column, b.Low, b.High, b.Mean, b.Spread})
	}
	return out
}

// choiceJSON tells which terms were chosen.
type choiceJSON struct {
	Of         []string `json:"of"`
	Chosen     []string `json:"chosen"`
	Models     float64  `json:"coefficients_of_all_models"`
	Confidence float64  `json:"confidence_of_each"`
	Exhaustive bool     `json:"exhaustive"`
}

func choiceOf(c *regression.Choice) *choiceJSON {
	if c == nil {
		return nil
	}
	return &choiceJSON{c.Of, c.Chosen, c.Models, c.Confidence, c.Exhaustive}
}
