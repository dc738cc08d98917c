package query

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// orderedSets are the aggregates that are written with WITHIN GROUP (ORDER BY x).
var orderedSets = map[string]bool{"percentile_cont": true, "percentile_disc": true, "mode": true}

// refuseOrdered refuses an invalid ORDER BY in a call.
func refuseOrdered(f *pg.FuncCall, name string, at Pos) error {
	no := func(message, hint string) error { return &Error{Pos: at, Message: message, Hint: hint} }
	switch {
	case !f.GetAggWithinGroup() && len(f.GetAggOrder()) > 0:
		return no("ORDER BY inside an aggregate is not supported", "leave it out")
	case f.GetAggWithinGroup() && !orderedSets[name]:
		return no("WITHIN GROUP goes with PERCENTILE_CONT, PERCENTILE_DISC and MODE, not with "+strings.ToUpper(name),
			"leave it out")
	case f.GetAggWithinGroup() && len(f.GetAggOrder()) != 1:
		return no("WITHIN GROUP takes one ORDER BY expression", "write WITHIN GROUP (ORDER BY x)")
	}
	return nil
}

// within converts WITHIN GROUP (ORDER BY x). It returns nil if the call has none.
func (l *lowering) within(f *pg.FuncCall, at Pos, depth int) (*Order, error) {
	if !f.GetAggWithinGroup() || len(f.GetAggOrder()) == 0 {
		return nil, nil
	}
	o, err := l.order(f.GetAggOrder()[0], at, depth)
	if err != nil {
		return nil, err
	}
	return &o, nil
}
