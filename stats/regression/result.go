package regression

import "dither/curator"

// Spec names a model, in results and explanations alike.
type Spec struct {
	Model   string `json:"model"` // "linear", a family of a GLM, or a kind of trained model
	Formula string `json:"formula"`
	Table   string `json:"table"`
}

// Paid is what a result cost.
type Paid struct {
	Price     curator.Loss `json:"price"`
	Remaining curator.Loss `json:"remaining"`
	Replayed  bool         `json:"replayed"` // all of it was released before, and is free
}

// Quoted is what a result would cost.
type Quoted struct {
	Price      curator.Loss `json:"price"`
	Remaining  curator.Loss `json:"remaining"`
	Affordable bool         `json:"affordable"`
	Largest    string       `json:"-"` // the largest ε that one question can be asked at now
}

// Values of About, the subject of intervals.
const (
	AboutRows       = "rows"       // the coefficients that these rows have
	AboutPopulation = "population" // those of the population that the rows are drawn from
)

// LinearModel is the Spec.Model of a linear regression.
const LinearModel = "linear"
