package curator

import "dither/internal/release"

// Request holds the fields that all kinds of questions share.
type Request struct {
	SQL     string
	Epsilon string // the price, a decimal; "" is the policy's default. Under a zCDP budget, ε costs ρ = ε²/2
	Rho     string // the price in ρ, under a zCDP budget. At most one of Epsilon and Rho is set
	// the analyst who asks. The ledger records the name, and the policy may limit what this analyst spends
	Analyst string
	Fresh   bool // pay again and draw new noise, even if the question was answered before

	step bool // a step of rounds: the policy's minimum price is that of the rounds
}

// Question returns a [Question] with the request's fields and no further options.
func (r Request) Question() Question {
	return Question{SQL: r.SQL, Epsilon: r.Epsilon, Rho: r.Rho, Analyst: r.Analyst, Fresh: r.Fresh, step: r.step}
}

// asker returns the request's text, analyst and Fresh option as the kernel takes them.
func (r Request) asker() release.Asker {
	return release.Asker{Question: r.SQL, Analyst: r.Analyst, Fresh: r.Fresh}
}

// plainly refuses the options of a question that only change how an answer is presented. It is for operations that
// present no answer.
func (q Question) plainly(verb string) error {
	switch {
	case q.Whole:
		return &Error{
			Code:    CodeUsage,
			Message: verb + " does not support rounding to whole numbers",
			Hint:    "leave Whole out",
		}
	case q.Combine:
		return &Error{
			Code:    CodeUsage,
			Message: verb + " does not combine earlier releases",
			Hint:    "leave Combine out, or use Answer",
		}
	}
	return q.withoutGroup(verb)
}

// withoutGroup refuses the option Group, which only Explain supports.
func (q Question) withoutGroup(verb string) error {
	if q.Group == 0 {
		return nil
	}
	return &Error{
		Code:    CodeUsage,
		Message: verb + " does not state the loss of a group of units",
		Hint:    "leave Group out, or use Explain",
	}
}
