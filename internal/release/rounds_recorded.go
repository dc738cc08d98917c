package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/noise"
)

// recordedPart describes a measured candidate in a step's ledger entry. All of it is public.
type recordedPart struct {
	Keys  []int  `json:"keys"` // indices of the question's GROUP BY expressions; the last changes fastest
	Rows  int    `json:"rows"` // the number of cells
	Noise string `json:"noise"`
	Scale string `json:"scale"` // the parameter of the noise, as a rational number
}

// described describes the parts of a measurement.
func described(p *plan.Rounds, s *plan.RoundMeasurement) []recordedPart {
	out := make([]recordedPart, len(s.Parts))
	for i, part := range s.Parts {
		of := p.Parts[part.Candidate]
		out[i] = recordedPart{
			Keys: append([]int{}, of.Keys...), Rows: of.Strategy.Rows(),
			Noise: string(part.Answers.Noise), Scale: exact.FormatRat(part.Answers.Parameter),
		}
	}
	return out
}

// RecordedMarginal is a measured candidate as the ledger has it.
type RecordedMarginal struct {
	Keys   []int // as recordedPart has them
	Values []*big.Int
	Noise  noise.Distribution
}

// RecordedRounds is what the ledger has of rounds. It is incomplete if their steps are not finished.
type RecordedRounds struct {
	Marginals []RecordedMarginal
	Sources   []ledger.Source // the versions of the tables that were measured
	Finished  bool
}

// RecordedRounds returns the marginals that the rounds with this number have measured so far. p is a plan of the same
// question under the present policy: the caller has checked that it may be asked. RecordedRounds spends nothing, and
// reads no row. A step is in the ledger only after its release time, so a step in progress is not among them.
//
// The error is the same for any other reservation, whatever it is, and for one that does not exist. Rounds of the same
// question that have no marginal yet are returned without an error. Rounds may have measured several questions: the marginals
// are those of p's.
func (k *Kernel) RecordedRounds(p *plan.Linear, id uint64) (*RecordedRounds, error) {
	other := &EndedError{
		How:     Misused,
		Message: fmt.Sprintf("r%d is no measurement of this table by these columns and limits", id),
		Hint:    "name releases of dither synth, and give the --table, --columns and --bins of then",
	}
	out, err := k.recordedReservation(p, id)
	if err != nil {
		return nil, err
	}
	if out == nil {
		return nil, other
	}
	strange := false // some step measured another statement
	err = k.ledger.EntriesHaving(id+1, fmt.Sprintf(`"reservation":%d`, id), func(e ledger.Entry) error {
		switch s := e.Body.(type) {
		case ledger.Release:
			out.Finished = out.Finished || s.Reservation == id
		case ledger.Step:
			if s.Reservation != id {
				return nil
			}
			marginals, fits, err := marginalsOf(p, s.Values)
			strange = strange || !fits
			out.Marginals = append(out.Marginals, marginals...)
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if strange && len(out.Marginals) == 0 {
		return nil, other
	}
	return out, nil
}

// recordedReservation returns the rounds with a number without their marginals, or nil if it has no rounds over the
// tables of p.
func (k *Kernel) recordedReservation(p *plan.Linear, id uint64) (out *RecordedRounds, err error) {
	found := errors.New("found")
	err = k.ledger.EntriesHaving(id, "", func(e ledger.Entry) error {
		b, ok := e.Body.(ledger.Reservation)
		if !ok || e.Index != id || !strings.HasPrefix(b.Mechanisms[0].Name, AdaptiveRounds+",") {
			return found
		}
		out = &RecordedRounds{Sources: slices.Clone(b.Sources)}
		for _, table := range p.Base.Tables() {
			if !slices.ContainsFunc(b.Sources, func(s ledger.Source) bool { return s.Table == table }) {
				out = nil
				break
			}
		}
		return found
	})
	if errors.Is(err, found) {
		err = nil
	}
	return out, err
}

// marginalsOf reads the measured marginals of a step. A selection has none, and neither has a step ahead of them. fits is false if the step measured another
// statement than that of p, or was recorded by an earlier version, which does not say. Everything is compared with p,
// because an entry is only as trustworthy as its file.
func marginalsOf(p *plan.Linear, values json.RawMessage) (out []RecordedMarginal, fits bool, err error) {
	var of recordedRound
	if err := json.Unmarshal(values, &of); err != nil {
		return nil, false, ErrUnreadable
	}
	if of.Ahead {
		return nil, true, nil
	}
	if of.Counted != p.Counted() {
		return nil, false, nil
	}
	if len(of.Parts) == 0 {
		return nil, true, nil
	}
	all, known := 0, p.KeyValues()
	for _, part := range of.Parts {
		cells := 1
		for i, k := range part.Keys {
			if k < 0 || k >= len(known) || slices.Contains(part.Keys[:i], k) || cells > plan.MaxPartCells {
				return nil, false, ErrUnreadable
			}
			cells *= len(known[k])
		}
		if all += cells; part.Rows != cells || all > plan.MaxLinearNumbers {
			return nil, false, ErrUnreadable
		}
	}
	numbers, err := decodeStep(of.Numbers, [2]int{1, all})
	if err != nil {
		return nil, false, err
	}
	row := numbers[0]
	for _, part := range of.Parts {
		m := RecordedMarginal{Keys: part.Keys, Values: row[:part.Rows:part.Rows]}
		scale, err := exact.ParseRat(part.Scale)
		if err == nil {
			m.Noise, err = plan.Noise(part.Noise).Distribution(scale)
		}
		if err != nil {
			return nil, false, ErrUnreadable
		}
		out, row = append(out, m), row[part.Rows:]
	}
	return out, true, nil
}
