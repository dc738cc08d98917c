package query

// countsIf reports whether a function counts the rows for which its argument is true.
func countsIf(name string) bool { return name == "countif" || name == "count_if" }

// conditional returns what a call of IF or COUNTIF means, or the call itself. IF(c, a, b) is CASE WHEN c THEN a ELSE b
// END, and COUNTIF(c) is COUNT(CASE WHEN c THEN 1 END), in which named arguments, FILTER and OVER keep their place.
func conditional(x *Call) Expr {
	plain := !x.Star && !x.Distinct && x.Within == nil
	switch {
	case !plain:
	case (x.Name == "if" || x.Name == "iif") && len(x.Args) == 3 && len(x.Named) == 0 && x.Filter == nil && x.Over == nil:
		return &Case{At: x.At, Whens: []When{{Cond: x.Args[0], Result: x.Args[1]}}, Else: x.Args[2]}
	case countsIf(x.Name) && len(x.Args) == 1:
		one := &Literal{At: x.At, Kind: IntegerLiteral, Text: "1"}
		out := *x
		out.Name, out.Args = "count", []Expr{&Case{At: x.At, Whens: []When{{Cond: x.Args[0], Result: one}}}}
		return &out
	}
	return x
}
