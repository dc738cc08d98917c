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

// Threshold opens a [Stream]: a sequence of questions, each answered with above or below one threshold.
type Threshold struct {
	Table        string // the table that all questions of the stream are about
	Threshold    string // the threshold, a whole number in decimal digits
	Above        int    // the stream ends after this many questions above the threshold; 0 means 1
	Epsilon, Rho string // the price of the whole stream, as in Question
	Analyst      string
	// Most is the largest amount by which one unit may change a question's count or sum. 0 means the sensitivity of
	// COUNT(*). A question with a larger sensitivity is refused, free.
	Most int64
	// Questions is the largest number of questions; 0 means 100, or Above if that is more. Questions below the
	// threshold add no cost. Each question adds to the probability that a verdict is wrong.
	Questions int
	// Values requests a noisy number for each question above the threshold. It takes half of the price.
	Values bool
}

// Stream answers questions against one threshold until the limit on questions, or on questions above, is reached.
// Several goroutines may use it. It lives in this process only: when the process ends, the price of unused
// questions stays spent.
type Stream struct {
	// With probability 95 %, all verdicts together are right within Accuracy: "above" means at least the threshold
	// minus Accuracy, and "below" means less than the threshold plus Accuracy.
	Accuracy *Number
	Price    Loss
	curator  *Session
	stream   *release.Stream
	values   bool
}

// Verdict is the answer to one question of a Stream.
type Verdict struct {
	ID    string // the name of the stream's reservation in the ledger, with the number of the question
	Above bool
	Gap   *Number // if Above: the noisy number minus the noisy threshold, at no further cost; else nil
	Value *Number // if Above and Threshold.Values: the question's number with independent noise; else nil
	Left  int     // how many more questions may be above; 0 when the stream has ended
}

// Above opens a stream of counts or sums against a threshold, by the sparse vector technique with gaps. It reserves
// the whole price at once, whatever questions follow. Each verdict is recorded before it is returned.
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

// stream plans everything that is the same for all questions of a stream.
func (c *Session) stream(t Threshold) (*Stream, error) {
	usage := func(message, hint string) error { return &Error{Code: CodeUsage, Message: message, Hint: hint} }
	threshold, err := exact.ParseDecimal(t.Threshold)
	if err != nil || !threshold.IsInt() {
		return nil, usage("the threshold must be a whole number", "such as 100")
	}
	if t.Above < 0 || t.Above > maxQuestions || t.Questions < 0 || t.Questions > maxQuestions {
		return nil, usage(
			fmt.Sprintf("Questions and Above must be between 1 and %d", maxQuestions),
			"use 0 for the default",
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
			"the table of a stream must declare its unit itself, not through a reference",
			"use the table that it refers to",
		)
	}
	terms.Moves = target.Sensitivity
	if t.Most < 0 {
		return nil, usage("Most must be at least 1", "leave Most out")
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

// maxQuestions is the largest number of questions in a stream.
const maxQuestions = 10_000

// Ask reports whether a question's count or sum is above the threshold. The question is like one of
// [Session.Select], without groups: SELECT COUNT(*) FROM visits WHERE cost > 5. A refusal is free and leaves the
// stream as it was. A failure ends the stream. If the policy has an answer_delay, each verdict has its own release
// time, and is recorded then.
func (s *Stream) Ask(ctx context.Context, sql string) (*Verdict, error) {
	s.curator.timed(&sql)
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

// Close ends the stream. Its price stays spent.
func (s *Stream) Close() error {
	if err := s.stream.Close(); err != nil {
		return s.curator.public(err)
	}
	return nil
}
