package collector

import (
	"encoding/binary"
	"fmt"
	"math"

	"dither/local"
	"dither/local/mean"
	"dither/local/survey"
)

// tally counts the reports about a question.
type tally interface {
	add(report []byte) error
	merge(tally) error
	// fold returns the number of all reports, and what remains of them in bytes.
	fold() (n int64, kept []byte, err error)
	unfold(n int64, kept []byte) error
	results(q *survey.Question, confidence float64, malicious int64) (QuestionResults, error)
}

func newTally(q *survey.Question) tally {
	if q.Numbers != nil {
		return numbers{q.Numbers.NewTally(), q.Numbers}
	}
	return values{q.Oracle.NewTally(), q.Oracle}
}

// values counts the senders with each value.
type values struct {
	*local.Tally
	oracle *local.Oracle
}

func (v values) add(report []byte) error { return v.Add(report) }
func (v values) merge(other tally) error { return v.Merge(other.(values).Tally) }

func (v values) fold() (n int64, kept []byte, err error) {
	f, err := v.Fold()
	return f.Reports, packed(f.Support), err
}

func (v values) unfold(n int64, kept []byte) error {
	counts, ok := unpacked(kept)
	if !ok {
		return local.ErrParameter
	}
	return v.AddFolded(local.Folded{Reports: n, Support: counts})
}

func (v values) results(q *survey.Question, confidence float64, malicious int64) (QuestionResults, error) {
	out := QuestionResults{Question: q}
	var err error
	if out.Estimates, err = v.Estimate(confidence); err != nil {
		return out, err
	}
	out.Down, out.Up = v.oracle.Influence()
	out.Suspect, err = v.Suspect(malicious, confidence, out.Estimates)
	return out, err
}

// numbers averages the senders' numbers.
type numbers struct {
	*mean.Tally
	r *mean.Randomizer
}

func (v numbers) add(report []byte) error {
	r, err := v.r.Unpack(report)
	if err != nil {
		return err
	}
	return v.Add(r)
}

func (v numbers) merge(other tally) error { return v.Merge(other.(numbers).Tally) }

func (v numbers) fold() (n int64, kept []byte, err error) {
	f := v.Fold()
	kept = binary.BigEndian.AppendUint64(nil, math.Float64bits(f.Mean))
	return f.Reports, binary.BigEndian.AppendUint64(kept, math.Float64bits(f.Squares)), nil
}

func (v numbers) unfold(n int64, kept []byte) error {
	if len(kept) != 16 {
		return fmt.Errorf("%w: the averages have 16 bytes", mean.ErrParameter)
	}
	return v.AddFolded(mean.Folded{
		Reports: n,
		Mean:    math.Float64frombits(binary.BigEndian.Uint64(kept)),
		Squares: math.Float64frombits(binary.BigEndian.Uint64(kept[8:])),
	})
}

func (v numbers) results(q *survey.Question, confidence float64, malicious int64) (QuestionResults, error) {
	e, err := v.Estimate(confidence)
	if err != nil {
		return QuestionResults{}, err
	}
	suspect, err := v.Suspect(malicious, confidence, e)
	if err != nil {
		return QuestionResults{}, err
	}
	center, half := q.Scale()
	scaled := func(e mean.Estimate) *mean.Estimate {
		return &mean.Estimate{
			N: e.N, Mean: center + half*e.Mean, Stddev: half * e.Stddev, Low: center + half*e.Low, High: center + half*e.High,
		}
	}
	one := 2 * half * v.r.Largest() / float64(max(e.N, 1))
	return QuestionResults{Question: q, Mean: scaled(e), SuspectMean: scaled(suspect), Down: one, Up: one}, nil
}
