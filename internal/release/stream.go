package release

import (
	"context"
	"fmt"
	"math/big"
	"sync"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism/stream"
	"dither/noise"
	"dither/privacy"
)

// Stream reports for each of a sequence of counts or sums whether it is above a threshold, by the sparse vector
// technique with gaps. Open reserves its whole price, whatever questions follow. Each question is an access under
// that reservation. Its verdict is recorded as a step, and then returned. A stream lives in this process only,
// because its noise does.
type Stream struct {
	kernel *Kernel
	look   *Look
	target *plan.Target // the plan of COUNT(*), for the table, the price and the neighbours
	terms  StreamTerms
	vector stream.SparseVector

	mu      sync.Mutex
	session *stream.SparseSession
	id      uint64
	asked   int
	ended   bool
}

// ID returns the number of the stream's reservation in the ledger.
func (s *Stream) ID() uint64 { return s.id }

// StreamTerms are the settings that hold for all questions of a stream.
type StreamTerms struct {
	Threshold *big.Int
	Moves     *big.Int // the largest change of a question's number by one unit
	Positives int      // the stream ends after this many questions above the threshold
	Questions int      // the stream ends after this many questions
	Values    bool     // release a noisy number for each question above the threshold, for half of the price
}

// verdict is the release for one question of a stream.
type verdict struct {
	Name  string // the name of the stream's reservation, and the number of the question, as in r7.2
	Above bool
	Gap   *big.Int // if Above: the noisy number minus the noisy threshold
	Value *big.Int // if Above and StreamTerms.Values: the noisy number
	Left  int      // how many more questions may be above; 0 when the stream has ended
}

// Stream returns a stream about the table of a target. Open pays for it.
func (k *Kernel) Stream(t *plan.Target, terms StreamTerms, by Asker) (*Stream, error) {
	l, err := k.targetLook(t, by, ledger.Mechanism{}, 0, 0)
	if err != nil {
		return nil, err
	}
	l.everybody = true // a question of the stream may be about any part (subset of the units)
	l.steps = int64(terms.Questions)
	terms.Threshold, terms.Moves = new(big.Int).Set(terms.Threshold), new(big.Int).Set(terms.Moves)
	s := &Stream{kernel: k, look: l, target: t, terms: terms}
	if s.vector, err = s.mechanism(); err != nil {
		return nil, err
	}
	l.key = NewID() // a random key: a stream is never replayed, because its noise lives in this process
	return s, nil
}

// Look returns a copy of the stream's [Look], which is known before anything is spent: price, mechanisms and replay
// key.
func (s *Stream) Look() *Look { return s.look.copied() }

// Accuracy bounds the distance from the threshold at which verdicts can be wrong. The bound holds for all questions
// together with probability 1 − beta.
func (s *Stream) Accuracy(beta float64) (*big.Int, error) {
	return s.vector.Accuracy(s.terms.Questions, beta)
}

// mechanism returns the sparse vector mechanism that the price pays for. With add-remove neighbours it is
// monotonic: one more unit never lowers a question's number, because admits refuses every other question.
func (s *Stream) mechanism() (stream.SparseVector, error) {
	epsilon := pureWithin(s.target.Price)
	m := stream.SparseVector{
		Sensitivity: s.terms.Moves,
		Monotonic:   s.target.Neighbours == privacy.AddRemove,
		Epsilon:     epsilon,
		Gap:         true,
		Positives:   s.terms.Positives,
	}
	if s.terms.Values {
		m.Epsilon = epsilon.Share(1, 2)
		m.Value = epsilon.Minus(m.Epsilon)
	}
	threshold, query, value, err := m.Noise()
	if err != nil {
		return m, &ParameterError{Err: err, Price: true}
	}
	s.look.mechanisms = []ledger.Mechanism{s.part("threshold", threshold, 0), s.part("questions", query, m.Positives)}
	if value != nil {
		s.look.mechanisms = append(s.look.mechanisms, s.part("values", *value, m.Positives))
	}
	return m, nil
}

// part describes one of a stream's three noises for the ledger.
func (s *Stream) part(name string, d noise.DiscreteLaplace, cells int) ledger.Mechanism {
	return ledger.Mechanism{
		Name:        SparseVector + ": " + name,
		Sensitivity: s.terms.Moves.String(),
		Scale:       exact.FormatRat(d.Scale()),
		Cells:       cells,
	}
}

// Open pays for the stream, and draws the noise of its threshold. It reads no row.
func (s *Stream) Open(ctx context.Context) error {
	k := s.kernel
	if ctx.Err() != nil {
		return ctx.Err()
	}
	release, err := k.hold(ctx, s.look.tables)
	if err != nil {
		return err
	}
	release()
	if s.id, _, err = k.reserve(s.look); err != nil {
		return err
	}
	if s.session, err = s.vector.Begin(); err == nil {
		err = s.begunAsPlanned(s.vector.Positives)
	}
	if err != nil {
		return k.lost(ctx, nil, s.id, err) // no row was read yet
	}
	return nil
}

// Ask answers one question, which build plans at the stream's price. A refusal is free and leaves the stream as it
// was. A failure ends the stream.
func (s *Stream) Ask(
	ctx context.Context,
	text string,
	build func(privacy.Loss) (*plan.Target, error),
) (*verdict, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kernel
	if s.ended {
		return nil, &EndedError{How: Over, Message: "the stream has ended", Hint: "open another one"}
	}
	arrival := k.clock.Now() // after the verdict of the question before it
	t, err := build(s.target.Price)
	if err != nil {
		return nil, err
	}
	t = t.Unconfined() // the stream is charged to everybody, so the question need not be confined to parts
	if err := s.admits(t); err != nil {
		return nil, err
	}
	if err := s.current(t); err != nil {
		return nil, err
	}
	at, err := k.instantOf(&Look{statements: []*bounded.Statement{&t.Statement}}, arrival)
	if err != nil {
		return nil, err
	}
	rows, done, err := k.rehearsed(ctx, at, s.look, &t.Statement)
	if err != nil {
		return nil, err
	}
	defer done()
	numbers, err := watched(ctx, k, at, func(ctx context.Context) ([][]*big.Int, error) { return s.answer(ctx, t, rows) })
	if err != nil {
		s.ended = true
		return nil, k.lost(ctx, at, s.id, err)
	}
	s.asked++
	if err := s.record(text, numbers); err != nil {
		s.ended = true
		return nil, afterwards(err)
	}
	return s.verdict(numbers[0]), nil
}

// admits returns a refusal for a question that the stream's price does not cover, and otherwise nil.
func (s *Stream) admits(t *plan.Target) error {
	refused := func(message, hint string) error {
		return &EndedError{How: Unsupported, Message: message, Hint: hint}
	}
	m := t.Measures[0]
	switch {
	case t.Source != nil:
		return refused(
			"a question of a stream must read one table, without joins, UNION ALL or aggregates in subqueries",
			"ask it outside the stream",
		)
	case t.Table != s.target.Table:
		return refused(fmt.Sprintf("this stream is about table %q", s.target.Table), "open another one")
	case t.Cells() != 1 || len(t.Keys) > 0:
		return refused("a question of a stream must not have groups", "ask about one group at a time")
	case m.Grid != 0:
		return refused("a threshold works only with whole numbers", "ask for a count, or for a sum of integers")
	case t.Sensitivity.Cmp(s.terms.Moves) > 0:
		return refused(
			fmt.Sprintf(
				"one unit can change this number by %s, but this stream allows at most %s",
				t.Sensitivity,
				s.terms.Moves,
			),
			"narrow the bounds, or open a stream with a larger Most",
		)
	case t.Neighbours == privacy.AddRemove && m.Lo < 0:
		return refused("a question of a stream must not add up negative values", "bound the values: GREATEST(x, 0)")
	}
	return nil
}

// current refuses a suspended analyst, and a table that was sealed again.
func (s *Stream) current(t *plan.Target) error {
	state, err := s.kernel.ledger.State()
	if err != nil {
		return err
	}
	if err := state.Suspended(s.look.analyst); err != nil {
		return err
	}
	table, err := s.kernel.Current(t.Table)
	if err != nil {
		return err
	}
	if table.Number != s.look.tables[0].Number {
		return &EndedError{
			How:     Resealed,
			Message: "the table was sealed again since the stream began",
			Hint:    "open another one",
		}
	}
	return nil
}

// answer reads the rows, and returns one row to release: 1 or 0 for above, the gap, and the value. The gap is −1
// and the value 0 if there is none.
func (s *Stream) answer(ctx context.Context, t *plan.Target, rows reader) ([][]*big.Int, error) {
	cells, err := rows.engine.Aggregate(ctx, &t.Statement, rows.sealed)
	if err != nil {
		return nil, err
	}
	a, err := s.session.Ask(cells[0][0], s.terms.Threshold)
	if err != nil {
		return nil, err
	}
	row := []*big.Int{new(big.Int), big.NewInt(-1), new(big.Int)}
	if a.Above {
		row[0].SetInt64(1)
		row[1] = a.Gap
	}
	if a.Value != nil {
		row[2] = a.Value
	}
	return [][]*big.Int{row}, nil
}

// record makes a verdict durable. The last verdict is recorded as the stream's release, and the others as steps.
func (s *Stream) record(text string, numbers [][]*big.Int) error {
	if s.session.Left() > 0 && s.asked < s.terms.Questions {
		return s.kernel.ledger.Step(ledger.Step{Reservation: s.id, Question: text, Values: encode(numbers)})
	}
	s.ended = true
	return s.kernel.ledger.Release(s.id, encode(numbers))
}

func (s *Stream) verdict(row []*big.Int) *verdict {
	v := &verdict{Name: fmt.Sprintf("r%d.%d", s.id, s.asked), Above: row[0].Sign() > 0}
	if !s.ended {
		v.Left = s.session.Left()
	}
	if v.Above {
		v.Gap, v.Value = row[1], row[2]
	}
	return v
}

// Close ends the stream. Its price stays spent.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	s.ended = true
	if err := s.kernel.ledger.Release(s.id, encode(nil)); err != nil {
		return afterwards(err)
	}
	return nil
}

// begunAsPlanned checks that the noises of a stream's session cost what was reserved. Let Δ be the largest change
// of a question's number by one unit, and let c be the number of questions that may be above the threshold. The
// threshold's noise of scale θ costs Δ/θ. The questions' noise of scale q costs k·c·Δ/q, where k is 1 for monotonic
// questions and otherwise 2. The values' noise of scale v costs c·Δ/v (stream.SparseVector has the proof).
func (s *Stream) begunAsPlanned(positives int) error {
	share := func(times int64, d noise.DiscreteLaplace) *big.Rat {
		x := new(big.Rat).SetInt(new(big.Int).Mul(s.terms.Moves, big.NewInt(times)))
		return x.Quo(x, d.Scale())
	}
	threshold, query := s.session.Noise()
	c := int64(positives)
	each := c
	if s.target.Neighbours != privacy.AddRemove {
		each *= 2
	}
	total := new(big.Rat).Add(share(1, threshold), share(each, query))
	if value, ok := s.session.ValueNoise(); ok {
		total.Add(total, share(c, value))
	}
	e, err := privacy.EpsilonOf(total)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnplanned, err)
	}
	planned := privacy.PureLoss(pureWithin(s.target.Price))
	if err := costsAsPlanned(privacy.PureLoss(e), planned); err != nil {
		return err
	}
	return costsAsPlanned(s.session.Loss(), planned)
}
