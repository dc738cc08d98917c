package bind

import (
	"time"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// begun returns the unit and the date of make_date(EXTRACT(year FROM d), EXTRACT(month FROM d), 1), which is the first day of
// the unit; "" for any other call.
func begun(x *query.Call) (unit string, of query.Expr) {
	coarser := map[string]string{"year": "", "month": "year", "day": "month"}
	for i, field := range []string{"year", "month", "day"} {
		a := x.Args[i]
		if c, ok := a.(*query.Cast); ok && c.Type == "integer" {
			a = c.X
		}
		if n, ok := integerOf(a); ok && n == 1 && i > 0 {
			continue
		}
		c, ok := a.(*query.Call)
		if !ok || c.Name != "extract" && c.Name != "date_part" || len(c.Args) != 2 || c.Over != nil || c.Filter != nil {
			return "", nil
		}
		name, ok := c.Args[0].(*query.Literal)
		if !ok || value.Unit(name.Text) != field || of != nil && query.Print(of) != query.Print(c.Args[1]) || unit != coarser[field] {
			return "", nil
		}
		unit, of = field, c.Args[1]
	}
	return unit, of
}

// makeDate builds make_date(year, month, day) of constants, of the parts of one date, and of whole numbers whose ranges
// leave only days that exist. PostgreSQL fails at any other day, and a failure would reveal a row.
//
// Claim: with the year y and the month m of a calendar that begins in March, counted from 0, the date is
// 365y + y/4 − y/100 + y/400 + (153m + 2)/5 + day − 1 days after 0000-03-01, which is 719468 days before 1970-01-01.
// Proof: y/4 − y/100 + y/400 leap days precede the year y, because a leap day is the last day of its year. The months
// from March on have 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31 days, and (153m + 2)/5 is the sum of the first m of them.
// No number is negative, so quotients and remainders are the same in every engine.
func (l *Scope) makeDate(x *query.Call) (*bounded.Expr, error) {
	if err := takes(x, 3); err != nil {
		return nil, err
	}
	if unit, of := begun(x); unit != "" {
		word := &query.Literal{At: x.At, Kind: query.StringLiteral, Text: unit}
		return l.Row(&query.Cast{At: x.At, X: &query.Call{At: x.At, Name: "date_trunc", Args: []query.Expr{word, of}}, Type: "date"})
	}
	args, err := l.rows(x.Args)
	if err != nil {
		return nil, err
	}
	for _, a := range args {
		if IsUntypedNull(a) || a.Type != value.Integer {
			return nil, Refuse(x.At, "write CAST(x AS integer)", "make_date takes whole numbers, and this is of type %s", a.Type)
		}
	}
	year, month, day := args[0], args[1], args[2]
	if !exists(year.Range, month.Range, day.Range) {
		if year.Op == bounded.OpConst && month.Op == bounded.OpConst && day.Op == bounded.OpConst {
			return nil, Refuse(x.At, "write DATE '2026-01-31'", "there is no such day")
		}
		of := written(x.Args[0])
		return nil, Refuse(x.At, "bound it, as in make_date(LEAST(GREATEST("+of+", 1900), 2100), 1, 1); an age in years is "+
			"EXTRACT(year FROM CURRENT_DATE) - "+of, "make_date could make a day that does not exist")
	}
	b := builder{at: x.At}
	sum := func(x, y *bounded.Expr) *bounded.Expr { return b.compute(bounded.OpAdd, x, y) }
	with := func(op bounded.Op, x *bounded.Expr, n int64) *bounded.Expr {
		return b.compute(op, x, Constant(value.OfInt(n)))
	}
	fromMarch := with(bounded.OpAdd, month, 9)
	y := with(bounded.OpSub, sum(year, with(bounded.OpQuo, fromMarch, 12)), 1)
	m := with(bounded.OpMod, fromMarch, 12)
	days := sum(with(bounded.OpMul, y, 365), with(bounded.OpQuo, y, 4))
	days = sum(b.compute(bounded.OpSub, days, with(bounded.OpQuo, y, 100)), with(bounded.OpQuo, y, 400))
	days = sum(days, with(bounded.OpQuo, with(bounded.OpAdd, with(bounded.OpMul, m, 153), 2), 5))
	days = with(bounded.OpSub, sum(days, day), 719469)
	if b.err != nil {
		return nil, b.err
	}
	// the date grows with the year, and within a year with the month, and within a month with the day
	days.Range = bounded.Range{
		IntLo: dayOfDate(year.Range.IntLo, month.Range.IntLo, day.Range.IntLo),
		IntHi: dayOfDate(year.Range.IntHi, month.Range.IntHi, day.Range.IntHi),
	}
	return moved(Constant(value.OfDay(0)), days, x.At)
}

// exists reports whether every day of these ranges exists, in each year.
func exists(year, month, day bounded.Range) bool {
	if year.IntLo < 1 || year.IntHi > 9999 || month.IntLo < 1 || month.IntHi > 12 || day.IntLo < 1 {
		return false
	}
	of := year.IntLo
	if of < year.IntHi {
		of = 2001 // no leap year
	}
	for m := month.IntLo; m <= month.IntHi; m++ {
		if day.IntHi > dayOfDate(of, m+1, 1)-dayOfDate(of, m, 1) {
			return false
		}
	}
	return true
}

// dayOfDate returns a date as days from 1970-01-01.
func dayOfDate(year, month, day int64) int64 {
	return time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC).Unix() / 86400
}
