package enginetest

import (
	"math/big"
	"slices"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// Texts within the policies that some aims replace.
const (
	ofPersons = "rows_per_unit: 3, max_groups: 2, max_rows_per_group: 1"
	ofLines   = "rows_per_unit: 4, columns: {parent"
	ofFurther = "rows_per_unit: 2, max_groups: 1, columns: {up"
	amounts   = "bounds: [0, 1000000000000]"
)

func plainly(sql ...string) (out []question) {
	for _, s := range sql {
		out = append(out, question{Request: plan.Request{SQL: s}})
	}
	return out
}

func asking(kind, sql string) question { return question{Request: plan.Request{SQL: sql}, kind: kind} }

// limited returns questions in which at most `rows` rows of a unit count.
func limited(rows int64, sql ...string) (out []question) {
	for _, s := range sql {
		out = append(out, question{Request: plan.Request{SQL: s, MaxRows: rows}})
	}
	return out
}

// coordinate returns a question for the sum of one coordinate, which has the bounds of its column and no other.
func coordinate(sql string) question {
	return question{Request: plan.Request{SQL: sql}, kind: "vectors", vectors: plan.VectorRequest{
		Blocks: []plan.BlockRequest{{Size: 1, Norm: bounded.NormL2}}, Sums: []plan.SumRequest{{Kind: bounded.SumFirst}},
	}}
}

// pairOfCoordinates returns a question for the products of two coordinates.
func pairOfCoordinates(sql string) question {
	return question{Request: plan.Request{SQL: sql}, kind: "vectors", vectors: plan.VectorRequest{
		Blocks: []plan.BlockRequest{{Size: 2, Norm: bounded.NormL2, Bound: big.NewRat(1000, 1)}},
		Sums:   []plan.SumRequest{{Kind: bounded.SumProduct}},
	}}
}

// aims returns all aims: databases and questions that reach a bound of the plan or of an engine.
func aims() []aim {
	return slices.Concat(aimsAtSums(), aimsAtRelations(), aimsAtOrders(), aimsAtStored(), aimsAtFirstRows(), aimsAtUnits())
}

// othersIn3 is the text of two persons, each with rows in three groups.
const othersIn3 = "person=2 s=a k=5 i=-7; person=2 s=B k=5 i=-7; person=2 s= k=5 i=-7; person=3 s=a k=5 i=-7; " +
	"person=3 s=B k=5 i=-7; person=3 s= k=5 i=-7"

// manyPersons is the text of 60 persons with one row each.
var manyPersons = func() (out string) {
	for n := range 60 {
		out += "person=" + big.NewInt(int64(n+2)).String() + "; "
	}
	return out
}()
