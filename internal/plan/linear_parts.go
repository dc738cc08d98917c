package plan

import (
	"fmt"
	"slices"

	"dither/internal/bounded"
	"dither/internal/sensitivity"
	"dither/mechanism/linear"
	"dither/privacy"
)

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
	if len(looks) >= jointLooks && !out.OrdersByContents() {
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
	if p.OrdersByContents() && len(keys) < len(p.Base.Keys) {
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

// OrdersByContents reports whether the keys and values of a statement choose which rows of a unit count, as they do for
// the rows of a relation. Then statements with other keys may count other rows.
func (p *Linear) OrdersByContents() bool {
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
