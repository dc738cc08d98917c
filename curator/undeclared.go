package curator

import (
	"context"
	"os"
	"path/filepath"

	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/release"
	"dither/privacy"
)

// Undeclared asks questions as if the policy declared no bounds on columns, and as if all sealed rows of a unit could
// count. It is for the owner, who wants to know what the declared bounds cut. Columns without bounds can be compared,
// so histograms over given edges are possible, and sums need bounds of their own.
//
// Its answers are as private as any other: the promise binds the units, the neighbours and the budget, and declared
// bounds only decide how much noise a question needs. They are charged to the same budget, and recorded in the same
// ledger. An answer is replayed after the declared bounds have changed, because it does not depend on them. No other
// question follows from it.
type Undeclared struct{ session *Session }

// Undeclared returns the questions without declared bounds.
func (c *Owner) Undeclared() Undeclared { return Undeclared{c.session} }

// Released reports whether the question was answered before, so that asking it is free.
func (u Undeclared) Released(q Question) (bool, error) {
	a, err := u.ask(&q)
	if err != nil {
		return false, err
	}
	replayed, err := u.session.replays(a)
	if err != nil {
		return false, u.session.public(err)
	}
	return replayed, nil
}

// Answer answers the question, or replays its release. Errors are *Error.
func (u Undeclared) Answer(ctx context.Context, q Question) (*Release, error) {
	ctx = u.session.kernel.Arrives(ctx)
	a, err := u.ask(&q)
	if err != nil {
		return nil, err
	}
	s, err := u.session.measured(ctx, a)
	if err != nil {
		return nil, err
	}
	return u.session.release(a, s)
}

// Most returns the greatest price that the policy allows for one question.
func (u Undeclared) Most() Loss { return u.session.loss(u.session.policy.Price.Maximum) }

// Loss returns a price in ρ, with the ε that it implies, in the terms of the policy's budget.
func (u Undeclared) Loss(rho string) Loss {
	r, err := privacy.ParseRho(rho)
	if err != nil {
		return Loss{Rho: rho}
	}
	return u.session.loss(privacy.ZCDPLoss(r, privacy.Delta{}))
}

// ask plans a question. Errors are *Error.
func (u Undeclared) ask(q *Question) (*asked, error) {
	c := u.session
	err := c.asks(&q.Analyst)
	if err == nil {
		err = q.plainly("Undeclared")
	}
	if err != nil {
		return nil, err
	}
	a, err := c.askUnder(c.filled().Undeclared(), *q, func(*plan.Plan, plan.Request) release.Recalled {
		return release.Recalled{}
	})
	if err == nil {
		err = c.sensible(a)
	}
	if err != nil {
		return nil, c.public(err)
	}
	return a, nil
}

// Redeclared are new declarations of one table that its owner may change freely. A number that is 0 stays as it is.
type Redeclared struct {
	Table                  string
	RowsPerUnit, MaxGroups int64
	Bounds                 map[string][2]string // by column
}

// PolicyLine is a line of a policy that changes, with its number in the present text.
type PolicyLine struct {
	Number int      `json:"line"`
	Old    string   `json:"old"`
	New    []string `json:"new"`
}

// PolicyWith returns the text of the policy with other declarations, and the lines that change. Nothing else in the
// text changes, and the policy file stays as it is.
func (c *Owner) PolicyWith(changes []Redeclared) (string, []PolicyLine, error) {
	text, err := os.ReadFile(filepath.Join(c.home, policy.FileName))
	if err != nil {
		return "", nil, homeError(err)
	}
	var all []policy.Redeclared
	for _, r := range changes {
		all = append(all, policy.Redeclared(r))
	}
	out, changed, err := policy.Redeclare(text, c.home, all)
	if err != nil {
		return "", nil, &Error{
			Code: CodePolicy, Message: "the policy cannot be edited: " + err.Error(), Hint: "write the declarations yourself", cause: err,
		}
	}
	var lines []PolicyLine
	for _, l := range changed {
		lines = append(lines, PolicyLine(l))
	}
	return string(out), lines, nil
}

// YAML returns a text as a policy writes it, in quotes if needed.
func YAML(text string) string { return policy.Scalar(text) }
