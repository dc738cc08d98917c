package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
	"dither/privacy"
)

// Unknown is what a question asks of groups whose keys are not known beforehand.
type Unknown struct {
	Delta    privacy.Delta // of their selection; zero: the policy's default
	MinUnits int64         // a group of so many units or fewer is released with a probability of at most Delta; 0: the policy's, which is the least there can be. Refused where groups are known
	Other    bool          // one group more, of all rows whose group was not selected
}

// opening is what a builder needs to admit open keys.
type opening struct {
	policy *policy.Policy
	asked  Unknown
}

// Open reports that the groups are not known beforehand: some key's values are not.
func (b *Bounded) Open() bool { return slices.ContainsFunc(b.Keys, func(k Key) bool { return k.Open }) }

// openKey finds the known values of a grouping expression, or leaves them open, where the question and the budget admit that.
//
// Groups are then those of all keys together, of which each is selected, or not, as a whole, whichever of its keys are known.
func (b *builder) openKey(e *Expr, at query.Pos) (Key, error) {
	k, err := b.key(e, at)
	if err == nil || b.opens == nil || e.Type == value.Real {
		return k, err
	}
	if e.Op == OpColumn && b.unitStands(e) {
		return Key{}, refuse(at, "GROUP BY it in a subquery in FROM, and aggregate outside: SELECT AVG(n) FROM (SELECT …, COUNT(*) AS n … GROUP BY …) q",
			"each group would be one unit's: none would ever be released")
	}
	if err := b.opens.admits(b.unknownKeyHint(e), at); err != nil {
		return Key{}, err
	}
	if b.plan.Selection == nil {
		b.plan.Selection = &Selection{}
		b.claim(claim{parts: []part{b.plan.Selection}})
	}
	return Key{Expr: e, Open: true, Null: b.nullGroup(e)}, nil
}

// admits refuses open keys under a budget that has no δ for them.
func (o *opening) admits(hint string, at query.Pos) error {
	p := o.policy
	_, kept := p.Budget.Loss.ZCDP()
	switch {
	case kept.IsZero():
		why := "which groups there are can only be told at a delta, and the budget keeps no selection_delta"
		declare := "budget: {epsilon: …, delta: 1e-6, selection_delta: 5e-7}"
		if p.Budget.Loss.Accountant() == privacy.Pure {
			why = "which groups there are can only be told at a delta, which a pure budget has none of"
		}
		return refuse(at, hint+"; or declare a delta for selection: "+declare,
			"the possible values of this GROUP BY expression are not known beforehand; %s", why)
	case o.asked.MinUnits < 0 || o.asked.MinUnits > policy.MaxRowsPerUnit:
		return &Error{Message: fmt.Sprintf("the least number of units of a group is between 1 and %d", policy.MaxRowsPerUnit)}
	}
	if _, most := p.Price.Maximum.ZCDP(); o.asked.Delta.Cmp(most) > 0 {
		return &Error{
			Message: fmt.Sprintf("a delta of %s is above the policy's maximum of %s for one question", o.asked.Delta, most),
			Hint:    "ask at --delta " + most.String() + " or less",
		}
	}
	return nil
}

// OtherName is the column that tells the group of all that was not selected from one whose keys are NULL.
const OtherName = "other"

// otherColumn adds that column.
func (b *builder) otherColumn() error {
	if b.opens == nil || !b.opens.asked.Other {
		return nil
	}
	if b.plan.Selection == nil {
		return &Error{Message: "no group is left over: all are known", Hint: "leave --other out"}
	}
	b.plan.Other = true
	name := OtherName
	for i := 2; slices.ContainsFunc(b.plan.Outputs, func(o Output) bool { return o.Name == name }); i++ {
		name = OtherName + "_" + strconv.Itoa(i)
	}
	b.plan.Outputs = append(b.plan.Outputs, Output{Name: name, Key: len(b.plan.Keys)})
	return nil
}

// chosenCells is how many groups have been released.
func (b *Bounded) chosenCells() int {
	if b.Other {
		return len(b.Chosen) + 1
	}
	return len(b.Chosen)
}

// chosenKeys are the keys of the i-th of them, the last being Other: with it, a boolean more that says whether it is.
func (b *Bounded) chosenKeys(i int) []value.Value {
	if i < len(b.Chosen) {
		if b.Other {
			return append(slices.Clone(b.Chosen[i]), value.OfBool(false))
		}
		return b.Chosen[i]
	}
	out := make([]value.Value, len(b.Keys), len(b.Keys)+1)
	for j, k := range b.Keys {
		out[j] = value.NullOf(k.Expr.Type)
	}
	return append(out, value.OfBool(true))
}

// KeyTypes are the types of CellKeys.
func (b *Bounded) KeyTypes() []value.Type {
	var out []value.Type
	for _, k := range b.Keys {
		out = append(out, k.Expr.Type)
	}
	if b.Other {
		out = append(out, value.Boolean)
	}
	if b.Centred() { // the centre's number
		out = append(out, value.Integer)
	}
	return out
}

// Counting is b with a measure more: how many units count in each group. It is what the groups of open keys are selected by.
func (b *Bounded) Counting() *Bounded {
	out := *b
	out.Measures = append(slices.Clone(b.Measures), &BoundedMeasure{Kind: CountUnits, Hi: 1})
	return &out
}

// Choose is the plan once its groups are released, in the order of their keys: from here on they are public.
func (p *Plan) Choose(groups [][]value.Value) *Plan {
	out := *p
	out.Chosen = groups
	return &out
}

// SortGroups puts groups in the order of their keys.
func SortGroups(groups [][]value.Value) {
	slices.SortFunc(groups, func(x, y []value.Value) int { return slices.CompareFunc(x, y, value.Compare) })
}

// GroupName is a text that tells groups of the same keys apart: different ones have different names.
func GroupName(keys []value.Value) string {
	var b strings.Builder
	for _, v := range keys {
		if v.Null {
			b.WriteString("-")
			continue
		}
		text := keyText(v)
		b.WriteString(strconv.Itoa(len(text)))
		b.WriteString(":")
		b.WriteString(text)
	}
	return b.String()
}

// Group reads a name back.
func (b *Bounded) Group(name string) ([]value.Value, error) {
	unreadable := fmt.Errorf("the name of a group is unreadable")
	out := make([]value.Value, 0, len(b.Keys))
	for _, k := range b.Keys {
		if rest, null := strings.CutPrefix(name, "-"); null {
			out, name = append(out, value.NullOf(k.Expr.Type)), rest
			continue
		}
		size, rest, ok := strings.Cut(name, ":")
		n, err := strconv.Atoi(size)
		if !ok || err != nil || n < 0 || n > len(rest) {
			return nil, unreadable
		}
		v, err := readText(k.Expr.Type, rest[:n])
		if err != nil {
			return nil, unreadable
		}
		out, name = append(out, v), rest[n:]
	}
	if name != "" {
		return nil, unreadable
	}
	return out, nil
}

// keyText is a key in the name of a group, a date by its number; readText reads it back.
func keyText(v value.Value) string {
	if v.Type == value.Date {
		return strconv.FormatInt(v.Int, 10)
	}
	return v.String()
}

func readText(t value.Type, text string) (value.Value, error) {
	if t == value.Date {
		day, err := strconv.ParseInt(text, 10, 64)
		return value.OfDay(day), err
	}
	return ReadKey(t, text)
}

// ReadKey reads a key's text back, whatever a text holds.
func ReadKey(t value.Type, text string) (value.Value, error) {
	if t == value.Text {
		return value.OfText(text), nil
	}
	return value.Parse(t, text)
}
