package curator

import (
	"context"
	"fmt"
	"math/big"
	"sync"

	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/query"
	"dither/mechanism/stream"
	"dither/noise"
	"dither/privacy"
)

// SparseVector is the mechanism of a Stream.
const SparseVector = "sparse vector"

// Threshold opens a stream of questions, each told to be above a threshold or below it.
type Threshold struct {
	Table        string // that all questions are about
	Threshold    string // a whole number
	Above        int    // the stream ends after so many that are above; 0 is 1
	Epsilon, Rho string // the price of the whole stream, as of a Question
	Analyst      string // who asks
	// Most is how far one unit may move a question's count or sum, in whole numbers; 0 is how far it moves COUNT(*). A question
	// that it could move further is refused, free.
	Most int64
	// Questions is how many may be asked; 0 is 100. Those below cost nothing more, but each is one more chance to be wrong.
	Questions int
	// Values asks for the noisy numbers of what is above, at half of the price.
	Values bool
}

// Stream answers questions against one threshold, until so many were asked or above. It may be used by several goroutines, and lives
// in this process alone: what was not asked when it ends stays paid.
type Stream struct {
	Accuracy  *Number // with 95 % for all questions together: above is at least the threshold minus this, and below, under it plus this
	Price     Loss
	curator   *Curator
	target    *plan.Target // of COUNT(*): the table, the price and the neighbours
	look      *look
	threshold *big.Int
	moves     *big.Int // by how much one unit moves a question's number, at most
	mu        sync.Mutex
	session   *stream.SparseSession
	id        uint64
	ended     bool
	hasValues bool
	asked     int
	most      int
}

// Verdict is the answer to one question of a Stream.
type Verdict struct {
	ID    string // of the stream's reservation in the ledger, and the question's number
	Above bool
	Gap   *Number // of what is above, by how much its noisy number was above the noisy threshold; at no further cost
	Value *Number // of what is above, where values were asked for: its number with noise of its own
	Left  int     // how many more may be above; 0 where the stream has ended
}

// Above is the kernel's third primitive: a stream of counts or sums against a threshold, by the sparse vector technique, with
// gaps. Its whole price is reserved here, whatever will be asked; each verdict leaves after it is recorded.
func (c *Curator) Above(ctx context.Context, t Threshold) (*Stream, error) {
	s := &Stream{curator: c, hasValues: t.Values}
	if err := s.prepare(t); err != nil {
		return nil, c.public(err)
	}
	m, err := s.mechanism(t)
	if err != nil {
		return nil, c.public(err)
	}
	alpha, err := m.Accuracy(s.most, 0.05)
	if err != nil {
		return nil, unusable(err)
	}
	s.Accuracy, s.Price = wholeNumber(alpha), c.loss(s.target.Price)
	if ctx.Err() != nil {
		return nil, c.public(ctx.Err())
	}
	release, err := c.hold(ctx, s.look.tables)
	if err != nil {
		return nil, c.public(err)
	}
	release()
	if s.id, err = c.reserve(s.look); err != nil {
		return nil, c.notReserved(err)
	}
	if s.session, err = m.Begin(); err == nil {
		err = s.begunAsPlanned(m.Positives)
	}
	if err != nil {
		return nil, c.lost(ctx, nil, s.id, err) // before any row was read
	}
	return s, nil
}

// prepare plans what is the same for all questions.
func (s *Stream) prepare(t Threshold) (err error) {
	usage := func(message, hint string) error { return &Error{Code: CodeUsage, Message: message, Hint: hint} }
	threshold, err := exact.ParseDecimal(t.Threshold)
	if err != nil || !threshold.IsInt() {
		return usage("the threshold is a whole number", "such as 100")
	}
	s.threshold = threshold.Num()
	if t.Above < 0 || t.Above > maxQuestions || t.Questions < 0 || t.Questions > maxQuestions {
		return usage(fmt.Sprintf("Questions, and how many of them may be Above, are between 1 and %d", maxQuestions), "0 is the default")
	}
	if s.most = t.Questions; s.most == 0 {
		s.most = max(100, t.Above)
	}
	q := Question{SQL: "SELECT COUNT(*) FROM " + query.QuoteName(t.Table), Epsilon: t.Epsilon, Rho: t.Rho, Analyst: t.Analyst}
	request, err := s.curator.request(q)
	if err != nil {
		return err
	}
	if s.target, err = plan.BuildScores(s.curator.filled(), request); err != nil {
		return err
	}
	if s.target.Source != nil {
		return usage("a stream is about one table whose rows have a unit of their own", "ask about the table that it refers to")
	}
	s.moves = s.target.Sensitivity
	if t.Most < 0 {
		return usage("one unit moves a number by at least 1", "leave it out")
	} else if t.Most > 0 {
		s.moves = big.NewInt(t.Most)
	}
	q.SQL = fmt.Sprintf("stream about %s: above %s, %d times", query.QuoteName(t.Table), s.threshold, max(t.Above, 1))
	if s.look, err = s.curator.lookAt(s.target, q, ledger.Mechanism{}, [2]int{}); err != nil {
		return err
	}
	s.look.everybody = true // its questions may be about any part
	s.look.steps = int64(s.most)
	return nil
}

// maxQuestions bounds how long a stream may be.
const maxQuestions = 10_000

// mechanism is the sparse vector that the price pays for. Under add/remove every question's number rises, or every one falls: Ask
// refuses what could move the other way.
func (s *Stream) mechanism(t Threshold) (stream.SparseVector, error) {
	epsilon := pureWithin(s.target.Price)
	m := stream.SparseVector{
		Sensitivity: s.moves, Monotonic: s.target.Neighbours == privacy.AddRemove, Epsilon: epsilon, Gap: true, Positives: max(t.Above, 1),
	}
	if t.Values {
		m.Epsilon = epsilon.Share(1, 2)
		m.Value = epsilon.Minus(m.Epsilon)
	}
	threshold, query, value, err := m.Noise()
	if err != nil {
		return m, unusable(err)
	}
	s.look.mechanisms = []ledger.Mechanism{s.part("threshold", threshold, 0), s.part("questions", query, m.Positives)}
	if value != nil {
		s.look.mechanisms = append(s.look.mechanisms, s.part("values", *value, m.Positives))
	}
	s.look.key = newID() // a stream is never replayed: its noise lives in this process
	return m, nil
}

// part is one of a stream's three noises, for the ledger.
func (s *Stream) part(name string, d noise.DiscreteLaplace, cells int) ledger.Mechanism {
	return ledger.Mechanism{Name: SparseVector + ": " + name, Sensitivity: s.moves.String(), Scale: exact.FormatRat(d.Scale()), Cells: cells}
}

// Ask tells whether a question's count or sum is above the threshold. The question is as one of Select, without groups: SELECT
// COUNT(*) FROM visits WHERE cost > 5. Refusals are free, and leave the stream as it was; after a failure it has ended. Where answers have an instant,
// each verdict has its own, and is recorded then.
func (s *Stream) Ask(ctx context.Context, sql string) (*Verdict, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, &Error{Code: CodeUsage, Message: "the stream has ended", Hint: "open another one"}
	}
	arrival := s.curator.clock.Now() // once the question before it has its verdict
	t, err := s.plan(sql)
	if err != nil {
		return nil, s.curator.public(err)
	}
	at, err := s.curator.instantOf(&look{bounded: &t.Statement}, arrival)
	if err != nil {
		return nil, err
	}
	release, err := s.curator.hold(ctx, s.look.tables)
	if err != nil {
		return nil, s.curator.public(err)
	}
	defer release()
	from := s.curator.from(s.look)
	if err := s.curator.rehearse(ctx, s.look.analyst, from, &t.Statement); err != nil {
		return nil, err
	}
	if err := s.curator.begins(at); err != nil {
		return nil, err
	}
	numbers, err := watched(ctx, s.curator, at, from, func(ctx context.Context, from engine.Sealed) ([][]*big.Int, error) {
		return s.answer(ctx, t, from)
	})
	if err != nil {
		s.ended = true
		return nil, s.curator.lost(ctx, at, s.id, err)
	}
	s.asked++
	if err := s.record(sql, numbers); err != nil {
		s.ended = true
		return nil, s.curator.charged(err)
	}
	return s.verdict(numbers[0]), nil
}

// plan plans one question, and refuses what the stream's price does not cover.
func (s *Stream) plan(sql string) (*plan.Target, error) {
	t, err := plan.BuildScores(s.curator.filled(), plan.Request{SQL: sql, Price: s.target.Price})
	if err != nil {
		return nil, err
	}
	refused := func(message, hint string) error { return &Error{Code: CodePolicy, Message: message, Hint: hint} }
	t.Part = nil // the stream is charged to everybody: nothing need be dropped
	m := t.Measures[0]
	switch {
	case t.Source != nil:
		return nil, refused("a question of a stream is about one table, without joins, UNION ALL and aggregates in subqueries", "ask it outside the stream")
	case t.Table != s.target.Table:
		return nil, refused(fmt.Sprintf("this stream is about table %q", s.target.Table), "open another one")
	case t.Cells() != 1 || len(t.Keys) > 0:
		return nil, refused("a question of a stream has no groups", "ask about one after the other")
	case m.Grid != 0:
		return nil, refused("a threshold is for whole numbers", "ask for a count, or for a sum of integers")
	case t.Sensitivity.Cmp(s.moves) > 0:
		return nil, refused(fmt.Sprintf("one unit can move this by %s, and a question of this stream by %s at most", t.Sensitivity, s.moves), "narrow it, or open a stream with a larger Most")
	case t.Neighbours == privacy.AddRemove && m.Lo < 0:
		return nil, refused("a question of a stream adds up what is not negative", "bound it: GREATEST(x, 0)")
	}
	state, err := s.curator.ledger.State()
	if err != nil {
		return nil, err
	}
	if err := state.Suspended(s.look.analyst); err != nil {
		return nil, err
	}
	table, err := s.curator.current(t.Table)
	if err != nil {
		return nil, err
	}
	if table.Number != s.look.tables[0].Number {
		return nil, &Error{Code: CodeStale, Message: "the table was sealed again since the stream began", Hint: "open another one"}
	}
	return t, nil
}

// answer looks at the rows, and gives what leaves: whether it is above, and the gap and the value, or −1 and 0 where there is none.
func (s *Stream) answer(ctx context.Context, t *plan.Target, from engine.Sealed) ([][]*big.Int, error) {
	cells, err := s.curator.engine.Aggregate(ctx, &t.Statement, from)
	if err != nil {
		return nil, err
	}
	a, err := s.session.Ask(cells[0][0], s.threshold)
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

// record makes a verdict durable: as a step, or as the stream's release where it is the last.
func (s *Stream) record(sql string, numbers [][]*big.Int) error {
	if s.session.Left() > 0 && s.asked < s.most {
		return s.curator.ledger.Step(ledger.Step{Reservation: s.id, Question: sql, Values: encode(numbers)})
	}
	s.ended = true
	return s.curator.ledger.Release(s.id, encode(numbers))
}

func (s *Stream) verdict(row []*big.Int) *Verdict {
	v := &Verdict{ID: fmt.Sprintf("r%d.%d", s.id, s.asked), Above: row[0].Sign() > 0}
	if !s.ended {
		v.Left = s.session.Left()
	}
	if v.Above {
		v.Gap = wholeNumber(row[1])
		if s.hasValues {
			v.Value = wholeNumber(row[2])
		}
	}
	return v
}

// Close ends the stream. What it cost stays spent.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	s.ended = true
	if err := s.curator.ledger.Release(s.id, encode(nil)); err != nil {
		return s.curator.charged(err)
	}
	return nil
}
