package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/privacy"
)

// recordedRound is the value of a step's ledger entry: the digest of the step's parameters, and its output. Parts
// describes the output of a measurement, and Counted is plan.Linear.Counted: so it can be read without the plan of its
// rounds. Steps of earlier versions of dither lack both.
type recordedRound struct {
	SHA256  string          `json:"sha256"`
	Numbers json.RawMessage `json:"numbers"`
	Counted string          `json:"counted,omitempty"`
	Parts   []recordedPart  `json:"parts,omitempty"`
	Ahead   bool            `json:"ahead,omitempty"` // Numbers is what a primitive encodes
}

// encodeStep writes the output of a step, a long one in the packed form.
func encodeStep(numbers []*big.Int) json.RawMessage {
	if len(numbers) >= packedFrom {
		return packed(numbers)
	}
	return encode([][]*big.Int{numbers})
}

// decodeStep reads both forms.
func decodeStep(text json.RawMessage, shape [2]int) ([][]*big.Int, error) {
	if !bytes.HasPrefix(text, []byte{'"'}) {
		return Decode(text, shape)
	}
	numbers, err := unpacked(text, shape[1])
	return [][]*big.Int{numbers}, err
}

// roundStep is a step before it is drawn. It has one of ofCells and ofRows.
type roundStep struct {
	plan             *plan.Rounds // under which it was decided
	about, canonical string
	price            privacy.Loss
	parts            []recordedPart
	ofCells          func(cells [][]mechanism.Exact) ([]*big.Int, error)
	ofRows           func(ctx context.Context) (json.RawMessage, error)
}

// step returns the output of the next step, as it is recorded. A recorded step is returned again, if its parameters are
// the same. A refusal leaves the rounds as they were. A cancelled step can be asked again. A failure ends the rounds.
func (r *Rounds) step(ctx context.Context, s *roundStep) (numbers json.RawMessage, replayed bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	arrival := r.kernel.clock.Now() // after the step before it has ended
	if s.plan != r.plan {
		return nil, false, &EndedError{
			How: Misused, Message: "the question of the rounds has changed since", Hint: "decide the step again",
		}
	}
	sum := sha256.Sum256([]byte(r.asks + s.canonical))
	digest, total := hex.EncodeToString(sum[:]), r.spent.Plus(s.price)
	if err := r.admits(total); err != nil {
		return nil, false, err
	}
	if r.told < len(r.recorded) {
		of := r.recorded[r.told]
		if of.SHA256 != digest {
			return nil, false, &EndedError{
				How:     OtherStep,
				Message: fmt.Sprintf("step %d was recorded with other parameters", r.told+1),
				Hint:    "continue with the same steps in the same order; or ask with Fresh, and pay again",
			}
		}
		r.told, r.spent = r.told+1, total
		return of.Numbers, true, nil
	}
	if r.finished {
		return nil, false, &EndedError{How: Over, Message: "the rounds were finished", Hint: "ask with Fresh, and pay again"}
	}
	at, err := r.instant(arrival)
	if err != nil {
		return nil, false, err
	}
	if numbers, err = r.drawn(ctx, at, s); err != nil {
		return nil, false, err
	}
	crashPoint("drawn")
	of := recordedRound{digest, numbers, r.plan.Counted(), s.parts, s.ofRows != nil}
	values, err := json.Marshal(of)
	if err == nil {
		err = r.kernel.ledger.Step(ledger.Step{
			Reservation: r.id, Question: fmt.Sprintf("step %d: %s", r.told+1, s.about), Values: values,
		})
	}
	if err != nil { // the entry may have been written; the rounds read it when they are requested again
		_ = r.give()
		if errors.Is(err, ledger.ErrNotReserved) {
			err = ended(FailedElsewhere)
		}
		return nil, false, afterwards(err)
	}
	crashPoint("recorded")
	r.recorded = append(r.recorded, of)
	r.told, r.spent = r.told+1, total
	return numbers, false, nil
}

// admits refuses a step after the end, beyond the number of steps, or beyond the price. total is the price of all
// steps so far, with this one.
func (r *Rounds) admits(total privacy.Loss) error {
	switch {
	case r.ended:
		return &EndedError{How: Over, Message: "the rounds were closed, or failed", Hint: "ask for them again"}
	case int64(r.told) == r.look.steps:
		return &EndedError{How: Over, Message: fmt.Sprintf("the rounds have taken all of their %d steps", r.look.steps)}
	case !total.Within(r.look.price):
		return &EndedError{
			How:     Misused,
			Message: fmt.Sprintf("the steps would cost %s together, and their price is %s", total, r.look.price),
			Hint:    "give this step a smaller price",
		}
	}
	return nil
}

// roundDraw is the exact cells of all candidates, if they were read, and the output of a step.
type roundDraw struct {
	cells   [][]mechanism.Exact
	numbers json.RawMessage
}

// drawn reads the cells, unless they were read, and draws a step. It is the only function that leads to a draw.
func (r *Rounds) drawn(ctx context.Context, at *instant, s *roundStep) (json.RawMessage, error) {
	k := r.kernel
	if k.ledger.ReadOnly() {
		return nil, afterwards(ledger.ErrReadOnly)
	}
	state, err := k.ledger.State()
	if err != nil {
		return nil, afterwards(err)
	}
	for _, name := range []string{r.look.analyst, r.payer} { // the ledger refuses steps while the payer is suspended
		if err := state.Suspended(name); err != nil {
			return nil, afterwards(err)
		}
	}
	if ctx.Err() != nil {
		return nil, afterwards(ended(StepGivenUp))
	}
	if s.ofRows != nil || r.cells == nil {
		if err := r.current(); err != nil {
			return nil, afterwards(err)
		}
		release, err := k.hold(ctx, r.reads.tables)
		if err != nil {
			return nil, afterwards(err)
		}
		defer release()
	}
	if err := k.ledger.MakeRoom(r.id); err != nil {
		return nil, afterwards(err)
	}
	if err := k.begins(at); err != nil {
		return nil, afterwards(err)
	}
	known, rows := r.cells, k.reader(r.reads)
	d, err := watched(ctx, k, at, func(within context.Context) (d roundDraw, err error) {
		if d.cells = known; s.ofRows != nil {
			d.numbers, err = s.ofRows(within)
			return d, err
		}
		if d.cells == nil {
			if d.cells, err = cellsOf(within, s.plan, rows); err != nil {
				return roundDraw{}, err
			}
		}
		numbers, err := s.ofCells(d.cells)
		if err == nil {
			d.numbers = encodeStep(numbers)
		}
		return d, err
	})
	switch {
	case err == nil:
		r.cells = d.cells
		return d.numbers, nil
	case at == nil && ctx.Err() != nil, errors.Is(err, errGivenUp):
		// The caller cancelled, or set a deadline that has expired. Nothing was returned. Whether the engine was ready
		// decides nothing but the time, which the caller chose.
		return nil, r.givenUp()
	}
	_ = r.give()
	return nil, k.lost(ctx, at, r.id, err)
}

// cellsOf returns the exact cells of each candidate, in the order of its keys. After a step is given up it may still run, beside
// a change of the rounds' plan.
func cellsOf(ctx context.Context, p *plan.Rounds, rows reader) (out [][]mechanism.Exact, err error) {
	known := map[*bounded.Statement][]mechanism.Exact{}
	var joint [][]mechanism.Exact
	if p.Joint != nil {
		if joint, err = margins(ctx, p.Linear, rows); err != nil {
			return nil, err
		}
	}
	for i, part := range p.Parts {
		var cells []mechanism.Exact
		if joint != nil {
			cells = joint[i]
		} else if cells = known[part.Look]; cells == nil {
			all, err := rows.engine.Aggregate(ctx, part.Look, rows.sealed)
			if err != nil {
				return nil, err
			}
			cells = column(all, 0)
			known[part.Look] = cells
		}
		if cells, err = exactAnswers(part, cells); err != nil {
			return nil, err
		}
		out = append(out, cells)
	}
	return out, nil
}

// givenUp counts a step that was cancelled after its rows may have been read.
func (r *Rounds) givenUp() error {
	switch err := r.kernel.ledger.GiveUpStep(r.id, r.look.analyst); {
	case errors.Is(err, ledger.ErrNotReserved):
		_ = r.give()
		return afterwards(ended(FailedElsewhere))
	case err != nil:
		r.kernel.tellOwner(err) // the cancelled step is not counted
	}
	return afterwards(ended(StepGivenUp))
}
