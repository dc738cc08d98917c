package curator

import (
	"context"
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/query"
	"dither/internal/release"
	"dither/privacy"
)

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
	// with 95 % for all questions together: above is at least the threshold minus this, and below, under it plus
	// this
	Accuracy *Number
	Price    Loss
	curator  *Session
	stream   *release.Stream
	values   bool // they were asked for
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
func (c *Session) Above(ctx context.Context, t Threshold) (*Stream, error) {
	if err := c.asks(&t.Analyst); err != nil {
		return nil, err
	}
	s, err := c.stream(t)
	if err != nil {
		return nil, c.public(err)
	}
	alpha, err := s.stream.Accuracy(0.05)
	if err != nil {
		return nil, unusable(err)
	}
	s.Accuracy, s.Price = wholeNumber(alpha), c.loss(s.stream.Look().Price())
	if err := s.stream.Open(ctx); err != nil {
		return nil, c.public(err)
	}
	return s, nil
}

// stream plans what is the same for all questions.
func (c *Session) stream(t Threshold) (*Stream, error) {
	usage := func(message, hint string) error { return &Error{Code: CodeUsage, Message: message, Hint: hint} }
	threshold, err := exact.ParseDecimal(t.Threshold)
	if err != nil || !threshold.IsInt() {
		return nil, usage("the threshold is a whole number", "such as 100")
	}
	if t.Above < 0 || t.Above > maxQuestions || t.Questions < 0 || t.Questions > maxQuestions {
		return nil, usage(
			fmt.Sprintf("Questions, and how many of them may be Above, are between 1 and %d", maxQuestions),
			"0 is the default",
		)
	}
	terms := release.StreamTerms{
		Threshold: threshold.Num(),
		Positives: max(t.Above, 1),
		Questions: t.Questions,
		Values:    t.Values,
	}
	if terms.Questions == 0 {
		terms.Questions = max(100, t.Above)
	}
	q := Question{
		SQL:     "SELECT COUNT(*) FROM " + query.QuoteName(t.Table),
		Epsilon: t.Epsilon,
		Rho:     t.Rho,
		Analyst: t.Analyst,
	}
	request, err := c.request(q)
	if err != nil {
		return nil, err
	}
	target, err := plan.BuildScores(c.filled(), request)
	if err != nil {
		return nil, err
	}
	if target.Source != nil {
		return nil, usage(
			"a stream is about one table whose rows have a unit of their own",
			"ask about the table that it refers to",
		)
	}
	terms.Moves = target.Sensitivity
	if t.Most < 0 {
		return nil, usage("one unit moves a number by at least 1", "leave it out")
	} else if t.Most > 0 {
		terms.Moves = big.NewInt(t.Most)
	}
	by := release.Asker{Analyst: q.Analyst, Fresh: q.Fresh}
	by.Question = fmt.Sprintf(
		"stream about %s: above %s, %d times",
		query.QuoteName(t.Table),
		terms.Threshold,
		terms.Positives,
	)
	s, err := c.kernel.Stream(target, terms, by)
	if err != nil {
		return nil, err
	}
	return &Stream{curator: c, stream: s, values: t.Values}, nil
}

// maxQuestions bounds how long a stream may be.
const maxQuestions = 10_000

// Ask tells whether a question's count or sum is above the threshold. The question is as one of Select, without groups: SELECT
// COUNT(*) FROM visits WHERE cost > 5. Refusals are free, and leave the stream as it was; after a failure it has ended. Where answers have an instant,
// each verdict has its own, and is recorded then.
func (s *Stream) Ask(ctx context.Context, sql string) (*Verdict, error) {
	v, err := s.stream.Ask(ctx, sql, func(price privacy.Loss) (*plan.Target, error) {
		return plan.BuildScores(s.curator.filled(), plan.Request{SQL: sql, Price: price})
	})
	if err != nil {
		return nil, s.curator.public(err)
	}
	out := &Verdict{ID: v.Name, Above: v.Above, Left: v.Left}
	if v.Above {
		out.Gap = wholeNumber(v.Gap)
		if s.values {
			out.Value = wholeNumber(v.Value)
		}
	}
	return out, nil
}

// Close ends the stream. What it cost stays spent.
func (s *Stream) Close() error {
	if err := s.stream.Close(); err != nil {
		return s.curator.public(err)
	}
	return nil
}
