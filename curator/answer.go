package curator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/internal/derive"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/release"
	"dither/internal/reuse"
	"dither/privacy"
)

// Question is an analyst's query, with its price and the options of its answer.
type Question struct {
	SQL     string
	Epsilon string // the price, a decimal; "" is the policy's default. Under a zCDP budget, ε costs ρ = ε²/2
	Rho     string // the price in ρ, under a zCDP budget. At most one of Epsilon and Rho is set
	// the accuracy to pay for, instead of a price: the margin of error of each value, as "5%" of the value or as a
	// number in its unit such as "12"
	Within     string
	At         string // the confidence for Within, such as "95%" or "0.95". It sets Confidence
	Confidence string // the confidence of the intervals, a decimal between 0 and 1; "" is 0.95
	// the number of groups in which one unit counts, if a column identifies units; 0 is the policy's limit
	MaxGroups int64
	// the number of rows that count for one unit, at most the policy's limit; "" is that limit. With "auto", a
	// tenth of the price pays for finding a limit first
	MaxRows string
	// the share of the price that pays for an estimate of what the bounds cut, such as "5%". "" is the policy's share,
	// and "0" is none. An answer with this estimate is another release than one without
	Truncation string
	// with Truncation: estimate also how many rows are left out, counting at most this many rows of each unit; 0 for no
	// such estimate
	TruncationRows int64
	Delta          string // the δ for private key selection, a decimal; "" is the policy's default
	// an unknown key with this many units or fewer is released with probability at most δ. 0 is the policy's
	// number, and no smaller number is allowed
	MinUnits int64
	Other    bool // add one group for all rows whose key was not selected
	// permit a private selection where the question does not ask for one by its keys: among known keys that are too
	// many to be shown, and for a list of unknown values without a price
	AllowSelection bool
	// for Explain only: state what the answer promises to a group of this many units together; 0 for no statement
	Group int64
	// the analyst who asks. The ledger records the name, and the policy may limit what this analyst spends
	Analyst string
	// for Answer and Explain: show counts as non-negative whole numbers that add up over the question's groupings
	Whole bool
	// for Answer and Explain: compute the answer from all earlier releases that determine it, combined, at no cost
	Combine bool
	Fresh   bool // pay again and draw new noise, even if the question was answered before

	measured *query.Select // the question that is measured, if SQL computes with its answer; nil to parse SQL
	step     bool          // a step of rounds
	sums     plan.Sums     // how sums are measured
	apart    bool          // for one of several measured questions
	share    *privacy.Loss // for one of several measured questions: its share of the price; nil for that of the fields above

	variances plan.Variances // how variances are measured
	counts    plan.Counts    // whether counts of all rows are measured
}

// asked is a question that has been planned.
type asked struct {
	Question
	policy  *policy.Policy // the policy that the question was planned under
	plan    *plan.Plan
	query   *release.Query
	look    *release.Look // the query's access to the rows
	alpha   float64       // 1 − confidence, rounded down
	derived *derive.Answer
	priced  string // how the price was found, in words; "" if the question named it
	former  bool   // whether the release is of an earlier version, which drew the intervals of quantiles otherwise
}

// Answer answers a question. It replays or measures what the plan needs, and computes the answer from those
// releases.
//
// Errors are *Error. Refusals depend only on the question, the policy and earlier prices, and come before any row
// is read.
func (c *Session) Answer(ctx context.Context, q Question) (*Release, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	places := c.timed(&q.SQL)
	out, err := c.answer(ctx, q)
	if err != nil {
		return nil, atItsPlace(err, places)
	}
	out.Notes = slices.Concat(out.Notes, c.momentNotes(places))
	return out, nil
}

func (c *Session) answer(ctx context.Context, q Question) (*Release, error) {
	ctx = c.kernel.Arrives(ctx)
	if err := q.withoutGroup("Answer"); err != nil {
		return nil, err
	}
	a, err := c.answerable(q)
	if err != nil {
		if out, found, failed := c.overStreams(ctx, q, err); found {
			return out, failed
		}
		if over := c.over(q, err); len(over) > 0 {
			return c.compute(ctx, q, over, err)
		}
		out, err := c.freely(q, err)
		if err != nil {
			return c.combine(ctx, q, err)
		}
		return out, nil
	}
	if q.Whole {
		a.derived.Whole()
	}
	from, err := c.reused(a)
	if err != nil {
		return nil, c.public(err)
	}
	if from != nil {
		return c.release(a, from)
	}
	s, err := c.measured(ctx, a)
	if err != nil {
		return nil, err
	}
	return c.release(a, s)
}

// answerable plans a question, and returns the refusals that come before any price.
func (c *Session) answerable(q Question) (*asked, error) {
	a, err := c.ask(q)
	if err == nil {
		err = c.sensible(a)
	}
	if err == nil {
		err = c.deliberate(a)
	}
	return a, err
}

// ask plans a question against the sealed version in force.
func (c *Session) ask(q Question) (*asked, error) {
	a, err := c.askUnder(c.filled(), q, recalledAs)
	if err != nil {
		return nil, err
	}
	return c.asReleased(a)
}

// askUnder is ask under a policy that need not be the one in force. as returns the facts by which later questions find
// the answer.
func (c *Session) askUnder(
	filled *policy.Policy, q Question, as func(*plan.Plan, plan.Request) release.Recalled,
) (*asked, error) {
	if err := q.level(); err != nil {
		return nil, err
	}
	alpha, err := parseConfidence(&q.Confidence)
	if err != nil {
		return nil, err
	}
	request, err := c.request(q)
	if err != nil {
		return nil, err
	}
	p, err := plan.Build(filled, request)
	if err != nil {
		again, err := c.withPublicValues(q, err)
		if err != nil {
			return nil, err
		}
		q = again
		request.SQL, request.Tree = q.SQL, q.measured
		if p, err = plan.Build(filled, request); err != nil {
			if refusal := (*plan.Error)(nil); errors.As(err, &refusal) {
				refusal.Pos = query.Pos{} // it would be a place in the text with constants
			}
			return nil, err
		}
	}
	priced, how, err := c.within(q, filled, request, p, alpha)
	if err != nil {
		return nil, err
	}
	p = priced.plan
	derived := priced.derived()
	of, err := c.kernel.Query(
		p,
		release.Asker{Question: q.SQL, Analyst: q.Analyst, Fresh: q.Fresh},
		as(p, request),
		derivable,
	)
	if err != nil {
		return nil, err
	}
	if derived == nil {
		if derived, err = derive.New(p); err != nil {
			return nil, &Error{
				Code:    CodePolicy,
				Message: err.Error(),
				Hint:    "ask for a larger --epsilon, or narrower bounds",
				cause:   err,
			}
		}
	}
	if err := c.valued(derived, p, of); err != nil {
		return nil, err
	}
	return &asked{
		Question: q,
		policy:   filled,
		plan:     p,
		query:    of,
		look:     of.Look(),
		alpha:    alpha,
		derived:  derived,
		priced:   how,
	}, nil
}

// valued refuses a question with a column that has no value whatever is released, unless it has a release already.
func (c *Session) valued(d *derive.Answer, p *plan.Plan, of *release.Query) error {
	i := slices.IndexFunc(p.Outputs, d.Never)
	if i < 0 {
		return nil
	}
	if before, err := c.kernel.ReleasedBefore(of.Look()); before || err != nil {
		return err
	}
	return &Error{
		Code:    CodeSQL,
		Message: fmt.Sprintf("the column %s would have no value, whatever the rows are", SQLName(p.Outputs[i].Name)),
		Hint:    "it divides by a number that is always 0, or takes the root of a number below 0: leave the column out",
	}
}

// recalledAs returns the facts that the ledger records with a release, so that later questions can find it.
func recalledAs(p *plan.Plan, request plan.Request) release.Recalled {
	out := release.Recalled{Subject: func(versions []int) *ledger.Subject {
		about := &ledger.Subject{Question: reuse.MarkAtAnyPrice(p, versions...)}
		about.Measures, about.Conditions = reuse.Marks(p)
		return about
	}}
	if request.MaxRows > 0 || request.MaxGroups > 0 {
		out.Caps = &ledger.Caps{Rows: request.MaxRows, Groups: request.MaxGroups}
	}
	return out
}

// derivable returns an error unless values and intervals can be computed from a plan's releases.
func derivable(p *plan.Plan) error {
	_, err := derive.New(p)
	return err
}

// request translates a question into a request to the planner. It leaves out Within and At, which only ask handles.
func (c *Session) request(q Question) (plan.Request, error) {
	if err := c.permitted(q); err != nil {
		return plan.Request{}, err
	}
	price, err := c.parsePrice(q)
	if err != nil {
		return plan.Request{}, err
	}
	rows, auto, err := parseRows(q.MaxRows)
	if err != nil {
		return plan.Request{}, err
	}
	cut, err := parseTruncation(q.Truncation, q.TruncationRows)
	if err != nil {
		return plan.Request{}, err
	}
	delta, err := parseDelta(q.Delta)
	return plan.Request{
		SQL:        q.SQL,
		Tree:       q.measured,
		Price:      price,
		Step:       q.step,
		Sums:       q.sums,
		Variances:  q.variances,
		Counts:     q.counts,
		MaxGroups:  q.MaxGroups,
		MaxRows:    rows,
		AutoRows:   auto,
		Truncation: cut,
		Unknown:    plan.Unknown{Delta: delta, MinUnits: q.MinUnits, Allow: q.AllowSelection, Other: q.Other},
	}, err
}

// parsePrice returns the price that a question names, or the zero loss if it names none.
func (c *Session) parsePrice(q Question) (privacy.Loss, error) {
	unusable := func(err error, hint string) (privacy.Loss, error) {
		return privacy.Loss{}, &Error{Code: CodeUsage, Message: err.Error(), Hint: hint, cause: err}
	}
	switch {
	case q.share != nil:
		return *q.share, nil
	case q.Group < 0:
		return unusable(errors.New("a group must have at least one unit"), "")
	case q.Epsilon != "" && q.Rho != "":
		return unusable(errors.New("give a price in epsilon or in rho, not in both"), "")
	case q.Epsilon != "":
		e, err := privacy.ParseEpsilon(q.Epsilon)
		if err != nil {
			return unusable(err, "write a price as a decimal, such as 0.1")
		}
		return c.policy.Budget.Price(e), nil
	case q.Rho != "" && c.policy.Budget.Loss.Accountant() == privacy.Pure:
		return unusable(errors.New("the budget is a pure epsilon, so a price in rho is not possible"), "use epsilon")
	case q.Rho != "":
		rho, err := privacy.ParseRho(q.Rho)
		if err != nil {
			return unusable(err, "write a price in rho as a decimal, such as 0.005")
		}
		return privacy.ZCDPLoss(rho, privacy.Delta{}), nil
	}
	return privacy.Loss{}, nil
}

// parseConfidence reads a confidence, or sets it to the default. It returns 1 − confidence rounded down, so that no
// interval has less than the requested confidence.
func parseConfidence(text *string) (float64, error) {
	if *text == "" {
		*text = "0.95"
	}
	r, err := exact.ParseDecimal(*text)
	if err == nil && (r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0) {
		err = errors.New("it must lie between 0 and 1")
	}
	if err != nil {
		return 0, &Error{
			Code:    CodeUsage,
			Message: "invalid confidence: " + err.Error(),
			Hint:    "write the confidence as a decimal, such as 0.95",
			cause:   err,
		}
	}
	*text = exact.FormatRat(r)
	alpha, _ := new(big.Rat).Sub(big.NewRat(1, 1), r).Float64()
	return math.Nextafter(alpha, 0), nil
}
