package regression

import "dither/curator"

// Spec identifies a model in results and explanations.
type Spec struct {
	Model   string `json:"model"` // "linear", a family of a GLM, or a kind of trained model
	Formula string `json:"formula"`
	Table   string `json:"table"`
}

// Paid states what a result cost.
type Paid struct {
	// what bounds the rows that the result and its intervals are about
	Limits    *curator.Limits `json:"limits,omitempty"`
	Price     curator.Loss    `json:"price"`
	Remaining curator.Loss    `json:"remaining"`
	Replayed  bool            `json:"replayed"` // every release of the result is a replay, and so free
}

// Quoted states what a result would cost.
type Quoted struct {
	Price      curator.Loss `json:"price"`
	Remaining  curator.Loss `json:"remaining"`
	Affordable bool         `json:"affordable"`
	Largest    string       `json:"-"` // largest ε that one question may cost now
}

// Values of About: the coefficients that the intervals cover.
const (
	AboutRows       = "rows"       // coefficients that exact computation on these rows would give
	AboutPopulation = "population" // coefficients of the population from which the rows are drawn
)

// LinearModel is the value of Spec.Model for a linear regression.
const LinearModel = "linear"
