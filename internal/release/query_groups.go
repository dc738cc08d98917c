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

// maxChosenBytes bounds the texts of released groups: with it a release fits into one entry of the ledger, escapes and
// all.
const maxChosenBytes = 6 << 20

// recordedGroups is how released groups are written: each key as its text, or null.
type recordedGroups struct {
	Groups [][]*string     `json:"groups"`
	Values json.RawMessage `json:"values"`
}

// encodeGroups writes released groups for the ledger, with the text of their numbers.
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

// decodeGroups reads what encodeGroups wrote of the groups of a statement, and gives the text of their numbers.
func decodeGroups(text json.RawMessage, of *bounded.Statement) ([][]value.Value, json.RawMessage, error) {
	var in recordedGroups
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	others := fmt.Errorf("%w: it has other groups than its question", ErrUnreadable)
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

// selectionMechanism describes the selection of groups for the ledger. The mechanisms after it measure the selected groups.
func selectionMechanism(p *plan.Plan) (out []ledger.Mechanism, err error) {
	if p.Selection == nil {
		return nil, nil
	}
	sensitivity, scale, err := p.Selection.Parameter()
	return []ledger.Mechanism{
		{Name: string(p.Selection.Strategy), Sensitivity: sensitivity, Scale: scale, Cells: p.MaxChosen()},
	}, err
}

// selected takes the measures of groups that are not known: they are selected, and then measured.
//
// Its loss is the price: the selection's and the measures' shares add up to it, in ρ, and δ is the selection's alone
// (plan.Selection, the proof). The groups that are released are public from there on, so Other, which is measured of
// the rows outside them, is one cell more of a vector with fixed cells: what a unit adds is bounded over all of these
// together, after the selection.
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
	if p.Other { // those beyond what is released are Other's
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

// selectGroups runs the mechanism that the plan chose, on the number of units of each group that there is.
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

// selectedAsPlanned asks whether a selection costs no more than was planned and charged: its δ exactly, and ρ but for
// the rounding of a root.
func selectedAsPlanned(s *plan.Selection, loss privacy.Loss) error {
	_, planned := s.Loss.ZCDP()
	_, delta := loss.ZCDP()
	if !loss.Within(s.Loss) || delta.Cmp(planned) != 0 {
		return fmt.Errorf("%w: the selection of groups costs %s, and was planned at %s", ErrUnplanned, loss, s.Loss)
	}
	return nil
}

// greatest keeps the groups of the greatest noisy numbers where there are more than one entry of the ledger holds: a
// function of what the mechanisms released, so that nothing exact decides, and nothing fails. They are put in the order
// of their keys.
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

// first are the groups that fit into one entry of the ledger, of those that were selected, in the order of their keys:
// a function of what was released.
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
		n += len(v.String()) + 4 // as it is written
	}
	return n
}
