package engine

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"dither/internal/bounded"
)

// Dialect describes how an engine writes SQL for the parts of statements that this package writes.
type Dialect struct {
	Integer func(int64) string
	Double  func(float64) string
	BigInt  string // names of types
	Real    string
	Fence   string // text that ends a SELECT which the planner must not merge into the enclosing SELECT
	// Factor is a type of integers up to 10^9 whose products are quicker than those of BigInt. Total is the type of
	// sums of such integers and products. If Factor is "", BigInt is used; if Total is "", a sum has the type that
	// the server chooses.
	Factor, Total string
	// Wide is a type of integers of magnitudes up to 2^126, at least.
	Wide string
}

// VectorSums returns the statement for the sums of the vectors of b: of its rows' coordinates and of their products.
// Its result has the keys k0, k1, … or the index of the nearest centre, and then one column for each term. The rows
// have the coordinates v0, v1, …, none of which is NULL, and each unit's rows are already capped.
//
// The stages, from the inside out, of which unneeded ones are omitted: clamp the coordinates (a0, a1, …); scale the
// blocks that may be too long, and drop rows that are still too long; find the nearest centre; add up. Each
// coordinate is computed once in each row.
func VectorSums(b *bounded.Statement, rows string, d Dialect) string {
	w := vectors{Statement: b, d: d, keys: KeyNames(b)}
	rows = w.clamped(rows)
	rows = w.scaled(rows)
	if b.Centred() {
		rows = w.nearest(rows)
	}
	var sums []string
	total := func(of string) string {
		if d.Total == "" {
			return "sum(" + of + ")"
		}
		return "CAST(sum(" + of + ") AS " + d.Total + ")"
	}
	products := false
	for _, t := range b.RowVectors.AllTerms() {
		switch {
		case t.B >= 0:
			sums, products = append(sums, total(fmt.Sprintf("a%d * a%d", t.A, t.B))), true
		case t.A >= 0:
			sums = append(sums, total(fmt.Sprintf("a%d", t.A)))
		default:
			sums = append(sums, "count(*)")
		}
	}
	if products && d.Factor != "" {
		rows = w.factors(rows)
	}
	return "SELECT " + w.list(sums) + " FROM (" + rows + ") AS r" + GroupBy(w.keys)
}

// vectors writes the statement of VectorSums, stage by stage: each stage is a SELECT that reads the one before.
type vectors struct {
	*bounded.Statement
	d    Dialect
	keys []string
}

func (w *vectors) list(of []string) string {
	return strings.Join(append(append([]string{}, w.keys...), of...), ", ")
}

func (w *vectors) stage(of []string, from, where string) string {
	return "SELECT " + w.list(of) + " FROM (" + from + ") AS r" + where + w.d.Fence
}

// factors casts the coordinates to the integer type d.Factor, which can hold all of them: see [bounded.Block].
func (w *vectors) factors(rows string) string {
	var out []string
	for _, a := range w.all() {
		out = append(out, fmt.Sprintf("CAST(%[1]s AS %[2]s) AS %[1]s", a, w.d.Factor))
	}
	return w.stage(out, rows, "")
}

// clamped writes the coordinates as integers between Lo and Hi of their measures. It omits the clamp for columns of
// tables and for constants, because cleaning has bounded them. The ranges of computed values prove these bounds
// too, so clamping them changes nothing and is a second safeguard.
func (w *vectors) clamped(rows string) string {
	var out []string
	for i, m := range w.Measures {
		v := fmt.Sprintf("v%d", i)
		if !cleaned(m.X) {
			v = fmt.Sprintf(
				"CASE WHEN %[1]s BETWEEN %[2]s AND %[3]s THEN %[1]s "+
					"WHEN %[1]s < %[2]s THEN %[2]s ELSE %[3]s END", v, w.d.Integer(m.Lo), w.d.Integer(m.Hi))
		}
		out = append(out, fmt.Sprintf("%s AS a%d", v, i))
	}
	return w.stage(out, rows, "")
}

// cleaned reports whether e is a column of a table or a constant, possibly converted to a real.
func cleaned(e *bounded.Expr) bool {
	if e.Op == bounded.OpToReal {
		e = e.Args[0]
	}
	return e.Op == bounded.OpColumn && !e.Derived || e.Op == bounded.OpConst
}

// coordinates returns the column names of a block's coordinates.
func coordinates(k bounded.Block) (out []string) {
	for i := k.First; i < k.First+k.Size; i++ {
		out = append(out, "a"+strconv.Itoa(i))
	}
	return out
}

// scaled scales each block whose norm exceeds its Scale down to the norm Scale. It drops the rows in which the norm
// of the scaled integers exceeds Most.
func (w *vectors) scaled(rows string) string {
	var reals, factors, products, norms, kept []string
	for i, k := range w.RowVectors.Blocks {
		names := coordinates(k)
		if k.Scale == 0 {
			reals, factors, products = append(reals, names...), append(factors, names...), append(products, names...)
			continue
		}
		f, n := fmt.Sprintf("f%d", i), fmt.Sprintf("n%d", i)
		for _, a := range names {
			reals = append(reals, fmt.Sprintf("CAST(%[1]s AS %[2]s) AS %[1]s", a, w.d.Real))
			products = append(products, fmt.Sprintf("CAST((%[1]s * %[2]s) AS %[3]s) AS %[1]s", a, f, w.d.BigInt))
		}
		factors = append(append(factors, names...), w.length(k)+" AS "+n)
		norm, most := w.integerNorm(k)
		norms, kept = append(norms, norm+" AS "+n), append(kept, n+" <= "+most)
	}
	if len(kept) == 0 {
		return rows
	}
	rows = w.stage(reals, rows, "")
	rows = w.stage(factors, rows, "")
	var scales []string
	for i, k := range w.RowVectors.Blocks {
		scales = append(scales, coordinates(k)...)
		if k.Scale > 0 {
			scale := w.d.Double(float64(k.Scale))
			scales = append(scales,
				fmt.Sprintf("CASE WHEN n%[1]d > %[2]s THEN (%[2]s / n%[1]d) ELSE %[3]s END AS f%[1]d",
					i, scale, w.d.Double(1)))
		}
	}
	rows = w.stage(scales, rows, "")
	rows = w.stage(products, rows, "")
	rows = w.stage(append(w.all(), norms...), rows, "")
	return w.stage(w.all(), rows, " WHERE "+strings.Join(kept, " AND "))
}

func (w *vectors) all() (out []string) {
	for _, k := range w.RowVectors.Blocks {
		out = append(out, coordinates(k)...)
	}
	return out
}

// length returns the SQL of a block's norm, computed in doubles and added from the first coordinate to the last.
func (w *vectors) length(k bounded.Block) string {
	if k.Norm == bounded.NormL2 {
		return "sqrt(" + added(k, "(%[1]s * %[1]s)") + ")"
	}
	return added(k, "abs(%[1]s)")
}

// added returns the SQL of the sum of term over a block's coordinates.
func added(k bounded.Block, term string) string {
	sum := ""
	for _, a := range coordinates(k) {
		x := fmt.Sprintf(term, a)
		if sum != "" {
			x = "(" + sum + " + " + x + ")"
		}
		sum = x
	}
	return sum
}

// integerNorm returns the SQL of the norm of a block's integer coordinates, or its square for L2, and the SQL of
// Most or its square. The norm is a double. The comparison with Most is exact: the terms are non-negative integers,
// so their sum is exact below 2^53. A larger sum stays at 2^53 or above, and Most² is below 2^53.
func (w *vectors) integerNorm(k bounded.Block) (norm, most string) {
	x := "CAST(%[1]s AS " + w.d.Real + ")"
	if k.Norm == bounded.NormL2 {
		return added(k, "("+x+" * "+x+")"), w.d.Double(float64(k.Most) * float64(k.Most))
	}
	return added(k, "abs("+x+")"), w.d.Double(float64(k.Most))
}

// nearest adds a key: the index of the nearest centre. For a row with coordinates a, this is the centre c with the
// least Σ(a − c)² = Σa² + Σc(c − 2a). If several centres are equally near, it is the first of them.
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
	rows = w.stage(append(append(append([]string{}, names...), least...), "least("+strings.Join(least, ", ")+") AS s"),
		rows, "")
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
