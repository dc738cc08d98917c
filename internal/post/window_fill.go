package post

import (
	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// interpolated checks the type of INTERPOLATE, and makes its result a real number, because it may lie between two
// integers.
func interpolated(x *query.Call, out *node) error {
	if !bind.IsNumber(out.typ) {
		return bind.Refuse(x.At, "use LOCF, which repeats the value before", "INTERPOLATE takes a number")
	}
	out.typ = value.Real
	return nil
}

// filled computes TimescaleDB's LOCF and INTERPOLATE over the buckets of a partition, in order. LOCF puts the last
// value that is not NULL in the place of NULL. INTERPOLATE puts a point of the line between the values before and after
// it, by the number of rows between them. NULLs without such values stay. A value in the place of NULL has no interval.
func (p *partition) filled(e *env) []Cell {
	out := make([]Cell, len(p.rows))
	for i, r := range p.rows {
		out[i] = p.args[0].eval(e, r)
		out[i].Value = typed(out[i].Value, p.typ)
	}
	last := -1 // the last row before i whose value is not NULL
	for i := range out {
		if !p.args[0].eval(e, p.rows[i]).Value.Null {
			if p.name == "interpolate" && last >= 0 {
				from, to := number(out[last].Value), number(out[i].Value)
				for j := last + 1; j < i; j++ {
					at := float64(j-last) / float64(i-last)
					out[j] = Cell{Value: value.OfReal(from*(1-at) + to*at)}
				}
			}
			last = i
			continue
		}
		if p.name == "locf" && last >= 0 {
			out[i] = Cell{Value: out[last].Value}
		}
	}
	return out
}
