package reuse

import (
	"hash/maphash"
	"slices"
	"sync"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// Reader finds what earlier releases tell of one plan, and keeps what it found: plans keep nothing. It is safe for
// concurrent use, and compares the plan with several others at once.
type Reader struct {
	asked      *plan.Plan
	followable bool
	seed       maphash.Seed
	conditions *expressions // of WHERE

	mu       sync.Mutex
	compared map[*plan.Plan]*comparison
	images   map[*bounded.Expr][]*image // of the plan's expressions
}

// NewReader prepares to read earlier releases for a plan.
func NewReader(asked *plan.Plan) *Reader {
	r := &Reader{
		asked: asked, followable: Followable(asked), seed: maphash.MakeSeed(),
		compared: map[*plan.Plan]*comparison{}, images: map[*bounded.Expr][]*image{},
	}
	r.conditions = r.conjunction(asked.Where)
	return r
}

// with is the comparison with an earlier plan.
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

// expressions are different ones, in the order in which they were met.
type expressions struct {
	all    []*bounded.Expr
	hashed map[uint64][]int // their places
}

// conjunction lists the conditions that an expression is the conjunction of, each once; none for nil.
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

// at is the place of an expression of that hash, or −1.
func (s *expressions) at(h uint64, e *bounded.Expr) int {
	for _, i := range s.hashed[h] {
		if s.all[i].Same(e) {
			return i
		}
	}
	return -1
}

// further returns the conditions of the plan's WHERE that q lacks, or false if the plan lacks a condition of q.
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

// comparison is what a Reader found of its plan p and an earlier plan q. Its methods are called under mu.
type comparison struct {
	reader *Reader
	p, q   *plan.Plan

	mu       sync.Mutex
	measures map[uint64][]int // the places of q's, by hash; nil before any was sought
	known    bool             // the rows have been compared:
	same     bool             // the same rows are left
	picked   map[int][]bool   // which values of q's keys are picked
	leads    []led            // where they lead to
	tables   []overKeys       // what was found by grouping
}

// overKeys is what follows over the grouping by some keys: nil where nothing does.
type overKeys struct {
	keys []int
	is   *Following
}

// measure returns the index of the same measure among the measures of q, or −1.
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

// hash is the same for measures that are the Same.
func (c *comparison) hash(m *plan.Measure) uint64 {
	var h maphash.Hash
	h.SetSeed(c.reader.seed)
	_, _ = h.WriteString(string(m.Kind))
	if m.X != nil {
		m.X.Hash(&h)
	}
	return h.Sum64()
}

// rows reports that picked cells of q hold exactly the rows of p.
func (c *comparison) rows() bool {
	if !c.known {
		c.known, c.same = true, c.compareRows()
	}
	return c.same
}

// cells returns, for each cell of g, the cells of q's table that add up to it; nil if none do.
func (c *comparison) cells(g plan.Grouping) *Following {
	i := slices.IndexFunc(c.tables, func(t overKeys) bool { return slices.Equal(t.keys, g.Keys) })
	if i < 0 {
		i = len(c.tables)
		c.tables = append(c.tables, overKeys{keys: g.Keys, is: c.findCells(g)})
	}
	return c.tables[i].is
}
