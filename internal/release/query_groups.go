package release

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"dither/internal/bounded"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/value"
	"dither/mechanism"
	"dither/mechanism/partition"
	"dither/privacy"
)

// maxChosenBytes limits the text of released groups, so that a release fits into one ledger entry, even with
// escaped characters.
const maxChosenBytes = 6 << 20

// recordedGroups is the recorded form of released groups. Each key is its text, or null for NULL.
type recordedGroups struct {
	Groups [][]*string     `json:"groups"`
	Values json.RawMessage `json:"values"`
}

// encodeGroups writes released groups and their encoded numbers for the ledger.
func encodeGroups(groups [][]value.Value, numbers json.RawMessage) (json.RawMessage, error) {
	out := recordedGroups{Groups: [][]*string{}, Values: numbers}
	for _, group := range groups {
		texts := make([]*string, len(group))
		for i, v := range group {
			if !v.Null {
				text := v.String()
				texts[i] = &text
			}
		}
		out.Groups = append(out.Groups, texts)
	}
	return json.Marshal(out)
}

// decodeGroups reads the groups of a statement from the form of encodeGroups. It returns them with the text of
// their numbers.
func decodeGroups(text json.RawMessage, of *bounded.Statement) ([][]value.Value, json.RawMessage, error) {
	var in recordedGroups
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	others := fmt.Errorf("%w: its groups are not those of its question", ErrUnreadable)
	types := of.KeyTypes()[:len(of.Keys)]
	chosen := make([][]value.Value, len(in.Groups))
	for i, texts := range in.Groups {
		if len(texts) != len(types) {
			return nil, nil, others
		}
		for j, text := range texts {
			v := value.NullOf(types[j])
			if text != nil {
				var err error
				if v, err = bounded.ReadKey(types[j], *text); err != nil {
					return nil, nil, others
				}
			}
			chosen[i] = append(chosen[i], v)
		}
	}
	return chosen, in.Values, nil
}

// selectionMechanism describes the selection of groups for the ledger. It returns nothing if all keys are known.
func selectionMechanism(p *plan.Plan) (out []ledger.Mechanism, err error) {
	if p.Selection == nil {
		return nil, nil
	}
	sensitivity, scale, err := p.Selection.Parameter()
	return []ledger.Mechanism{
		{Name: string(p.Selection.Strategy), Sensitivity: sensitivity, Scale: scale, Cells: p.MaxChosen()},
	}, err
}

// selected releases groups with unknown keys: it selects groups, and then measures them.
//
// Its loss is the price. The shares of the selection and the measures add up to it in ρ, and the selection alone
// has a δ (plan.Selection has the proof). Once selected, the groups are public. So the group for all other rows
// (Other) is one more cell of a vector with fixed cells. Contribution bounding limits what a unit adds to all these
// cells together, and comes after the selection.
func (q *Query) selected(
	ctx context.Context,
	p *plan.Plan,
	rows reader,
) (chosen [][]value.Value, numbers [][]*big.Int, err error) {
	p, bounds, err := q.search(ctx, p, rows)
	if err != nil {
		return nil, nil, err
	}
	all, err := rows.engine.Groups(ctx, &p.Statement, rows.sealed)
	if err != nil {
		return nil, nil, err
	}
	names, err := selectGroups(p.Selection, all.Units())
	if err != nil {
		return nil, nil, err
	}
	chosen, cells, err := all.Chosen(names)
	if err != nil {
		return nil, nil, err
	}
	if p.Other { // selected groups that exceed the limits go to Other
		chosen = first(p, chosen)
		if cells, err = rows.engine.Aggregate(ctx, &p.Choose(chosen).Statement, rows.sealed); err != nil {
			return nil, nil, err
		}
	}
	if numbers, err = noisyRows(p.Measures, cells); err != nil {
		return nil, nil, err
	}
	if !p.Other {
		chosen, numbers = greatest(p, chosen, numbers)
	}
	return chosen, append(bounds, numbers...), nil
}

// selectGroups runs the plan's selection mechanism on the number of units of each nonempty group.
func selectGroups(s *plan.Selection, units []mechanism.Partition) (names []string, err error) {
	var loss privacy.Loss
	if s.Strategy == plan.Thresholded {
		out, err := s.Gaussian.Measure(units)
		if err != nil {
			return nil, err
		}
		for _, kept := range out.Kept {
			names = append(names, kept.Key)
		}
		loss = out.Loss
	} else {
		if names, err = (partition.Selection{Parameters: s.Optimal}).Select(units); err != nil {
			return nil, err
		}
		if loss, err = s.Optimal.Loss(); err != nil {
			return nil, err
		}
	}
	return names, selectedAsPlanned(s, loss)
}

// selectedAsPlanned returns an error if a selection costs more than was planned and charged. Its δ must be equal.
// Its ρ may be less, by the rounding of a square root.
func selectedAsPlanned(s *plan.Selection, loss privacy.Loss) error {
	_, planned := s.Loss.ZCDP()
	_, delta := loss.ZCDP()
	if !loss.Within(s.Loss) || delta.Cmp(planned) != 0 {
		return fmt.Errorf("%w: the selection of groups costs %s, and was planned at %s", ErrUnplanned, loss, s.Loss)
	}
	return nil
}

// greatest keeps the groups with the greatest noisy numbers, if there are more than a ledger entry can hold. It
// depends on released numbers only, so it reveals nothing more, and it never fails. It returns the groups ordered
// by their keys.
func greatest(p *plan.Plan, chosen [][]value.Value, numbers [][]*big.Int) ([][]value.Value, [][]*big.Int) {
	order := make([]int, len(chosen))
	for i := range order {
		order[i] = i
	}
	if j := p.Leading(); len(p.Measures) > 0 {
		slices.SortStableFunc(order, func(x, y int) int { return numbers[y][j].Cmp(numbers[x][j]) })
	}
	bytes, n := 0, 0
	for n < len(order) && n < p.MaxChosen() {
		if bytes += textBytes(chosen[order[n]]); bytes > maxChosenBytes {
			break
		}
		n++
	}
	order = order[:n]
	slices.SortFunc(order, func(x, y int) int { return slices.CompareFunc(chosen[x], chosen[y], value.Compare) })
	keys, kept := make([][]value.Value, n), make([][]*big.Int, n)
	for i, k := range order {
		keys[i], kept[i] = chosen[k], numbers[k]
	}
	return keys, kept
}

// first returns the selected groups that fit into a ledger entry, in the order of their keys. It depends only on
// what is released.
func first(p *plan.Plan, chosen [][]value.Value) [][]value.Value {
	bounded.SortGroups(chosen)
	bytes := 0
	for i, group := range chosen {
		if bytes += textBytes(group); i >= p.MaxChosen() || bytes > maxChosenBytes {
			return chosen[:i]
		}
	}
	return chosen
}

func textBytes(group []value.Value) (n int) {
	for _, v := range group {
		n += len(v.String()) + 4 // the quotes and commas of the encoded text
	}
	return n
}
