package plan

import "math/big"

// Work is about how much an engine does to answer b: for each row that a scan, a join or an aggregate reads, one for the row, and one
// for each node of the expressions that are evaluated on it. rows gives about how many rows a table has. It is a function of the
// statement and of public numbers alone, so the moment at which an answer leaves may rest on it.
func (b *Bounded) Work(rows func(table string) int64) *big.Int {
	work, n := new(big.Int), new(big.Int)
	if b.Source == nil {
		n.SetInt64(rows(b.Table))
	} else {
		n = b.Source.work(rows, work)
	}
	weight := int64(1)
	add := func(e *Expr) { weight += int64(e.weight()) }
	if b.Where != nil {
		add(b.Where)
	}
	for _, k := range b.Keys {
		add(k.Expr)
	}
	for _, m := range b.Measures {
		if weight++; m.X != nil {
			add(m.X)
		}
	}
	if v := b.RowVectors; v != nil {
		for _, sum := range v.Sums {
			weight += int64(len(v.Terms(sum)))
		}
	}
	if b.Ordered { // values are counted one by one, and scanned again by the mechanism
		weight *= orderedPasses
	}
	return work.Add(work, n.Mul(n, big.NewInt(weight)))
}

// orderedPasses is about how often values in order are read.
const orderedPasses = 8

// work adds that of s and of what is below it, and gives about how many rows s has.
func (s *Source) work(rows func(string) int64, sum *big.Int) *big.Int {
	n := new(big.Int)
	for i, in := range s.Inputs {
		below := in.work(rows, sum)
		if i == 0 || s.Op != Owned { // which has the rows of its first input
			n.Add(n, below)
		}
		if s.Op == Join && i == 1 && !in.Units { // each row of the first input meets so many public ones
			n.Sub(n, below)
			n.Mul(n, big.NewInt(max(s.Most, 1)))
			n.Add(n, below)
		}
	}
	if s.Op == Scan {
		n.SetInt64(rows(s.Table))
	}
	weight := int64(1)
	s.expressions(func(e *Expr) { weight += int64(e.weight()) })
	sum.Add(sum, new(big.Int).Mul(n, big.NewInt(weight)))
	return n
}
