package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
	"dither/privacy"
)

// Unknown has the request's options for groups that are not known beforehand.
type Unknown struct {
	Delta privacy.Delta // the δ of their selection; zero for the policy's default
	// A group of at most MinUnits units is released with probability at most Delta. 0 means the policy's number,
	// which is also the least possible. The option is refused if the groups are known.
	MinUnits int64
	// Allow permits to select among known groups too, if they are more than an answer may have. Package curator also
	// requires it, or a price, of a question that only lists unknown values.
	Allow bool
	Other bool // adds one group, of all rows whose group is not selected
}

// selects reports whether a request has an option of the selection of unknown groups.
func (r *Request) selects() bool {
	u := r.Unknown
	return !u.Delta.IsZero() || u.MinUnits > 0 || u.Other || r.GroupSelection == bind.LaplaceThreshold
}

// openKey returns the key of a grouping expression. If the values are unknown and the question and the budget admit
// unknown groups, the key is Open.
//
// The values of columns with bounds are declared, but may be too many: hours of three years. The key then has those
// values that WHERE leaves, if they are few enough and the request has no option of the selection.
//
// The groups are then the combinations of values of all keys. Each combination is selected or not as a whole, even
// if some of its keys are known.
func (b *keying) openKey(e *bounded.Expr, at query.Pos) (bounded.Key, error) {
	k, err := b.Key(e, at)
	why := b.OneUnit(b.policy, e)
	if why == bind.IsTheUnit || why != "" && (b.job.keys == keysUnknown || b.job.keys == keysPossible && err != nil) {
		return bounded.Key{}, oneUnit(why, at)
	}
	if b.public != nil && b.public.Values != nil {
		return bounded.Key{Expr: e, Values: b.public.Values}, nil
	}
	if b.job.keys == keysPossible && b.public == nil {
		if k, ok := b.possibleKey(e, at); ok {
			return k, nil
		}
	}
	if err == nil && b.job.keys == keysUnknown && b.public == nil && e.Type != value.Real {
		k, err = bounded.Key{}, b.admits("group by fewer or coarser expressions", at)
		if err != nil {
			return k, err
		}
		return bounded.Key{Expr: e, Open: true, Null: b.NullGroup(e)}, nil
	}
	if err == nil || !b.unknownKeys || e.Type == value.Real {
		return k, err
	}
	if why != "" {
		b.oneUnit = oneUnit(why, at)
	}
	if why == "" && b.Enumerable(e) && b.public == nil && !b.request.selects() {
		if k, ok := b.possibleKey(e, at); ok {
			return k, nil
		}
	}
	if err := b.admits(b.UnknownKeyHint(e), at); err != nil {
		return bounded.Key{}, cmp.Or(b.oneUnit, err)
	}
	return bounded.Key{Expr: e, Open: true, Null: b.NullGroup(e)}, nil
}

// Hints at a subquery that aggregates each unit.
const (
	unitsInside  = "GROUP BY it in a subquery in FROM, and aggregate outside: " + unitsPattern
	unitsPattern = "SELECT AVG(n) FROM (SELECT …, COUNT(*) AS n … GROUP BY …) q"
)

// oneUnit refuses a key each of whose groups belongs to one unit.
func oneUnit(why string, at query.Pos) error {
	e := bind.Refuse(
		at,
		"group by something that many units share; to aggregate each unit first, GROUP BY the unit in a subquery in FROM: "+unitsPattern,
		"each group would hold one unit only, and its numbers would be noise: %s", why,
	)
	if why == bind.IsTheUnit {
		e = bind.Refuse(at, unitsInside, "each group would hold one unit only, and none would ever be released")
	}
	e.Instead = bind.UnitsFirst
	return e
}

// listsUnits refuses the unit's column outside any aggregate.
func listsUnits(x *query.Column) error {
	e := bind.Refuse(x.At, unitsInside, "column %q would list single units", x.Name)
	e.Instead = bind.UnitsFirst
	return e
}

// admits refuses unknown groups under a budget that has no δ for their selection.
func (q *question) admits(hint string, at query.Pos) error {
	p, asked := q.policy, q.request.Unknown
	_, kept := p.Budget.Loss.ZCDP()
	switch {
	case kept.IsZero():
		why := "selecting groups costs a delta, and the budget sets no selection_delta"
		declare := "budget: {epsilon: …, delta: 1e-6, selection_delta: 5e-7}"
		if p.Budget.Loss.Accountant() == privacy.Pure {
			why = "selecting groups costs a delta, and a pure budget has none"
		}
		return bind.Refuse(at, hint+"; or declare a delta for selection: "+declare,
			"the possible values of this GROUP BY expression are not known beforehand; %s", why)
	case asked.MinUnits < 0 || asked.MinUnits > policy.MaxRowsPerUnit:
		return &Error{Message: fmt.Sprintf("the least number of units of a group is between 1 and %d", policy.MaxRowsPerUnit)}
	}
	if _, most := p.Price.Maximum.ZCDP(); asked.Delta.Cmp(most) > 0 {
		return &Error{
			Message: fmt.Sprintf("a delta of %s is above the policy's maximum of %s for one question", asked.Delta, most),
			Hint:    "ask at --delta " + most.String() + " or less",
		}
	}
	return nil
}

// OtherName is the output column that distinguishes the group of all rows that were not selected from a group whose
// keys are NULL.
const OtherName = "other"

// otherColumn adds the column OtherName if the request asks for such a group.
func (b *measuring) otherColumn() error {
	if !b.unknownKeys || !b.request.Unknown.Other {
		return nil
	}
	if !b.open() {
		return &Error{Message: "there is no group of others: all keys are known", Hint: "leave --other out"}
	}
	b.other = true
	name := OtherName
	for i := 2; slices.ContainsFunc(b.outputs, func(o Output) bool { return o.Name == name }); i++ {
		name = OtherName + "_" + strconv.Itoa(i)
	}
	b.outputs = append(b.outputs, Output{Name: name, Key: len(b.keys)})
	return nil
}

// Choose returns the plan with its released groups, in the order of their keys. After their release, groups are
// public.
func (p *Plan) Choose(groups [][]value.Value) *Plan {
	out := *p
	out.Chosen = groups
	return &out
}
