package curator

import "dither/internal/release"

// Request has the fields of every question: its text, its price, and the analyst.
type Request struct {
	SQL     string
	Epsilon string // the price, a decimal; "" is the policy's default. Under a zCDP budget ε costs ρ = ε²/2
	Rho     string // the price in ρ, under a zCDP budget; at most one of both
	Analyst string // who asks: recorded, and held to the limit that the policy sets them, if any
	Fresh   bool   // pay again and draw new noise, though the question was answered before
}

// Question is the request as a question without further options.
func (r Request) Question() Question {
	return Question{SQL: r.SQL, Epsilon: r.Epsilon, Rho: r.Rho, Analyst: r.Analyst, Fresh: r.Fresh}
}

// asker is who makes a request, in its own words.
func (r Request) asker() release.Asker {
	return release.Asker{Question: r.SQL, Analyst: r.Analyst, Fresh: r.Fresh}
}

// plainly refuses options of a question that only present an answer, where none is presented.
func (q Question) plainly(verb string) error {
	switch {
	case q.Whole:
		return &Error{
			Code:    CodeUsage,
			Message: verb + " presents no answer that could be shown in whole numbers",
			Hint:    "leave Whole out",
		}
	case q.Combine:
		return &Error{
			Code:    CodeUsage,
			Message: verb + " combines no earlier releases",
			Hint:    "leave Combine out, or use Answer",
		}
	}
	return q.withoutGroup(verb)
}

// withoutGroup refuses a group of units, about which Explain alone says something.
func (q Question) withoutGroup(verb string) error {
	if q.Group == 0 {
		return nil
	}
	return &Error{
		Code:    CodeUsage,
		Message: verb + " says nothing of a group of units",
		Hint:    "leave Group out, or use Explain",
	}
}
