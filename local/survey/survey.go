// Package survey declares surveys in the local model: questions, each with its values or bounds, its randomizer and its
// ε, and the time in which reports are accepted. Parse reads a declaration in YAML. A person's device makes a Report
// about all questions with Survey.Randomize. Reports travel as JSON or in a binary form, and are checked against the declaration
// when they are read.
//
// A report carries the digest of its survey. So a report that was made for other questions, values, mechanisms or ε is
// refused as a report of another survey.
package survey

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"time"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/local"
	"dither/local/mean"
	"dither/privacy"
)

var (
	// ErrSurvey reports a declaration that is invalid. Its text has the number of the line.
	ErrSurvey = errors.New("invalid survey")
	// ErrValue reports an answer that is not among the values of its question.
	ErrValue = errors.New("value outside the domain")
)

// FormVersion is the version of the declaration's form and of the forms of reports.
const FormVersion = 1

// Limits of a survey.
const (
	MaxQuestions = 64
	MaxReport    = 1 << 20 // bytes of a report in the binary form
	MaxReports   = 1 << 20 // of a device in its lifetime
)

// Survey is a declaration. Use Parse to create it, and do not change it.
type Survey struct {
	Name      string
	Version   int64 // raised by the author for each change
	Questions []Question
	Opens     time.Time     // the zero time if reports are accepted from the start
	Closes    time.Time     // the zero time if reports are accepted for ever
	Skew      time.Duration // the allowance for clocks, before Opens and after Closes
	Reports   int64         // the most reports that a device sends in its lifetime
	Fold      time.Duration // the age at which stored reports become counts; 0 for never

	digest [DigestSize]byte
	size   int // of a report's answers, in bytes
}

// DigestSize is the number of bytes of a digest.
const DigestSize = 16

// Question is a question with its values and its randomizer, or with the bounds of a number and its randomizer.
type Question struct {
	Name   string   // letters, digits, _ and -
	Text   string   // for people; may be empty
	Values []string // nil for the numbers 0 … k − 1
	Oracle *local.Oracle

	Numbers   *mean.Randomizer // instead of Oracle, if the answer is a number whose mean is estimated
	Low, High string           // its bounds, as decimal texts: numbers beyond them are clamped

	index     map[string]uint64
	low, high *big.Rat
	size      int // of a report, in bytes
}

// Answer is a person's answer to a question: a value, or for a question with Numbers, a number that is scaled to −1 … 1.
type Answer struct {
	Value  uint64
	Number float64
}

// Size returns the number of bytes of a report.
func (q *Question) Size() int { return q.size }

// Bits returns the number of bits of a report.
func (q *Question) Bits() int {
	if q.Numbers != nil {
		return q.Numbers.Bits()
	}
	return q.Oracle.Bits()
}

// Mechanism returns the name of the mechanism.
func (q *Question) Mechanism() string {
	if q.Numbers != nil {
		return string(q.Numbers.Params().Mechanism)
	}
	return q.Oracle.Params().Mechanism
}

// Scale returns the center of the bounds of a number, and half of their distance.
func (q *Question) Scale() (center, half float64) {
	low, _ := q.low.Float64()
	high, _ := q.high.Float64()
	return (low + high) / 2, (high - low) / 2
}

// AnswerOf returns the answer with a text. The error is ErrValue.
func (q *Question) AnswerOf(text string) (Answer, error) {
	if q.Numbers == nil {
		v, err := q.ValueOf(text)
		return Answer{Value: v}, err
	}
	x, err := exact.ParseDecimal(text)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %s is no decimal number, for %s", ErrValue, shown(text), q.Name)
	}
	span := new(big.Rat).Sub(q.high, q.low)
	x.Sub(x, q.low)
	x.Quo(x.Add(x, x), span).Sub(x, big.NewRat(1, 1))
	f, _ := x.Float64()
	return Answer{Number: min(max(f, -1), 1)}, nil
}

// randomize returns a report about an answer.
func (q *Question) randomize(a Answer) ([]byte, error) {
	if q.Numbers == nil {
		return q.Oracle.Randomize(a.Value)
	}
	reports, err := q.Numbers.Randomize([]float64{a.Number})
	if err != nil {
		return nil, err
	}
	return q.Numbers.Pack(reports[0])
}

// check refuses bytes that the randomizer never sends.
func (q *Question) check(report []byte) error {
	if q.Numbers == nil {
		return q.Oracle.Check(report)
	}
	_, err := q.Numbers.Unpack(report)
	return err
}

// ValueName returns the text of a value.
func (q *Question) ValueName(v uint64) string {
	if q.Values == nil {
		return fmt.Sprint(v)
	}
	return q.Values[v]
}

// ValueOf returns the value with a text. The error is ErrValue.
func (q *Question) ValueOf(text string) (uint64, error) {
	if q.Values != nil {
		if v, ok := q.index[text]; ok {
			return v, nil
		}
		return 0, fmt.Errorf("%w: %q is not a value of %s", ErrValue, text, q.Name)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n >= q.Oracle.Params().Values {
		return 0, fmt.Errorf("%w: %q is no number from 0 to %d, of %s", ErrValue, text, q.Oracle.Params().Values-1, q.Name)
	}
	return n, nil
}

// lnThree is ln 3 rounded up, the ε of "coin".
var lnThree = func() privacy.Epsilon {
	e, err := privacy.ParseEpsilon("1.0986123")
	if err != nil {
		panic(err) // it is positive
	}
	return e
}()

// Epsilon returns the ε of one report about the question, or ε∞ of mechanisms with memory.
func (q *Question) Epsilon() privacy.Epsilon {
	if q.Numbers != nil {
		return q.Numbers.Params().Epsilon
	}
	if q.Oracle.Params().Mechanism == "coin" {
		return lnThree
	}
	return q.Oracle.Params().Epsilon
}

// Lifetime returns the ε of all reports of a device about the question: ε for each report. With memory, it is ε∞ for
// each report or state of the value, whichever are fewer, in the sense of local.Device.
func (q *Question) Lifetime(reports int64) privacy.Epsilon {
	if q.Numbers != nil {
		return q.Epsilon().Times(reports)
	}
	if states, _, err := q.Oracle.States(); err == nil && states < uint64(reports) {
		reports = int64(states)
	}
	return q.Epsilon().Times(reports)
}

// Epsilon returns the ε of one report about all questions: the sum over the questions. The answers of a person may
// depend on each other, so their ε add up.
func (s *Survey) Epsilon() privacy.Epsilon {
	return s.sum(func(q *Question) privacy.Epsilon { return q.Epsilon() })
}

// Lifetime returns the ε of all reports of a device, the sum over the questions. The collector does not know which
// reports are of one device. The devices keep to Survey.Reports.
func (s *Survey) Lifetime() privacy.Epsilon {
	return s.sum(func(q *Question) privacy.Epsilon { return q.Lifetime(s.Reports) })
}

func (s *Survey) sum(of func(*Question) privacy.Epsilon) (total privacy.Epsilon) {
	for i := range s.Questions {
		total = total.Plus(of(&s.Questions[i]))
	}
	return total
}

// Digest identifies the survey: the first 16 bytes of the SHA-256 hash of its public form without the digest. So it
// covers everything but the retention.
func (s *Survey) Digest() [DigestSize]byte { return s.digest }

// DigestText returns the digest in hexadecimal digits.
func (s *Survey) DigestText() string { return hex.EncodeToString(s.digest[:]) }

// Size returns the number of bytes of a report's answers.
func (s *Survey) Size() int { return s.size }

// seal computes the sizes and the digest.
func (s *Survey) seal() error {
	for i := range s.Questions {
		q := &s.Questions[i]
		q.size = (q.Bits() + 7) / 8
		if s.size += q.size; s.size > MaxReport {
			return fmt.Errorf("%w: a report has more than %d bytes at question %s", ErrSurvey, MaxReport, q.Name)
		}
	}
	text, err := json.Marshal(s.public(""))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	s.digest = [DigestSize]byte(sum[:])
	return nil
}

// Randomize returns a report of a person with these answers, one for each question. The error is ErrValue. Questions with
// memory get a fresh memory: for repeated questions use local.Device.
func (s *Survey) Randomize(answers []Answer) (Report, error) {
	if len(answers) != len(s.Questions) {
		return Report{}, fmt.Errorf("%w: there are %d answers to %d questions", ErrValue, len(answers), len(s.Questions))
	}
	r := Report{ID: newID()}
	for i := range s.Questions {
		answer, err := s.Questions[i].randomize(answers[i])
		if err != nil {
			return Report{}, fmt.Errorf("%w: %s: %w", ErrValue, s.Questions[i].Name, err)
		}
		r.Answers = append(r.Answers, answer)
	}
	return r, nil
}

// newID returns random bytes.
func newID() (id ID) {
	source := entropy.System()
	defer source.Wipe()
	for i := range id {
		id[i] = byte(source.Bits(8))
	}
	return id
}
