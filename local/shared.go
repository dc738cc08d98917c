package local

import (
	"math/big"

	"dither/internal/parallel"
	"dither/local/internal/coin"
)

// functions is the number of shared hash functions of flh, cms and hcms. buckets is the number of cells of cms and
// hcms.
const (
	functions = 1024
	buckets   = 1024
)

// A mechanism with shared hash functions sends the number of one of them, drawn uniformly. So the collector hashes
// each value only once for each function, and not once for each report. The price is an error that more people do not
// reduce: two values may share cells more often than average. See [Oracle.Variance].

// sharedVariance returns 1/(functions·(g − 1)), the factor of [Oracle.Variance] for g cells.
func sharedVariance(g uint64) float64 { return 1 / (functions * float64(g-1)) }

// table sums up, for each value v, the numbers by[f·g + cell] over all functions f, where cell is that of v.
func table(seed, g uint64, values []uint64, by []int64) []int64 {
	hashes := make([]hash, functions)
	for i := range hashes {
		hashes[i] = publicHash(seed, uint64(i))
	}
	out := make([]int64, len(values))
	const block = 4096
	parallel.Each((len(values)+block-1)/block, func(b int) {
		part, into := values[b*block:min((b+1)*block, len(values))], out[b*block:]
		row := consecutive(part)
		for f, h := range hashes {
			own := by[uint64(f)*g : uint64(f+1)*g]
			if row {
				h.addRow(into[:len(part)], part[0], own)
				continue
			}
			for i, v := range part {
				into[i] += own[h.cell(v, g)]
			}
		}
	})
	return out
}

// consecutive reports whether each value is the one before it plus 1.
func consecutive(values []uint64) bool {
	for i, v := range values {
		if v != values[0]+uint64(i) {
			return false
		}
	}
	return true
}

// addRow adds own[cell] of the values from first on to the elements of into. The residues of consecutive values have
// differences that increase by 2·c2, so two additions replace the products.
func (h hash) addRow(into []int64, first uint64, own []int64) {
	x, g := h.residue(first), uint64(len(own))
	step, more := add61(h.c1, mul61(h.c2, 2*first+1)), add61(h.c2, h.c2)
	for i := range into {
		into[i] += own[cellOf(x, g)]
		x, step = add61(x, step), add61(step, more)
	}
}

// flh is olh with shared hash functions [Cormode, Maddock & Maple 2021].
//
// Claim: flh is ε-differentially private between any two values. Proof: as for olh, since the number of the function
// is drawn without the value. ∎
type flh struct {
	response
	seed uint64
}

func newFLH(p Params) scheme { return flh{newResponse(cells(p.Epsilon), p.Epsilon), p.Seed} }

func (s flh) size() int                 { return width(functions) + width(s.k) }
func (s flh) shared() float64           { return sharedVariance(s.k) }
func (s flh) sends(r []byte) bool       { return get(r, width(functions), width(s.k)) < s.k }
func (s flh) work(_, v float64) float64 { return functions * v }
func (s flh) support() (p, q *big.Rat)  { return olh{s.response}.support() }
func (s flh) tally() tally {
	return &cellCounts{g: s.k, seed: s.seed, by: make([]int64, functions*s.k)}
}

func (s flh) randomize(c coin.Chooser, v uint64, report []byte) {
	f := c.Below(functions)
	put(report, 0, width(functions), f)
	put(report, width(functions), width(s.k), s.draw(c, publicHash(s.seed, f).cell(v, s.k)))
}

// cellCounts is the tally of flh: the number of reports by function and cell.
type cellCounts struct {
	g, seed uint64
	by      []int64
}

func (t *cellCounts) add(report []byte) {
	t.by[get(report, 0, width(functions))*t.g+get(report, width(functions), width(t.g))]++
}

func (t *cellCounts) support(values []uint64) []int64 {
	return table(t.seed, t.g, values, t.by)
}
func (t *cellCounts) merge(other tally) { sum(t.by, other.(*cellCounts).by) }

// cms is the count-mean sketch [Apple 2017]: a shared hash function maps the value to one of 1,024 cells, and the
// report is the symmetric unary encoding of the cell. A report supports the values whose cell's bit is 1.
//
// Claim: cms is ε-differentially private between any two values. Proof: the number of the function is drawn without
// the value, and given the function the claim of unary holds for the two cells. ∎
type cms struct {
	unary
	seed uint64
}

func newCMS(p Params) scheme {
	seed := p.Seed
	p.Values = buckets
	return cms{newSUE(p).(unary), seed}
}

func (s cms) size() int                 { return width(functions) + int(s.k) }
func (s cms) shared() float64           { return sharedVariance(buckets) }
func (s cms) sends([]byte) bool         { return true }
func (s cms) work(_, v float64) float64 { return functions * v }
func (s cms) tally() tally              { return &sketch{seed: s.seed, by: make([]int64, functions*buckets)} }

// support has q = own/m + other(1 − 1/m), since another value has the true value's cell with probability 1/m.
func (s cms) support() (p, q *big.Rat) { return throughCells(s.own.Rat(), s.other.Rat()) }

// throughCells returns p and q of a mechanism that supports cells with the probabilities own and other.
func throughCells(own, other *big.Rat) (p, q *big.Rat) {
	same := new(big.Rat).Quo(whole(1), whole(buckets))
	q = new(big.Rat).Mul(own, same)
	return own, q.Add(q, new(big.Rat).Mul(other, same.Sub(whole(1), same)))
}

func (s cms) randomize(c coin.Chooser, v uint64, report []byte) {
	f := c.Below(functions)
	put(report, 0, width(functions), f)
	at := publicHash(s.seed, f).cell(v, s.k)
	for i := range s.k {
		toss := s.other
		if i == at {
			toss = s.own
		}
		if c.Toss(toss) {
			put(report, width(functions)+int(i), 1, 1)
		}
	}
}

// sketch is the tally of cms: the number of reports by function and bit.
type sketch struct {
	seed uint64
	by   []int64
}

func (t *sketch) add(report []byte) {
	f := int(get(report, 0, width(functions)))
	eachBit(report, func(at int) {
		if cell := at - width(functions); cell >= 0 {
			t.by[f*buckets+cell]++
		}
	})
}

func (t *sketch) support(values []uint64) []int64 {
	return table(t.seed, buckets, values, t.by)
}
func (t *sketch) merge(other tally) { sum(t.by, other.(*sketch).by) }
