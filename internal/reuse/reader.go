package reuse

import (
	"hash/maphash"
	"slices"
	"sync"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// Reader determines what earlier releases answer of one plan, and caches its results. It is safe for concurrent
// use, and can compare the plan with several releases at once.
type Reader struct {
	asked      *plan.Plan
	followable bool
	seed       maphash.Seed
	conditions *expressions // the conditions of the plan's WHERE

	mu       sync.Mutex
	compared map[*plan.Plan]*comparison
	images   map[*bounded.Expr][]*image // by expression of the plan: its values by key
}

// NewReader returns a Reader for a plan that is to be answered from earlier releases.
func NewReader(asked *plan.Plan) *Reader {
	r := &Reader{
		asked: asked, followable: Followable(asked), seed: maphash.MakeSeed(),
		compared: map[*plan.Plan]*comparison{}, images: map[*bounded.Expr][]*image{},
	}
	r.conditions = r.conjunction(asked.Where)
	return r
}

// with returns the comparison of the plan with an earlier plan q.
func (r *Reader) with(q *plan.Plan) *comparison {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.compared[q]
	if c == nil {
		c = &comparison{reader: r, p: r.asked, q: q}
		r.compared[q] = c
	}
	return c
}

func (r *Reader) hash(e *bounded.Expr) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	e.Hash(&h)
	return h.Sum64()
}

// expressions is a list of distinct expressions, in the order in which they were added.
type expressions struct {
	all    []*bounded.Expr
	hashed map[uint64][]int // indices in the field all, by hash
}

// conjunction returns the distinct conditions whose conjunction is e. It returns an empty list if e is nil.
func (r *Reader) conjunction(e *bounded.Expr) *expressions {
	out := &expressions{hashed: map[uint64][]int{}}
	var add func(*bounded.Expr)
	add = func(e *bounded.Expr) {
		if e.Op == bounded.OpAnd {
			for _, a := range e.Args {
				add(a)
			}
			return
		}
		if h := r.hash(e); out.at(h, e) < 0 {
			out.hashed[h] = append(out.hashed[h], len(out.all))
			out.all = append(out.all, e)
		}
	}
	if e != nil {
		add(e)
	}
	return out
}

// at returns the index of the expression that is the same as e ([bounded.Expr.Same]), or −1 if there is none. h is the
// hash of e.
func (s *expressions) at(h uint64, e *bounded.Expr) int {
	for _, i := range s.hashed[h] {
		if s.all[i].Same(e) {
			return i
		}
	}
	return -1
}

// further returns the conditions of the reader's plan that the WHERE q of an earlier plan lacks. It returns false if
// the reader's plan lacks a condition of q.
func (r *Reader) further(q *bounded.Expr) ([]*bounded.Expr, bool) {
	of := r.conjunction(q)
	shared := make([]bool, len(r.conditions.all))
	for h, places := range of.hashed {
		for _, i := range places {
			at := r.conditions.at(h, of.all[i])
			if at < 0 {
				return nil, false
			}
			shared[at] = true
		}
	}
	var out []*bounded.Expr
	for i, e := range r.conditions.all {
		if !shared[i] {
			out = append(out, e)
		}
	}
	return out, true
}

// comparison holds what a Reader found by comparing its plan p with an earlier plan q. Callers of its methods hold
// mu.
type comparison struct {
	reader *Reader
	p, q   *plan.Plan

	mu       sync.Mutex
	measures map[uint64][]int // indices of the measures of q, by hash; nil before the first use
	known    bool             // whether compareRows has run
	same     bool             // the result of compareRows
	// by key of q: the values that the further conditions of p admit; no entry if they concern no such key
	picked map[int][]bool
	leads  []led      // for each key of p: the key of q that determines it
	tables []overKeys // the results of findCells, by grouping
}

// overKeys is the result of findCells for the grouping by some keys. Its field is nil if the cells of this grouping do
// not follow from the earlier plan q.
type overKeys struct {
	keys []int
	is   *Following
}

// measure returns the index of m among the measures of the earlier plan q, or −1 if q has no such measure.
func (c *comparison) measure(m *plan.Measure) int {
	if c.measures == nil {
		c.measures = make(map[uint64][]int, len(c.q.Measures))
		for j, o := range c.q.Measures {
			h := c.hash(o)
			c.measures[h] = append(c.measures[h], j)
		}
	}
	for _, j := range c.measures[c.hash(m)] {
		if m.Same(&c.q.Measures[j].Measure) {
			return j
		}
	}
	return -1
}

// hash returns a hash of m. It is equal for measures that are the same ([bounded.Measure.Same]).
func (c *comparison) hash(m *plan.Measure) uint64 {
	var h maphash.Hash
	h.SetSeed(c.reader.seed)
	_, _ = h.WriteString(string(m.Kind))
	if m.X != nil {
		m.X.Hash(&h)
	}
	return h.Sum64()
}

// rows reports whether the rows of p are exactly the rows in those cells of q that the conditions of p admit.
func (c *comparison) rows() bool {
	if !c.known {
		c.known, c.same = true, c.compareRows()
	}
	return c.same
}

// cells returns, for each cell of the grouping g, the cells of the earlier plan q's table that add up to it. It returns
// nil if the cells of g do not follow from q.
func (c *comparison) cells(g plan.Grouping) *Following {
	i := slices.IndexFunc(c.tables, func(t overKeys) bool { return slices.Equal(t.keys, g.Keys) })
	if i < 0 {
		i = len(c.tables)
		c.tables = append(c.tables, overKeys{keys: g.Keys, is: c.findCells(g)})
	}
	return c.tables[i].is
}
