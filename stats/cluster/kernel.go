package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/internal/request"
)

// kernelSource makes accesses through the kernel. Until pay is set, it uses only earlier releases, at no cost.
type kernelSource struct {
	kernel  *curator.Session
	of      Request
	table   curator.Table
	columns []column
	task    task
	price   curator.Loss      // price of all accesses together
	shares  []curator.Request // price of each access, as a request
	whole   *big.Rat          // the price, in ε or ρ
	parts   []*big.Rat
	pay     bool
	taken   []string // releases that were paid
}

// newKernelSource validates a request, determines its price and divides it among the accesses. It spends nothing.
func newKernelSource(ctx context.Context, c *curator.Session, of Request) (*kernelSource, error) {
	s := &kernelSource{kernel: c, of: of}
	tables, err := c.Tables()
	if err != nil {
		return nil, err
	}
	if s.table, s.columns, err = findSpace(tables, of); err != nil {
		return nil, err
	}
	if err := s.decide(); err != nil {
		return nil, err
	}
	if err := request.CheckCondition(of.Where); err != nil {
		return nil, err
	}
	// Explain one access at the whole price. The kernel supplies the default price, checks the largest price, and
	// converts ε to the budget's unit.
	e, err := c.ExplainMoments(ctx,
		s.vectors(access{kind: allRows, sums: true}, curator.Request{Epsilon: of.Epsilon, Rho: of.Rho}))
	if err != nil {
		return nil, err
	}
	if len(e.Cells) != 1 {
		return nil, request.Misuse("give only a condition on rows, without GROUP BY or other clauses",
			"the condition makes groups, which clustering does not support")
	}
	s.price = e.Price
	s.task.l2 = e.Price.Rho != ""
	if err := s.choose(ctx); err != nil {
		return nil, err
	}
	return s, s.divide(ctx)
}

// decide validates the request except for its price, and builds the task.
func (s *kernelSource) decide() error {
	of := &s.of
	t := task{
		method: of.Method, d: len(s.columns), k: of.K, least: of.Least, most: of.Most, iterations: of.Iterations,
		average: of.Average, seed: of.Seed,
	}
	for _, c := range s.columns {
		t.values = append(t.values, c.values)
	}
	switch {
	case of.K < 1 || of.K > mostClusters:
		return request.Misuse("", "the number of clusters must be 1 to %d, not %d", mostClusters, of.K)
	case of.Least != 0 && (of.Least < 2 || of.Least > of.K):
		return request.Misuse("such as 2..8",
			"the range of the number of clusters must start at 2 or more and end at %d or less, unlike "+
				"%d..%d", mostClusters,
			of.Least, of.K)
	case of.Most != 0 && (of.Most < of.K || of.Most > mostClusters):
		return request.Misuse("", "--most must be %d to %d, not %d", of.K,
			mostClusters, of.Most)
	case of.Least > 0 && of.Method == MethodTree:
		return request.Misuse("use grid; or measure with --most 8 and compare several K, which is free",
			"the groups of a tree are too coarse to choose the number of clusters")
	case of.Least+of.Most > 0 && (of.Method == MethodLloyd || of.Iterations+of.Average > 0):
		return request.Misuse("use grid or tree",
			"lloyd measures rows for only one number of clusters: every other number has a separate price")
	case of.Iterations < 0 || of.Iterations > mostIterations:
		return request.Misuse("0 is the default", "the number of iterations must be 1 to %d, not "+
			"%d", mostIterations, of.Iterations)
	case of.Iterations+of.Average > 0 && of.Method != "" && of.Method != MethodLloyd:
		return request.Misuse("leave them out", "only lloyd has iterations")
	}
	switch of.Method {
	case "":
		if of.Iterations+of.Average > 0 {
			t.method = MethodLloyd
		}
	case MethodLloyd, MethodGrid, MethodTree:
	default:
		return request.Misuse("", "the method must be %s, %s or %s, not "+
			"%q", MethodLloyd, MethodGrid, MethodTree, of.Method)
	}
	if t.iterations == 0 {
		t.iterations = defaultIterations
	}
	if t.average == 0 {
		t.average = max(1, t.iterations/2)
	}
	if t.average < 0 || t.average > t.iterations {
		return request.Misuse("", "the average must be over 1 to %d iterations, not %d", t.iterations, t.average)
	}
	if t.seed == 0 {
		t.seed, of.Seed = 1, 1
	}
	if of.Radius != "" {
		r, err := exact.ParseDecimal(of.Radius)
		if err != nil || r.Sign() <= 0 {
			return request.Misuse("such as 1", "the radius must be a decimal above 0, not %q", of.Radius)
		}
		t.radius, _ = r.Float64()
	}
	alpha, err := request.Confidence(&of.Confidence)
	if err != nil {
		return err
	}
	t.alpha = math.Nextafter(alpha, 0)
	if strings.TrimSpace(of.Where) == "" {
		t.rows = float64(s.table.ExpectedRows)
	}
	s.task = t
	return nil
}

const (
	defaultIterations = 6
	mostIterations    = 100
)

// choose selects a method by public numbers if the request names none.
func (s *kernelSource) choose(ctx context.Context) error {
	if s.task.method != "" {
		return nil
	}
	var buckets []int
	if s.task.rows > 0 && s.task.d <= fewColumns {
		deviation, _, err := s.foretell(ctx, access{kind: byBucket, buckets: s.task.twos()},
			curator.Request{Epsilon: s.of.Epsilon, Rho: s.of.Rho})
		if err != nil {
			return err
		}
		unbounded := s.task
		unbounded.k, unbounded.most = 1, 0
		buckets = gridBuckets(unbounded, s.task.rows, deviation)
	}
	if s.task.method = automaticMethod(s.task.d, buckets); s.of.Least > 0 && s.task.method != MethodGrid {
		return request.Misuse("give the number of clusters, or --method grid; with --most 8, comparing several K is "+
			"free",
			"the number of clusters cannot be chosen for this many columns, or at this low a price")
	}
	return nil
}

// divide gives each access its share of the price, rounded down to twelve digits, and gives the last access the
// rest. The shares add up to the price.
func (s *kernelSource) divide(ctx context.Context) error {
	whole, _, err := request.Price(s.price)
	if err != nil {
		return request.Misuse("", "the price %s cannot be divided", s.price)
	}
	s.whole = whole
	weights, total := s.task.shares(), int64(0)
	for _, w := range weights {
		total += w
	}
	left := new(big.Rat).Set(whole)
	for i, w := range weights {
		part := exact.FloorDigits(new(big.Rat).Mul(whole, big.NewRat(w, total)), priceDigits)
		if i == len(weights)-1 {
			part = left
		}
		left = new(big.Rat).Sub(left, part)
		s.parts = append(s.parts, part)
		s.shares = append(s.shares, request.Priced(curator.Request{}, part, s.task.l2))
	}
	for i := range s.shares { // check each price now, so that the policy refuses none of them midway
		if i > 1 && s.parts[i].Cmp(s.parts[i-1]) == 0 {
			continue
		}
		if _, _, err := s.foretell(ctx, access{kind: allRows}, s.shares[i]); err != nil {
			return request.Partly(err)
		}
	}
	return nil
}

const priceDigits = 12

func (s *kernelSource) deviation(ctx context.Context, step int, l access) (count, sum float64, err error) {
	return s.foretell(ctx, l, s.shares[step])
}

func (s *kernelSource) foretell(ctx context.Context, l access, price curator.Request) (count, sum float64, err error) {
	e, err := s.kernel.ExplainMoments(ctx, s.vectors(l, price))
	if err != nil {
		return 0, 0, err
	}
	count = e.Sums[0].Noise.StdDev()
	if l.sums {
		unit, _ := e.Sums[1].Unit.Float64()
		sum = e.Sums[1].Noise.StdDev() * unit
	}
	return count, sum, nil
}

func (s *kernelSource) take(ctx context.Context, step int, l access) (*cellSums, error) {
	v := s.vectors(l, s.shares[step])
	if !s.pay {
		if s.of.Fresh {
			return nil, errUnpaid
		}
		e, err := s.kernel.ExplainMoments(ctx, v)
		if err != nil {
			return nil, err
		}
		if !e.Replayed {
			return nil, errUnpaid
		}
	}
	m, err := s.kernel.Moments(ctx, v)
	if err != nil {
		return nil, err
	}
	if s.pay {
		s.taken = append(s.taken, m.ID)
	}
	return cellsOf(m, l, len(s.columns))
}

// cellsOf arranges the cells of a release in the order of the access.
func cellsOf(m *curator.Moments, l access, d int) (*cellSums, error) {
	out := &cellSums{countNoise: m.Sums[0].Noise, id: m.ID, replayed: m.Replayed, remaining: m.Remaining, limits: m.Limits}
	n := map[string]int{
		allRows: 1, byCentre: len(l.centres), byBucket: 1, bySide: 1 << len(l.planes),
		byLeaf: l.leaves,
	}[l.kind]
	if l.kind == byBucket {
		for _, b := range l.buckets {
			n *= b
		}
		out.absent = slices.Repeat([]bool{true}, n)
	}
	out.counts = make([]float64, n)
	if l.sums {
		out.sums = make([][]float64, n)
		out.sumNoise = m.Sums[1].Noise
		out.sumUnit = exact.FloatUp(m.Sums[1].Unit)
	}
	for i, keys := range m.Cells {
		at := 0
		switch l.kind {
		case byCentre:
			at = i
		case byBucket:
			for x, k := range keys {
				n, _ := k.(int64)
				at = at*l.buckets[x] + int(n) - 1
			}
		case byLeaf:
			for _, k := range keys {
				n, _ := k.(int64)
				at = int(n)
			}
		case bySide:
			for _, k := range keys {
				at *= 2
				if k == true {
					at++
				}
			}
		}
		if at < 0 || at >= n || l.kind == allRows && len(m.Cells) > 1 {
			// only a condition whose brackets do not match leads here
			return nil, request.Misuse("give only a condition on rows, without GROUP BY or other clauses",
				"the released cells do not match the question")
		}
		if l.kind == byBucket && !m.Possible.Has(i) {
			continue // WHERE leaves no row in the cell: what was measured there is noise alone
		}
		out.counts[at], _ = new(big.Float).SetInt(m.Sums[0].Values[i][0]).Float64()
		if l.kind == byBucket {
			out.absent[at] = false
		}
		if l.sums {
			out.sums[at] = make([]float64, d)
			for x, v := range m.Sums[1].Values[i] {
				out.sums[at][x], _ = new(big.Rat).Mul(new(big.Rat).SetInt(v), m.Sums[1].Unit).Float64()
			}
		}
	}
	return out, nil
}

// run runs the request's method with this source.
func (s *kernelSource) run(ctx context.Context) (*result, error) { return runMethod(ctx, s.task, s) }

// rehearse runs the method on earlier releases, at no cost. It returns the result if they suffice, or otherwise the
// index of the first unpaid access.
func (s *kernelSource) rehearse(ctx context.Context) (out *result, unpaid int, err error) {
	counted := &countingSource{source: s}
	if out, err = runMethod(ctx, s.task, counted); errors.Is(err, errUnpaid) {
		return nil, counted.taken, nil
	}
	return out, counted.taken, err
}

// countingSource counts the accesses that succeeded.
type countingSource struct {
	source
	taken int
}

func (c *countingSource) take(ctx context.Context, step int, l access) (*cellSums, error) {
	cells, err := c.source.take(ctx, step, l)
	if err == nil {
		c.taken = step + 1
	}
	return cells, err
}

// unpaidFrom returns an empty request at the total price of all accesses from the given index on.
func (s *kernelSource) unpaidFrom(step int) curator.Request {
	sum := new(big.Rat)
	for _, p := range s.parts[step:] {
		sum.Add(sum, p)
	}
	return request.Priced(curator.Request{}, sum, s.task.l2)
}

// room refuses a request that the remaining budget does not cover, before anything is paid.
func (s *kernelSource) room(ctx context.Context, from int) error {
	e, err := s.roomFor(ctx, from)
	if err != nil || e.Affordable {
		return err
	}
	hint := "repeating earlier releases is free"
	if e.Largest != "0" {
		hint = "lower it to --epsilon " + e.Largest + " or less; " + hint
	}
	return &curator.Error{
		Code:    curator.CodeExhausted,
		Message: fmt.Sprintf("these clusters cost %s, more than the remaining %s", e.Price, e.Remaining), Hint: hint,
	}
}

// roomFor explains the unpaid accesses as one new access. from is the index of the first unpaid access.
func (s *kernelSource) roomFor(ctx context.Context, from int) (*curator.MomentsExplanation, error) {
	v := s.vectors(access{kind: allRows, sums: true}, s.unpaidFrom(from))
	v.Fresh = true
	return s.kernel.ExplainMoments(ctx, v)
}
