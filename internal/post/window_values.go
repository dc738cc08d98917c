package post

import (
	"dither/internal/query"
	"dither/internal/value"
)

// partition is one partition of a window's rows, in order.
type partition struct {
	*window
	rows  []*row
	peers []int // the first row that is equal in the order
	last  []int // the last row that is equal in the order
	// for an aggregate: what each row adds, and whether FILTER leaves it in
	cells []Cell
	in    []bool
}

// add adds what row i adds.
func (p *partition) add(to accumulator, i int) {
	if p.in[i] {
		to.add(p.cells[i])
	}
}

// values computes the function for each row.
func (p *partition) values(e *env) []Cell {
	n := len(p.rows)
	out := make([]Cell, n)
	switch p.name {
	case "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile":
		dense := int64(0)
		for i := range out {
			if p.peers[i] == i {
				dense++
			}
			out[i] = Exact(p.ranked(i, n, dense))
		}
		return out
	case "locf", "interpolate":
		return p.filled(e)
	case "lag", "lead":
		for i := range out {
			at := i - int(p.offset)
			if p.name == "lead" {
				at = i + int(p.offset)
			}
			switch {
			case at >= 0 && at < n:
				out[i] = p.args[0].eval(e, p.rows[at])
			case len(p.args) > 1:
				out[i] = certain(p.args[1].eval(e, p.rows[i]), p.args[1], p.node)
			default:
				out[i] = Exact(value.NullOf(p.typ))
			}
			out[i].Value = typed(out[i].Value, p.typ)
		}
		return out
	}
	if p.fold != nil {
		p.cells, p.in = make([]Cell, n), make([]bool, n)
		for i, r := range p.rows {
			p.cells[i], p.in[i] = p.fold.cell(e, r)
		}
	}
	if p.fold != nil && p.frame.Start.Kind == query.UnboundedPreceding {
		sum, at := p.fold.start(), 0
		for i := range out {
			if e.ended() {
				return out
			}
			_, hi := p.bounds(i)
			added := at
			for ; at < hi; at++ {
				p.add(sum, at)
			}
			if i > 0 && added == at { // the frame of the row before
				out[i] = out[i-1]
			} else {
				out[i] = sum.result(e)
			}
		}
		return out
	}
	if p.fold != nil && p.frame.End.Kind == query.UnboundedFollowing {
		sum, at := p.fold.start(), n
		for i := n - 1; i >= 0; i-- {
			if e.ended() {
				return out
			}
			lo, _ := p.bounds(i)
			for ; at > lo; at-- {
				p.add(sum, at-1)
			}
			out[i] = sum.result(e)
		}
		return out
	}
	known := map[[2]int]Cell{}
	for i := range out {
		if e.ended() {
			return out
		}
		lo, hi := p.bounds(i)
		c, ok := known[[2]int{lo, hi}]
		if !ok {
			c = p.framedValue(e, lo, hi)
			known[[2]int{lo, hi}] = c
		}
		out[i] = c
	}
	return out
}

func (p *partition) ranked(i, n int, dense int64) value.Value {
	switch p.name {
	case "row_number":
		return value.OfInt(int64(i) + 1)
	case "rank":
		return value.OfInt(int64(p.peers[i]) + 1)
	case "dense_rank":
		return value.OfInt(dense)
	case "percent_rank":
		return value.OfReal(float64(p.peers[i]) / float64(max(n-1, 1)))
	case "cume_dist":
		return value.OfReal(float64(p.last[i]+1) / float64(n))
	}
	size, more := int64(n)/p.offset, int64(n)%p.offset // the first `more` tiles have one row more
	if at := int64(i); at >= more*(size+1) {
		return value.OfInt(more + (at-more*(size+1))/size + 1)
	}
	return value.OfInt(int64(i)/(size+1) + 1)
}

// bounds returns the rows of the frame of row i: lo to hi − 1.
func (p *partition) bounds(i int) (lo, hi int) {
	n := len(p.rows)
	end := func(x query.FrameEnd, start bool) int {
		switch x.Kind {
		case query.UnboundedPreceding:
			return 0
		case query.UnboundedFollowing:
			return n - 1
		case query.Preceding:
			return i - int(x.Offset)
		case query.Following:
			return i + int(x.Offset)
		}
		switch {
		case !p.frame.Range:
			return i
		case start:
			return p.peers[i]
		}
		return p.last[i]
	}
	lo, hi = max(end(p.frame.Start, true), 0), min(end(p.frame.End, false)+1, n)
	return min(lo, n), max(min(lo, n), hi)
}

// framedValue computes the function over the frame of rows lo to hi − 1.
func (p *partition) framedValue(e *env, lo, hi int) Cell {
	if p.fold != nil {
		sum := p.fold.start()
		for i := lo; i < hi; i++ {
			p.add(sum, i)
		}
		return sum.result(e)
	}
	at := lo
	switch p.name {
	case "last_value":
		at = hi - 1
	case "nth_value":
		at = lo + int(p.offset) - 1
	}
	if at < lo || at >= hi {
		return Exact(value.NullOf(p.typ))
	}
	return p.args[0].eval(e, p.rows[at])
}
