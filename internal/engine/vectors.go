package engine

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"dither/internal/plan"
)

// Dialect is how an engine writes what statements about vectors need.
type Dialect struct {
	Integer func(int64) string
	Double  func(float64) string
	BigInt  string // names of types
	Real    string
	Fence   string // ends a SELECT that must not be written into the one around it
}

// VectorSums adds up the vectors of b's rows: its keys k0, k1, … or the number of the nearest centre, and then its terms. In rows are the
// coordinates v0, v1, …, none of which is NULL; how many of a unit's count has been bounded.
//
// The stages, from the inside out, of which those that are not needed are left out: clamp the coordinates (a0, a1, …); scale the blocks that
// may be too long, and leave out what is too long still; find the nearest centre; add up products. Each coordinate is computed once a row.
func VectorSums(b *plan.Bounded, rows string, d Dialect) string {
	w := vectors{Bounded: b, d: d, keys: KeyNames(b)}
	rows = w.clamped(rows)
	rows = w.scaled(rows)
	if b.Centred() {
		rows = w.nearest(rows)
	}
	var sums []string
	for _, t := range b.RowVectors.AllTerms() {
		switch {
		case t.B >= 0:
			sums = append(sums, fmt.Sprintf("sum(a%d * a%d)", t.A, t.B))
		case t.A >= 0:
			sums = append(sums, fmt.Sprintf("sum(a%d)", t.A))
		default:
			sums = append(sums, "count(*)")
		}
	}
	return "SELECT " + w.list(sums) + " FROM (" + rows + ") AS r" + GroupBy(w.keys)
}

// vectors writes one statement.
type vectors struct {
	*plan.Bounded
	d    Dialect
	keys []string
}

func (w *vectors) list(of []string) string {
	return strings.Join(append(append([]string{}, w.keys...), of...), ", ")
}

func (w *vectors) stage(of []string, from, where string) string {
	return "SELECT " + w.list(of) + " FROM (" + from + ") AS r" + where + w.d.Fence
}

// clamped gives the coordinates as integers between their measures' ends. The ends are what the ranges prove: nothing is cut off.
func (w *vectors) clamped(rows string) string {
	var out []string
	for i, m := range w.Measures {
		out = append(out, fmt.Sprintf("least(greatest(v%[1]d, %[2]s), %[3]s) AS a%[1]d", i, w.d.Integer(m.Lo), w.d.Integer(m.Hi)))
	}
	return w.stage(out, rows, "")
}

// coordinates are the names of those in a block, or all.
func coordinates(k plan.Block) (out []string) {
	for i := k.First; i < k.First+k.Size; i++ {
		out = append(out, "a"+strconv.Itoa(i))
	}
	return out
}

// scaled multiplies too long blocks by a factor.
func (w *vectors) scaled(rows string) string {
	var lengths, factors, products, kept []string
	for i, k := range w.RowVectors.Blocks {
		names := coordinates(k)
		if k.Scale == 0 {
			lengths, factors, products = append(lengths, names...), append(factors, names...), append(products, names...)
			continue
		}
		n, f := fmt.Sprintf("n%d", i), fmt.Sprintf("f%d", i)
		scale := w.d.Double(float64(k.Scale))
		lengths = append(append(lengths, names...), w.length(k)+" AS "+n)
		factors = append(append(factors, names...), fmt.Sprintf("CASE WHEN %[1]s > %[2]s THEN (%[2]s / %[1]s) ELSE %[3]s END AS %[4]s", n, scale, w.d.Double(1), f))
		for _, a := range names {
			products = append(products, fmt.Sprintf("CAST((CAST(%[1]s AS %[2]s) * %[3]s) AS %[4]s) AS %[1]s", a, w.d.Real, f, w.d.BigInt))
		}
		kept = append(kept, w.short(k))
	}
	if len(kept) == 0 {
		return rows
	}
	for _, of := range [][]string{lengths, factors, products} {
		rows = w.stage(of, rows, "")
	}
	return w.stage(w.all(), rows, " WHERE "+strings.Join(kept, " AND "))
}

func (w *vectors) all() (out []string) {
	for _, k := range w.RowVectors.Blocks {
		out = append(out, coordinates(k)...)
	}
	return out
}

// length is a block's norm in doubles, added up from the first coordinate to the last.
func (w *vectors) length(k plan.Block) string {
	sum := ""
	for _, a := range coordinates(k) {
		x := fmt.Sprintf("CAST(%s AS %s)", a, w.d.Real)
		if k.Norm == plan.NormL2 {
			x = "(" + x + " * " + x + ")"
		} else {
			x = "abs(" + x + ")"
		}
		if sum != "" {
			x = "(" + sum + " + " + x + ")"
		}
		sum = x
	}
	if k.Norm == plan.NormL2 {
		return "sqrt(" + sum + ")"
	}
	return sum
}

// short holds of coordinates whose norm is at most Most, in integers.
func (w *vectors) short(k plan.Block) string {
	var parts []string
	for _, a := range coordinates(k) {
		if k.Norm == plan.NormL2 {
			parts = append(parts, "("+a+" * "+a+")")
		} else {
			parts = append(parts, "abs("+a+")")
		}
	}
	most := k.Most
	if k.Norm == plan.NormL2 {
		most *= k.Most
	}
	return "((" + strings.Join(parts, " + ") + ") <= " + w.d.Integer(most) + ")"
}

// nearest adds the number of the nearest centre, which becomes a key: of the c with the least Σ(a − c)², which is Σa² + Σc(c − 2a).
func (w *vectors) nearest(rows string) string {
	names := w.all()
	var scores, least, out []string
	for i, c := range w.RowVectors.Centres {
		constant := new(big.Int)
		var parts []string
		for j, x := range c {
			constant.Add(constant, new(big.Int).Mul(big.NewInt(x), big.NewInt(x)))
			if x != 0 {
				parts = append(parts, fmt.Sprintf("(a%d * %s)", j, w.d.Integer(-2*x)))
			}
		}
		parts = append(parts, w.d.Integer(constant.Int64()))
		s := fmt.Sprintf("s%d", i)
		scores, least = append(scores, "("+strings.Join(parts, " + ")+") AS "+s), append(least, s)
	}
	rows = w.stage(append(append([]string{}, names...), scores...), rows, "")
	rows = w.stage(append(append(append([]string{}, names...), least...), "least("+strings.Join(least, ", ")+") AS s"), rows, "")
	for i, s := range least[:len(least)-1] {
		out = append(out, s+" = s", w.d.Integer(int64(i)))
	}
	cell := w.d.Integer(0)
	if len(least) > 1 {
		cell = CaseWhen(append(out, w.d.Integer(int64(len(least)-1))))
	}
	rows = w.stage(append(names, cell+" AS cell"), rows, "")
	w.keys = append(w.keys, "cell")
	return rows
}
