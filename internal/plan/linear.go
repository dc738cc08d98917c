package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/policy"
	"dither/internal/prune"
	"dither/internal/query"
	"dither/internal/sensitivity"
	"dither/internal/value"
	"dither/mechanism/linear"
	"dither/privacy"
)

// The limits of a measurement of a strategy. The cells of each part, and the released numbers, must fit into memory. The
// numbers must fit into one entry of the ledger: see fitsEntry.
const (
	MaxPartCells     = 1 << 20
	MaxPartsCells    = 1 << 23 // of all parts together
	MaxLinearNumbers = 1 << 22
	MaxLinearParts   = 10_000
	maxPartWeight    = 1 << 40
)

// jointLooks is the least number of histograms that are added up from one result over all of their keys. It is public,
// and changes no answer.
const jointLooks = 8

// LinearPart requests the answers of a strategy on one histogram.
type LinearPart struct {
	// the keys of the histogram, as indices of the question's GROUP BY expressions. The last key changes fastest. With
	// no key, the histogram has one cell: all rows
	Keys     []int
	Strategy linear.Strategy
	Weight   int64 // the weight of its share of the price; 0 is 1
}

// Linear is the plan of an access that measures strategies: integer matrices, applied to histograms of one bounded
// statement.
type Linear struct {
	// Base is the bounded statement with all keys of the question. No engine runs it: it may have too many cells. The
	// same rows count in the statements of all parts.
	Base       bounded.Statement
	Parts      []*MeasuredPart
	Neighbours privacy.Neighbours
	Price      privacy.Loss
	Grouped    []int // the index in Base.Keys of each GROUP BY expression, in the question's order
	// Joint, if not nil, is the statement with the keys of all parts. The engine runs it once, and adds its groups up to the
	// histograms of the parts: see [MeasuredPart.Joint]. It counts the rows that the parts' own statements count: see
	// addParts.
	Joint  *bounded.Statement
	digest string
}

// MeasuredPart is a strategy with the histogram that it reads, its share of the price, its sensitivity and its noise.
type MeasuredPart struct {
	LinearPart
	// Look is the statement of the histogram. Parts with the same keys have the same pointer. Over a relation, it has all
	// keys of Base, and Strategy sums over those that the part does not have.
	Look *bounded.Statement
	// Answers describes the vector of the strategy's answers. Its Kind, X and grid are those of the histogram.
	Answers Measure
	// Joint has the index in Linear.Joint.Keys of each key of the part, in the order of Keys.
	Joint []int
	keys  []int // the index in Base.Keys of each key of the part, in the order of Keys
}

// BuildLinear plans the measurement of strategies on histograms: SELECT COUNT(*) FROM t WHERE … GROUP BY keys with known
// values. The SELECT list has one COUNT or SUM, and may have keys. Errors are as in Build.
func BuildLinear(p *policy.Policy, r Request, parts []LinearPart) (*Linear, error) {
	out, c, err := histogram(p, r)
	if err != nil {
		return nil, err
	}
	if err := c.addParts(out, parts); err != nil {
		return nil, err
	}
	return unless(out, c.unitWithin(&out.Base, out.Looks()...))
}

// BuildHistogram plans a question as BuildLinear does, without parts. So it has the keys and the values of the
// histograms that strategies can be measured on. No kernel runs it.
func BuildHistogram(p *policy.Policy, r Request) (*Linear, error) {
	out, _, err := histogram(p, r)
	return out, err
}

func histogram(p *policy.Policy, r Request) (*Linear, *capped, error) {
	q, err := read(job{policy: p, original: r, manyCells: true})
	if err != nil {
		return nil, nil, err
	}
	k, err := bindPlainKeys(q, func(*query.Select) error { return nil })
	m, err := next(measureHistogram, k, err)
	c, err := next(capRows, m, err)
	if err != nil {
		return nil, nil, err
	}
	base := c.statement()
	return &Linear{
		Base:       base.ReadingToo(nil),
		Neighbours: c.neighbours(),
		Price:      c.price,
		Grouped:    c.place,
		digest:     p.Digest(),
	}, c, nil
}

// measureHistogram makes the one measure of the histogram's cells.
func measureHistogram(k *keyed) (*measured, error) {
	b := newMeasuring(k)
	if err := run(b.selectList, b.plainHistogram, b.severalRows); err != nil {
		return nil, err
	}
	return b.measured, nil
}

// plainHistogram refuses a SELECT list without exactly one count or sum.
func (b *measuring) plainHistogram() error {
	for _, c := range b.claims {
		if c.terms != (terms{}) {
			return bind.Refuse(c.terms.at, "leave it out", "the weights of the parts divide the price of a strategy")
		}
	}
	for i, o := range b.outputs {
		if o.Post != nil && (o.Post.Op != PostAggregate || len(b.aggregates[o.Post.Index].measures()) != 1) {
			return bind.Refuse(
				b.tree.Items[i].Expr.Pos(),
				"ask for COUNT(*), COUNT(x) or SUM(x) itself",
				"a strategy reads one count or sum of each group",
			)
		}
	}
	if len(b.measures) != 1 || !b.measures[0].Additive() {
		return bind.Refuse(
			b.first(),
			"ask for one COUNT(*), COUNT(x) or SUM(x), without DISTINCT",
			"a strategy reads one count or sum of each group",
		)
	}
	if len(b.searches) > 0 || b.cellsClamped() {
		return bind.Refuse(
			b.first(),
			"give the aggregate bounds => (low, high)",
			"a strategy takes constant bounds per row",
		)
	}
	return nil
}

// addParts adds the parts to the plan. It divides the price among them by their weights, bounds how far one unit moves
// the answers of each, and chooses the noise. The shares add up to the price exactly. So by basic composition, the
// measurement costs the price.
//
// Claim: the proof at [sensitivity.OfStrategy] holds for each part. The statement of a part has some keys of Base, and
// drops the rows that Base drops for a key with an unknown value. All of these statements have the cap of Base on the
// rows of one unit, after these conditions. Linear.Joint is such a statement too, so its groups add up to the cells of
// each part's statement. A strategy that sums over further keys repeats the columns of the part's
// strategy, so the largest norms are the same. ∎
func (c *capped) addParts(out *Linear, parts []LinearPart) error {
	if len(parts) < 1 || len(parts) > MaxLinearParts {
		return &Error{Message: fmt.Sprintf("a measurement has between 1 and %d parts, not %d", MaxLinearParts, len(parts))}
	}
	total, work, steps, cells, numbers := int64(0), int64(0), 0.0, 0, 0
	looks := map[string]*bounded.Statement{} // by their keys
	for i, part := range parts {
		if part.Weight < 0 || part.Weight > maxPartWeight {
			return &Error{Message: fmt.Sprintf("the weight of part %d is not between 1 and %d", i+1, int64(maxPartWeight))}
		}
		total += max(part.Weight, 1)
		of, err := out.part(i, part, looks)
		if err != nil {
			return err
		}
		cells, numbers = cells+of.Strategy.Columns(), numbers+of.Strategy.Rows()
		if cells > MaxPartsCells || numbers > MaxLinearNumbers {
			return &Error{
				Message: fmt.Sprintf("a measurement has at most %d cells and %d numbers, in all parts together", MaxPartsCells, MaxLinearNumbers),
				Hint:    "divide the parts, and the price, among several measurements",
			}
		}
		if work += of.Strategy.Work(); work > linear.MaxWork {
			return &Error{
				Message: fmt.Sprintf("the strategies take more than %d additions, in all parts together", int64(linear.MaxWork)),
				Hint:    "use sparser matrices; or divide the parts, and the price, among several measurements",
			}
		}
		if steps += of.Strategy.Steps(c.neighbours() == privacy.ChangeOne); steps > linear.MaxSteps {
			return &Error{
				Message: "the sensitivities of the strategies take too long to compute, in all parts together",
				Hint: "use entries so small that the squared norm of every column is below 2¹²⁸, or fewer products; " +
					"or divide the parts, and the price, among several measurements",
			}
		}
		out.Parts = append(out.Parts, of)
	}
	if len(looks) >= jointLooks && !out.ordersByContents() {
		out.join()
	}
	var known chosen
	for i, part := range out.Parts {
		m := &part.Answers
		m.Loss = c.price.Share(max(part.Weight, 1), total)
		m.moves(sensitivity.OfStrategy(part.Strategy, &m.Measure, c.neighbours(), c.caps.Rows))
		if err := known.choose(m); err != nil {
			return c.wrong("", "no noise can be chosen: %v", err)
		}
		if _, err := m.Noise.Distribution(m.Parameter); err != nil {
			return &Error{
				Message: fmt.Sprintf("part %d needs more noise than is supported: %v", i+1, err),
				Hint:    "give its matrices smaller entries, or a higher share of the price",
			}
		}
	}
	return out.fitsEntry()
}

// part returns the i-th part with its statement, without its price. looks has the statements of earlier parts.
func (p *Linear) part(i int, of LinearPart, looks map[string]*bounded.Statement) (*MeasuredPart, error) {
	refuse := func(hint, format string, args ...any) (*MeasuredPart, error) {
		return nil, &Error{Message: fmt.Sprintf("part %d ", i+1) + fmt.Sprintf(format, args...), Hint: hint}
	}
	if of.Strategy.Columns() == 0 {
		return refuse("", "has no strategy")
	}
	var keys []int // of Base, in the order of the part
	cells := 1
	for _, k := range of.Keys {
		if k < 0 || k >= len(p.Grouped) {
			return refuse("the expressions of GROUP BY are numbered from 0", "has key %d, and the question has %s", k,
				plural(int64(len(p.Grouped)), "key"))
		}
		if slices.Contains(keys, p.Grouped[k]) {
			return refuse("leave one out", "has key %d twice", k)
		}
		keys = append(keys, p.Grouped[k])
		if cells = min(cells*len(p.Base.Keys[p.Grouped[k]].Values), MaxPartCells+1); cells > MaxPartCells {
			return refuse("give it fewer keys", "has more than %d cells", MaxPartCells)
		}
	}
	if cells != of.Strategy.Columns() {
		return refuse(
			"the columns of a product's matrices multiply to the number of cells, the product of the keys' numbers of values",
			"has %s, and its strategy has %s",
			plural(int64(cells), "cell"),
			plural(int64(of.Strategy.Columns()), "column"),
		)
	}
	if p.ordersByContents() && len(keys) < len(p.Base.Keys) {
		var err error
		if of.Strategy, keys, err = p.overAllKeys(of.Strategy, keys, cells); err != nil {
			return refuse("use a table; or fewer keys in GROUP BY", "asks about a relation, so it reads the cells of all keys: %v", err)
		}
	}
	out := &MeasuredPart{LinearPart: of, keys: keys}
	out.Answers.Measure = *p.Base.Measures[0]
	sorted := slices.Sorted(slices.Values(keys))
	name := fmt.Sprint(sorted)
	if out.Look = looks[name]; out.Look != nil {
		return out, nil
	}
	out.Look = p.look(sorted)
	looks[name] = out.Look
	return out, nil
}

// look returns the statement of the histogram over some keys of Base, in increasing order.
func (p *Linear) look(keys []int) *bounded.Statement {
	look := p.Base
	look.Where, look.Keys = inGroups(&p.Base, keys), nil
	for _, k := range keys {
		look.Keys = append(look.Keys, p.Base.Keys[k])
	}
	look.Weigh()
	return &look
}

// join sets the statement with the keys of all parts.
func (p *Linear) join() {
	var all []int
	for _, part := range p.Parts {
		all = append(all, part.keys...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	p.Joint = p.look(all)
	for _, part := range p.Parts {
		for _, k := range part.keys {
			part.Joint = append(part.Joint, slices.Index(all, k))
		}
	}
}

// ordersByContents reports whether the keys and values of a statement choose which rows of a unit count, as they do for
// the rows of a relation. Then statements with other keys may count other rows.
func (p *Linear) ordersByContents() bool {
	return p.Base.Source != nil && p.Base.Unit != nil && !p.Base.Source.Single
}

// overAllKeys returns the strategy that sums the histogram of all keys over those that are not in keys, and then
// applies s. The columns of this strategy are those of s, each repeated. It also returns all keys, in the order of its
// columns.
func (p *Linear) overAllKeys(s linear.Strategy, keys []int, cells int) (linear.Strategy, []int, error) {
	others := 1
	for k := range p.Base.Keys {
		if slices.Contains(keys, k) {
			continue
		}
		keys = append(keys, k)
		if others = min(others*len(p.Base.Keys[k].Values), MaxPartCells+1); cells*others > MaxPartCells {
			return s, nil, fmt.Errorf("these are more than %d cells", MaxPartCells)
		}
	}
	var products []linear.Product
	for _, of := range s.Products() {
		products = append(products, append(slices.Clone(of), linear.Total(others)))
	}
	s, err := linear.NewStrategy(products...)
	return s, keys, err
}

// Order returns, for each cell of the part in the order of Keys, the index of this cell in Look. It is nil if both orders
// are the same.
func (p *MeasuredPart) Order() []int {
	if slices.IsSorted(p.keys) {
		return nil
	}
	// Look has the keys in increasing order
	strides, stride, sorted := map[int]int{}, 1, slices.Sorted(slices.Values(p.keys))
	for i, k := range slices.Backward(sorted) {
		strides[k] = stride
		stride *= len(p.Look.Keys[i].Values)
	}
	out := []int{0}
	for _, k := range p.keys {
		values := len(p.Look.Keys[slices.Index(sorted, k)].Values)
		next := make([]int, 0, len(out)*values)
		for _, at := range out {
			for v := range values {
				next = append(next, at+v*strides[k])
			}
		}
		out = next
	}
	return out
}

// Reach returns a public bound on the magnitude of a cell of the histogram: as much as MaxRows rows can add.
func (p *MeasuredPart) Reach() *big.Int {
	most := exact.Larger(big.NewInt(p.Answers.Hi), new(big.Int).Neg(big.NewInt(p.Answers.Lo)))
	return new(big.Int).Mul(most, big.NewInt(MaxRows))
}

// Looks returns the statements that an engine runs: those of the parts, each once, or the joint one.
func (p *Linear) Looks() (out []*bounded.Statement) {
	if p.Joint != nil {
		return []*bounded.Statement{p.Joint}
	}
	seen := map[*bounded.Statement]bool{}
	for _, part := range p.Parts {
		if !seen[part.Look] {
			seen[part.Look] = true
			out = append(out, part.Look)
		}
	}
	return out
}

// Numbers returns how many numbers are released.
func (p *Linear) Numbers() (n int) {
	for _, part := range p.Parts {
		n += part.Strategy.Rows()
	}
	return n
}

// KeyValues returns the known values of the question's GROUP BY expressions, in their order.
func (p *Linear) KeyValues() (out [][]value.Value) {
	for _, k := range p.Grouped {
		out = append(out, p.Base.Keys[k].Values)
	}
	return out
}

// Canonical returns a text that determines what the plan releases, as [Plan.Canonical] does. It has the digests of the
// strategies.
func (p *Linear) Canonical(versions ...int) string {
	var b strings.Builder
	b.WriteString("strategies\n")
	describeStatement(&p.Base, &b, p.digest, versions, p.Neighbours, p.Price)
	for _, part := range p.Parts {
		var keys []int
		for _, k := range part.Keys {
			keys = append(keys, p.Grouped[k])
		}
		m := &part.Answers
		fmt.Fprintf(&b, "part keys=%v strategy %s of %s l1=%s l2squared=%s %s %s %s\n", keys, part.Strategy.Digest(), m,
			m.L1, m.L2Squared, m.Noise, m.Parameter.RatString(), m.Loss)
	}
	return b.String()
}

// Key returns the replay key, which is the digest of Canonical.
func (p *Linear) Key(versions ...int) string {
	sum := sha256.Sum256([]byte(p.Canonical(versions...)))
	return hex.EncodeToString(sum[:])
}

// Possible returns which cells of the histogram over all keys can have rows, in the order of the question's GROUP BY. It
// is a function of the question and the policy, as [Plan.Possible] is. It returns nil if there are more than
// MaxPossible cells.
func (p *Linear) Possible() []bool {
	cells := 1
	for _, k := range p.Grouped {
		if cells *= len(p.Base.Keys[k].Values); cells > MaxPossible {
			return nil
		}
	}
	groups := prune.Where(p.Base.Where, p.Base.Columns).Groups(p.Base.Keys)
	out, at := make([]bool, cells), make([]int, len(p.Base.Keys))
	for i := range out {
		rest, can := i, true
		for _, k := range slices.Backward(p.Grouped) {
			n := len(p.Base.Keys[k].Values)
			listed, found := slices.BinarySearch(groups.Values[k], rest%n)
			at[k], can, rest = listed, can && found, rest/n
		}
		out[i] = can && groups.Has(at)
	}
	return out
}

// MaxPossible is the largest number of cells for which [Linear.Possible] decides which can have rows.
const MaxPossible = 1 << 12
