package bind

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// MapText marks, in the Text of a CASE, that its conditions list all known values of one expression. So ELSE is reached
// only if that expression is NULL. Such a CASE is a function of the expression, written out value by value.
const MapText = "map"

// pointwise builds functions that no engine computes, over expressions with known values. It computes the function here
// for each combination of values, and writes a CASE that has the results.
//
// Claim: the CASE has the value of the function in every row. Proof, by induction on the arguments that are no
// constants. Without any, the value is computed here. Otherwise let e be the first. If e is a CASE, it has one of its
// results, and the CASE that is built has the function's value for that result under the same conditions. COALESCE is
// the CASE of its first argument that is not NULL. Any other e is NULL or has one of its known values, which
// engines compute to the last bit (Scope.Known). The branch of that value has the function's value, and ELSE has its
// value for NULL. ∎
type pointwise struct {
	*Scope
	result value.Type
	of     func([]value.Value) (value.Value, bool)

	at query.Pos
	// the refusal of a value that the function does not have
	none func([]value.Value) error
	// the refusal of an argument without known values
	unknown func(*bounded.Expr) error
	work    func([]value.Value) int // how much computing a value takes, in units of text.Work; nil stands for 1
	size    int                     // the number of constants written; a long text counts as several
}

// maxComputed bounds the work of computing functions of known values for one question, in units of text.Work. It takes
// less than a second.
const maxComputed = 100_000

// build returns the expression of the function over these arguments.
func (p *pointwise) build(args []*bounded.Expr) (*bounded.Expr, error) {
	at := slices.IndexFunc(args, func(a *bounded.Expr) bool { return a.Op != bounded.OpConst })
	if at < 0 {
		return p.constant(args)
	}
	with := func(e *bounded.Expr) (*bounded.Expr, error) {
		out := slices.Clone(args)
		out[at] = e
		return p.build(out)
	}
	e := args[at]
	switch e.Op {
	case bounded.OpCase:
		return p.choice(e, with)
	case bounded.OpCoalesce:
		return p.choice(firstOf(e), with)
	}
	values, ok := p.Known(e)
	if !ok {
		return nil, p.unknown(e)
	}
	return p.mapped(e, values, with)
}

func (p *pointwise) constant(args []*bounded.Expr) (*bounded.Expr, error) {
	values := make([]value.Value, len(args))
	for i, a := range args {
		values[i] = a.Const
	}
	if p.size++; p.size > bounded.MaxWeight/4 {
		return nil, Refuse(p.at, "group by the columns themselves, or narrow them with CASE",
			"this function of columns has too many possible values")
	}
	if !p.affords(values) {
		return nil, Refuse(p.at, "use fewer functions of texts, or shorter texts and patterns",
			"the functions of texts in this question take too long to compute")
	}
	v, ok := p.of(values)
	if !ok {
		return nil, p.none(values)
	}
	p.size += len(v.Text) / 64
	return Constant(v), nil
}

// affords adds the work of one value to the question's, and reports whether the sum is within maxComputed.
func (p *pointwise) affords(values []value.Value) bool {
	if p.computed == nil {
		p.computed = new(int)
	}
	work := 1
	if p.work != nil {
		work = p.work(values)
	}
	*p.computed += work
	return *p.computed <= maxComputed
}

// choice builds the function of a CASE: the CASE of the function of its results.
func (p *pointwise) choice(e *bounded.Expr, with func(*bounded.Expr) (*bounded.Expr, error)) (*bounded.Expr, error) {
	var conditions, results []*bounded.Expr
	for i, a := range e.Args {
		if i%2 == 0 && i+1 < len(e.Args) {
			conditions = append(conditions, a)
			continue
		}
		r, err := with(a)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return p.chosen(conditions, results, e.Text)
}

func (p *pointwise) chosen(conditions, results []*bounded.Expr, text string) (*bounded.Expr, error) {
	out, err := Choose(conditions, results, p.at)
	if err != nil {
		return nil, err
	}
	out.Text = text
	return out, nil
}

// firstOf returns the CASE that has the same value as a COALESCE.
func firstOf(e *bounded.Expr) *bounded.Expr {
	out := &bounded.Expr{Op: bounded.OpCase}
	for i, a := range e.Args {
		if i+1 < len(e.Args) {
			null := &bounded.Expr{Op: bounded.OpNil, Type: value.Boolean, Args: []*bounded.Expr{a}}
			out.Args = append(out.Args, Logical(bounded.OpNot, null))
		}
		out.Args = append(out.Args, a)
	}
	return out
}

// mapped builds the function of e, given its known values. Values with the same result share a branch.
func (p *pointwise) mapped(
	e *bounded.Expr, values []value.Value, with func(*bounded.Expr) (*bounded.Expr, error),
) (*bounded.Expr, error) {
	otherwise := Constant(value.NullOf(p.result))
	if p.mayBeNull(e) { // otherwise a row in which cleaning made e NULL belongs to no group
		var err error
		if otherwise, err = with(Constant(value.NullOf(e.Type))); err != nil {
			return nil, err
		}
	}
	var results []*bounded.Expr
	var lists [][]*bounded.Expr
	places := map[string]int{} // of the results that are texts, which may be long and many
	for _, v := range values {
		r, err := with(Constant(v))
		if err != nil {
			return nil, err
		}
		isText := r.Op == bounded.OpConst && r.Type == value.Text && !r.Const.Null && r.Text == ""
		var i int
		var seen bool
		if isText {
			i, seen = places[r.Const.Text]
		} else {
			i = slices.IndexFunc(results, r.Same)
			seen = i >= 0
		}
		if !seen || e.Type == value.Boolean {
			i = len(results)
			results, lists = append(results, r), append(lists, nil)
			if isText {
				places[r.Const.Text] = i
			}
		}
		lists[i] = append(lists[i], Constant(v))
	}
	if len(results) == 0 {
		return otherwise, nil
	}
	conditions := make([]*bounded.Expr, len(lists))
	for i, list := range lists {
		op := bounded.OpIn
		if len(list) == 1 {
			op = bounded.OpEq
		}
		conditions[i] = &bounded.Expr{
			Op: op, Type: value.Boolean, Args: append([]*bounded.Expr{e}, list...), Nullable: e.Nullable,
		}
	}
	return p.chosen(conditions, append(results, otherwise), MapText)
}
