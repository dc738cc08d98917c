package engine

import (
	"math"
	"testing"

	"dither/internal/bounded"
)

// What was recorded shows that no unit can have too many rows through others only where the product of the bounds does.
func TestOwnedFit(t *testing.T) {
	scan := func(table string) *bounded.Source { return &bounded.Source{Op: bounded.Scan, Table: table} }
	of := func(child, parent *bounded.Source, stored int64) *bounded.Source {
		return &bounded.Source{Op: bounded.Owned, Inputs: []*bounded.Source{child, parent}, Stored: stored}
	}
	known := map[string]Sealed{
		"orders": {MostRows: 2}, "lines": {MostPerKey: 3}, "parts": {MostPerKey: 5}, "many": {MostRows: math.MaxInt64}, "older": {},
	}
	lines := of(scan("lines"), scan("orders"), 6)
	selected := &bounded.Source{Op: bounded.Select, Inputs: []*bounded.Source{scan("orders")}}
	for name, c := range map[string]struct {
		s    *bounded.Source
		want bool
	}{
		"as many as there may be":     {lines, true},
		"one fewer":                   {of(scan("lines"), scan("orders"), 5), false},
		"through two":                 {of(scan("parts"), lines, 30), true},
		"through two, one fewer":      {of(scan("parts"), lines, 29), false},
		"through two, bounded before": {of(scan("parts"), of(scan("lines"), scan("orders"), 4), 20), true},
		"no record of rows":           {of(scan("lines"), scan("older"), math.MaxInt64-1), false},
		"no record of keys":           {of(scan("older"), scan("orders"), math.MaxInt64-1), false},
		"overflow":                    {of(scan("lines"), scan("many"), math.MaxInt64-1), false},
		"no table":                    {of(scan("lines"), selected, 100), false},
		"no table that refers":        {of(selected, scan("orders"), 100), false},
	} {
		if got := OwnedFit(c.s, func(table string) Sealed { return known[table] }); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
