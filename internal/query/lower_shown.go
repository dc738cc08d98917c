package query

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// dayOfWeek converts EXTRACT(DAYOFWEEK FROM t) of a question with GoogleSQL's clause, which counts from 1 for Sunday.
// Other databases count from 0, so it returns nil for other questions.
func (l *lowering) dayOfWeek(x *Call) Expr {
	if !l.google || x.Name != "extract" || len(x.Args) != 2 {
		return nil
	}
	if field, ok := x.Args[0].(*Literal); !ok || field.Kind != StringLiteral || !strings.EqualFold(field.Text, "dayofweek") {
		return nil
	}
	return &Binary{At: x.At, Op: Add, L: part(x.At, "dow", x.Args[1]), R: whole(x.At, "1")}
}

// shownAs converts FORMAT('%s: %s', a, b) to CONCAT(a, ': ', b): %s shows its argument as a text, and NULL as no text.
// It returns nil for any other call.
func shownAs(x *Call) (Expr, error) {
	if x.Name != "format" || len(x.Args) == 0 || x.Over != nil || x.Filter != nil || x.Within != nil || len(x.Named) > 0 || x.Distinct {
		return nil, nil
	}
	no := &Error{
		Pos: x.At, Message: "FORMAT takes a constant text with %s for each further argument, and %% for a percent sign",
		Hint: "show a number as %s, after ROUND(x, 2) or to_char(x, 'FM999,990.00')",
	}
	pattern, ok := x.Args[0].(*Literal)
	if !ok || pattern.Kind != StringLiteral { // FORMAT(day, 'dd.MM.yyyy') of other databases, whose refusal package bind words
		return nil, nil
	}
	out, args := &Call{At: x.At, Name: "concat"}, x.Args[1:]
	text := func(s string) {
		if s != "" {
			out.Args = append(out.Args, &Literal{At: pattern.At, Kind: StringLiteral, Text: s})
		}
	}
	plain := ""
	for rest := pattern.Text; ; {
		before, after, more := strings.Cut(rest, "%")
		plain += before
		if !more {
			break
		}
		switch {
		case strings.HasPrefix(after, "%"):
			plain += "%"
		case strings.HasPrefix(after, "s") && len(args) > 0:
			text(plain)
			plain = ""
			out.Args, args = append(out.Args, args[0]), args[1:]
		default:
			return nil, no
		}
		rest = after[1:]
	}
	text(plain)
	if len(args) > 0 || len(out.Args) == 0 {
		return nil, no
	}
	return out, nil
}

// maxRanks is the largest number of quantiles in an array.
const maxRanks = 100

// ranks returns the elements of the array of PERCENTILE_CONT(ARRAY[0.25, 0.5]), or nil for any other expression.
func ranks(n *pg.Node) []*pg.Node {
	f := n.GetFuncCall()
	names := f.GetFuncname()
	if len(names) == 0 || !f.GetAggWithinGroup() || len(f.GetArgs()) != 1 {
		return nil
	}
	if name := names[len(names)-1].GetString_().GetSval(); name != "percentile_cont" && name != "percentile_disc" {
		return nil
	}
	array := f.GetArgs()[0]
	if c := array.GetTypeCast(); c != nil && len(c.GetTypeName().GetArrayBounds()) == 1 {
		array = c.GetArg()
	}
	return array.GetAArrayExpr().GetElements()
}

// ofRank returns the call of ranks with one rank in the place of the array.
func ofRank(n, rank *pg.Node) *pg.Node {
	f := n.GetFuncCall()
	one := &pg.FuncCall{
		Funcname: f.GetFuncname(), Args: []*pg.Node{rank}, AggOrder: f.GetAggOrder(), AggFilter: f.GetAggFilter(),
		Over: f.GetOver(), AggWithinGroup: true, AggDistinct: f.GetAggDistinct(), AggStar: f.GetAggStar(),
		FuncVariadic: f.GetFuncVariadic(), Funcformat: f.GetFuncformat(), Location: f.GetLocation(),
	}
	return &pg.Node{Node: &pg.Node_FuncCall{FuncCall: one}}
}

// spread returns the items of a SELECT list, in which an array of quantiles is one item for each. Their names are that
// of the array with a number, from 1. moved[i] is how many places the i-th item, from 0, has moved; it is nil if there
// is no array.
func spread(targets []*pg.Node) (out []*pg.Node, moved []int) {
	any := false
	for _, n := range targets {
		t := n.GetResTarget()
		moved = append(moved, len(out)-len(moved))
		list := ranks(t.GetVal())
		if len(list) == 0 || len(list) > maxRanks {
			out = append(out, n)
			continue
		}
		any = true
		name := t.GetName()
		if name == "" {
			names := t.GetVal().GetFuncCall().GetFuncname()
			name = names[len(names)-1].GetString_().GetSval()
		}
		for i, rank := range list {
			one := &pg.ResTarget{
				Name: name + "_" + strconv.Itoa(i+1), Val: ofRank(t.GetVal(), rank), Location: t.GetLocation(),
				Indirection: t.GetIndirection(),
			}
			out = append(out, &pg.Node{Node: &pg.Node_ResTarget{ResTarget: one}})
		}
	}
	if !any {
		return targets, nil
	}
	return out, moved
}

// atPlace returns the number of a place of a SELECT list, as in GROUP BY 2, after spread has moved the items.
func atPlace(e Expr, moved []int) Expr {
	x, ok := e.(*Literal)
	if !ok || x.Kind != IntegerLiteral || moved == nil {
		return e
	}
	n, err := strconv.Atoi(x.Text)
	if err != nil || n < 1 || n > len(moved) {
		return e
	}
	return whole(x.At, strconv.Itoa(n+moved[n-1]))
}

// element converts the element of an array of quantiles: (PERCENTILE_CONT(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY
// x))[2]. It returns nil for any other subscript.
func (l *lowering) element(x *pg.A_Indirection, at Pos, depth int) (Expr, error) {
	list := ranks(x.GetArg())
	if len(list) == 0 || len(x.GetIndirection()) != 1 {
		return nil, nil
	}
	index := x.GetIndirection()[0].GetAIndices()
	n := index.GetUidx().GetAConst().GetIval().GetIval()
	if index.GetIsSlice() || n < 1 || int(n) > len(list) {
		return nil, nil
	}
	return l.expr(ofRank(x.GetArg(), list[n-1]), at, depth)
}
