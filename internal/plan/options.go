package plan

import (
	"math/big"
	"slices"
	"strings"

	"dither/internal/bind"
	"dither/internal/exact"
	"dither/internal/nearest"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/privacy"
)

// optionNames are the options of GoogleSQL's clause WITH DIFFERENTIAL_PRIVACY, and oldOptionNames those of its
// older form WITH ANONYMIZATION.
var (
	optionNames = []string{
		"epsilon",
		"delta",
		"max_groups_contributed",
		"max_rows_contributed",
		"max_rows_quantile",
		"privacy_unit_column",
		"group_selection_strategy",
		"group_selection_epsilon",
		"min_privacy_units_per_group",
		"target_relative_error",
	}
	oldOptionNames = []string{"epsilon", "delta", "kappa", "k_threshold", "privacy_unit_column", "max_groups_contributed"}
)

// optioned returns the request with the options of GoogleSQL's clause. An option has its meaning there, and can
// only narrow what the policy allows. The unit is the table's own, and the price must be within the policy's
// limits.
func optioned(p *policy.Policy, t *policy.Table, tree *query.Select, r Request) (Request, error) {
	if tree.Options == nil {
		return r, nil
	}
	names := optionNames
	if tree.Options.Anonymize {
		names = oldOptionNames
	}
	given := map[string]query.Option{}
	for _, o := range tree.Options.List {
		if !slices.Contains(names, o.Name) {
			hint := "there is " + strings.Join(names, ", ")
			if best := nearest.Name(o.Name, names); best != "" {
				hint = "did you mean " + best + "?"
			}
			return r, bind.Refuse(o.At, hint, "there is no option %s", query.QuoteName(o.Name))
		}
		if _, twice := given[o.Name]; twice {
			return r, bind.Refuse(o.At, "leave one out", "the option %s is given twice", o.Name)
		}
		given[o.Name] = o
	}
	if o, ok := given["max_groups_contributed"]; ok && isNull(o.Value) && given["max_rows_contributed"].Value != nil {
		delete(given, "max_groups_contributed") // the bound on rows is all there is
	}
	for _, name := range names { // this order does not depend on the question's
		o, ok := given[name]
		if !ok {
			continue
		}
		if err := r.option(p, t, o); err != nil {
			return r, err
		}
	}
	return r, together(given)
}

// together refuses options that exclude each other.
func together(given map[string]query.Option) error {
	for _, two := range [][2]string{
		{"max_groups_contributed", "max_rows_contributed"}, {"max_groups_contributed", "kappa"}, {"epsilon", "target_relative_error"},
	} {
		_, first := given[two[0]]
		if o, second := given[two[1]]; first && second {
			return bind.Refuse(o.At, "leave one out", "%s and %s exclude each other", two[0], two[1])
		}
	}
	return nil
}

// option applies one option to the request.
func (r *Request) option(p *policy.Policy, t *policy.Table, o query.Option) (err error) {
	switch o.Name {
	case "epsilon":
		return r.epsilon(p, o)
	case "delta":
		return r.delta(o)
	case "max_groups_contributed", "kappa":
		return r.groups(t, o)
	case "max_rows_contributed":
		return r.rowsOption(o)
	case "max_rows_quantile":
		return r.rowsQuantile(o)
	case "privacy_unit_column":
		return unitOption(t, o)
	case "group_selection_strategy":
		r.GroupSelection, err = bind.StrategyOption(o)
	case "min_privacy_units_per_group":
		return r.leastUnits(o)
	case "target_relative_error":
		r.TargetError, err = targetOption(o)
	case "group_selection_epsilon":
		return bind.Refuse(
			o.At,
			"leave it out: the price is divided equally, and weight => 2 gives an aggregate more of it",
			"the share of the price for selecting groups cannot be set",
		)
	case "k_threshold":
		return bind.Refuse(o.At, "write delta=1e-6 for it", "a threshold cannot be set as a number: it follows from delta")
	}
	return err
}

// epsilon reads the price, like the flag --epsilon.
func (r *Request) epsilon(p *policy.Policy, o query.Option) error {
	e, err := epsilonOf(p, o.Value)
	if err != nil {
		return err
	}
	price := p.Budget.Price(e)
	if !r.Price.IsZero() && (!price.Within(r.Price) || !r.Price.Within(price)) {
		return bind.Refuse(o.At, "leave one out", "the epsilon in OPTIONS differs from the price given beside the question")
	}
	r.Price = price
	return nil
}

// delta reads the δ of the selection of groups, like the flag --delta.
func (r *Request) delta(o query.Option) error {
	d, err := deltaOption(o)
	if err != nil {
		return err
	}
	if !r.Unknown.Delta.IsZero() && d.Cmp(r.Unknown.Delta) != 0 {
		return bind.Refuse(o.At, "leave one out", "the delta in OPTIONS differs from the one given beside the question")
	}
	r.Unknown.Delta = d
	return nil
}

// leastUnits reads the least number of units of a group, like the flag --min-units.
func (r *Request) leastUnits(o query.Option) error {
	n, err := countOption(o)
	if err != nil {
		return err
	}
	if r.Unknown.MinUnits > 0 && r.Unknown.MinUnits != n {
		return bind.Refuse(o.At, "leave one out", "the question's %s differs from --min-units", o.Name)
	}
	r.Unknown.MinUnits = n
	return nil
}

// epsilonOf reads an ε: a number above 0 and at most privacy.MaxEpsilon.
func epsilonOf(p *policy.Policy, x query.Expr) (privacy.Epsilon, error) {
	n := bind.NumberOption(x)
	if _, computed := x.(*query.Binary); n == nil && computed {
		return privacy.Epsilon{}, bind.Refuse(x.Pos(), "write the decimal itself, such as 0.33",
			"an epsilon is exact, and this value is no finite decimal")
	}
	if n == nil || n.Sign() <= 0 {
		return privacy.Epsilon{}, bind.Refuse(
			x.Pos(),
			"write a number, such as 0.5",
			"an epsilon is a number above 0",
		)
	}
	if n.Cmp(big.NewRat(privacy.MaxEpsilon, 1)) > 0 {
		return privacy.Epsilon{}, bind.Refuse(
			x.Pos(),
			"the policy's maximum for one question is "+p.Price.Maximum.Price().String(),
			"an epsilon above %d is not supported: the answer would have almost no noise",
			privacy.MaxEpsilon,
		)
	}
	return privacy.EpsilonOf(n)
}

func deltaOption(o query.Option) (privacy.Delta, error) {
	n := bind.NumberOption(o.Value)
	if n == nil || n.Sign() < 0 || n.Cmp(big.NewRat(1, 1)) > 0 {
		return privacy.Delta{}, bind.Refuse(o.Value.Pos(), "write delta=1e-6", "a delta is a number from 0 to 1")
	}
	if n.Sign() == 0 {
		return privacy.Delta{}, nil
	}
	d, err := privacy.ParseDelta(exact.FormatRat(n))
	if err != nil {
		return d, bind.Refuse(
			o.Value.Pos(),
			"write delta=1e-6",
			"a delta is a number from 0 to 1, and must be below 1",
		)
	}
	return d, nil
}

// countOption reads a whole number of at least 1.
func countOption(o query.Option) (int64, error) {
	n := bind.NumberOption(o.Value)
	if n == nil || !n.IsInt() || n.Sign() <= 0 || n.Cmp(big.NewRat(policy.MaxRowsPerUnit, 1)) > 0 {
		return 0, bind.Refuse(
			o.Value.Pos(),
			"write "+o.Name+"=2",
			"%s is a whole number from 1 to %d",
			o.Name,
			policy.MaxRowsPerUnit,
		)
	}
	return n.Num().Int64(), nil
}

// groups reads max_groups_contributed. NULL means no bound on groups, so the unit is bounded by rows, to the number
// that the policy allows, or to max_rows_contributed. If each row is a unit and one row counts, that row is in one
// group, and the number has no effect.
func (r *Request) groups(t *policy.Table, o query.Option) error {
	if isNull(o.Value) {
		if t.Unit.IsRow() || r.AutoRows || r.MaxRows > 0 {
			return nil
		}
		if r.MaxGroups > 0 {
			return bind.Refuse(o.At, "leave one out", "the question's %s differs from --max-groups", o.Name)
		}
		r.MaxRows = t.Unit.RowsPerUnit
		return nil
	}
	n, err := countOption(o)
	if err != nil {
		return err
	}
	if r.MaxGroups > 0 && r.MaxGroups != n {
		return bind.Refuse(o.At, "leave one out", "the question's %s differs from --max-groups", o.Name)
	}
	if !t.Unit.IsRow() || t.Unit.RowsPerUnit > 1 {
		r.MaxGroups = n
	}
	return nil
}

func isNull(x query.Expr) bool {
	c, ok := x.(*query.Literal)
	return ok && c.Kind == query.NullLiteral
}

// unitOption checks that the option privacy_unit_column names the table's unit column.
func unitOption(t *policy.Table, o query.Option) error {
	c, ok := o.Value.(*query.Column)
	switch {
	case !ok:
		return bind.Refuse(o.Value.Pos(), "leave it out", "privacy_unit_column is a column's name")
	case t.Unit.IsRow():
		return bind.Refuse(
			o.Value.Pos(),
			"leave it out",
			"in table %q each row is one unit, as its owner declares; a question cannot change that",
			t.Name,
		)
	case c.Name != t.Unit.Column:
		return bind.Refuse(
			o.Value.Pos(),
			"write "+query.QuoteName(t.Unit.Column)+", or leave it out",
			"the unit of table %q is %q, as its owner declares; a question cannot change that",
			t.Name,
			t.Unit.Column,
		)
	}
	return nil
}

func targetOption(o query.Option) (*big.Rat, error) {
	n := bind.NumberOption(o.Value)
	if n == nil || n.Sign() <= 0 || n.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, bind.Refuse(
			o.Value.Pos(),
			"write target_relative_error=0.05 for 5%",
			"a relative error is a number above 0 and at most 1",
		)
	}
	return n, nil
}
