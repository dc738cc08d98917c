package audit

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
)

// Replayable is a mechanism that takes all its randomness from random. It runs on one side, and returns its output
// as numbers. It may call step to record what it does, for example the branch that it takes. Steps are compared as
// texts. It should read no more bytes than it needs: if it reads through a buffer, the comparison of reads sees
// only blocks.
type Replayable func(side Side, random io.Reader, step func(string)) ([]*big.Rat, error)

// Reading is the record of one side's run.
type Reading struct {
	Reads  []int // the number of bytes that each read requested
	Steps  []string
	Output []*big.Rat // nil if the mechanism failed
}

// Bytes returns the number of bytes that all reads together requested.
func (r Reading) Bytes() (total int64) {
	for _, n := range r.Reads {
		total += int64(n)
	}
	return total
}

// Replayed is the result of [Replay]: the records of two runs with the same randomness.
type Replayed struct {
	Data, Neighbor Reading
	Unread         int64 // bytes of the recording that the neighbour's run did not read
	Exhausted      bool  // whether the neighbour's run requested more bytes than were recorded
}

// Distances measures how far apart two outputs are. Of the differences of their numbers it holds the sum of
// absolute values, the sum of squares, and the largest absolute value. The same type declares sensitivities, as
// limits on these distances. A nil limit means that none is declared.
type Distances struct{ L1, L2Squared, LInf *big.Rat }

// The findings of [Replayed.Check].
var (
	ErrExhausted = errors.New("the neighbour reads more randomness than was recorded")
	ErrUnread    = errors.New("the neighbour leaves recorded randomness unread")
	ErrReads     = errors.New("the neighbour reads randomness in other portions")
	ErrSteps     = errors.New("the steps differ")
	ErrLengths   = errors.New("the outputs have different lengths")
	ErrApart     = errors.New("the outputs differ by more than declared")
)

// Replay runs m on the data with fresh bytes from random, and records the bytes. Then it runs m on the neighbour
// with the recorded bytes. It returns an error if random fails, or if m fails. If the neighbour's run needs more
// bytes than were recorded, that is not an error but a finding of [Replayed.Check].
//
// The result is exact, for these two datasets and these bytes. Consider a mechanism that adds noise of a fixed
// distribution to an exact answer, and draws the same noise on both datasets. The noise cancels, so the difference
// of the two outputs is the difference of the exact answers. If it exceeds the declared sensitivity for one pair of
// neighbours, the declaration is wrong, whatever the noise. So refuting a sensitivity needs no statistics.
//
// The promise of such a mechanism holds if two conditions are met. The difference is within the sensitivity for
// pairs that include the worst pair. And the noise has the declared distribution, which Replay does not check.
// Replay does not find the worst pair: the caller chooses the pair.
//
// Equal reads and steps show, for this pair, that the differing row changed neither the choice of noise nor what
// the mechanism recorded and charged. Unequal ones do not prove a leak. The number of bits that a rejection sampler
// draws may depend on its parameter. A mechanism that chooses, such as the exponential mechanism, need not return
// the same output on neighbours for the same bytes. To check such a mechanism, compare its output distributions
// instead (package channel).
func Replay(m Replayable, random io.Reader) (*Replayed, error) {
	out := new(Replayed)
	recorder := &recorder{from: random}
	if err := out.Data.run(m, Data, recorder, &recorder.reads); err != nil {
		return nil, fmt.Errorf("on the data: %w", err)
	}
	replayer := &replayer{left: recorder.bytes}
	err := out.Neighbor.run(m, Neighbor, replayer, &replayer.reads)
	out.Unread, out.Exhausted = int64(len(replayer.left)), replayer.short > 0
	if err != nil && !out.Exhausted {
		return nil, fmt.Errorf("on the neighbour: %w", err)
	}
	return out, nil
}

// run runs m on one side and fills r. If m runs out of recorded bytes so often that the replayer panics, run
// returns ErrExhausted.
func (r *Reading) run(m Replayable, side Side, random io.Reader, reads *[]int) (err error) {
	defer func() {
		r.Reads = *reads
		switch p := recover(); p {
		case nil:
		case ErrExhausted:
			r.Output, err = nil, ErrExhausted
		default:
			panic(p)
		}
	}()
	output, err := m(side, random, func(what string) { r.Steps = append(r.Steps, what) })
	if err != nil {
		return err
	}
	if slices.Contains(output, nil) {
		return errors.New("an output is nil")
	}
	r.Output = output
	return nil
}

// Distance returns the exact distances between two outputs, or [ErrLengths] if their lengths differ.
func Distance(a, b []*big.Rat) (Distances, error) {
	if len(a) != len(b) {
		return Distances{}, fmt.Errorf("%w: %d and %d numbers", ErrLengths, len(a), len(b))
	}
	out := Distances{new(big.Rat), new(big.Rat), new(big.Rat)}
	for i := range a {
		d := new(big.Rat).Sub(a[i], b[i])
		d.Abs(d)
		out.L1.Add(out.L1, d)
		out.L2Squared.Add(out.L2Squared, new(big.Rat).Mul(d, d))
		if d.Cmp(out.LInf) > 0 {
			out.LInf = d
		}
	}
	return out, nil
}

// Within returns an error that joins an [ErrApart] for each distance above its declared limit.
func (d Distances) Within(declared Distances) error {
	var found []error
	for _, norm := range []struct {
		name        string
		is, allowed *big.Rat
	}{{"L1", d.L1, declared.L1}, {"squared L2", d.L2Squared, declared.L2Squared}, {"L∞", d.LInf, declared.LInf}} {
		if norm.is != nil && norm.allowed != nil && norm.is.Cmp(norm.allowed) > 0 {
			found = append(found, fmt.Errorf("%w: by %s in %s, but %s is declared",
				ErrApart, norm.is.RatString(), norm.name, norm.allowed.RatString()))
		}
	}
	return errors.Join(found...)
}

// SameFlow returns an error for each difference between the reads or the steps of the two runs: ErrExhausted,
// ErrUnread, ErrReads and ErrSteps, joined.
func (r *Replayed) SameFlow() error {
	var found []error
	a, b := r.Data, r.Neighbor
	if r.Exhausted {
		found = append(found, fmt.Errorf("%w: %d bytes were recorded, and it reads "+
			"%d", ErrExhausted, a.Bytes(), b.Bytes()))
	}
	if r.Unread > 0 {
		found = append(found, fmt.Errorf("%w: %d bytes of %d", ErrUnread, r.Unread, a.Bytes()))
	}
	if i := differ(a.Reads, b.Reads); i >= 0 {
		found = append(found, fmt.Errorf("%w: %d and %d reads, of which read %d is the first that differs",
			ErrReads, len(a.Reads), len(b.Reads), i+1))
	}
	if i := differ(a.Steps, b.Steps); i >= 0 {
		found = append(found, fmt.Errorf("%w: step %d is %s on the data, and %s on the neighbour",
			ErrSteps, i+1, stepAt(a.Steps, i), stepAt(b.Steps, i)))
	}
	return errors.Join(found...)
}

// Apart returns the distances between the outputs of the two runs, or [ErrLengths].
func (r *Replayed) Apart() (Distances, error) { return Distance(r.Data.Output, r.Neighbor.Output) }

// Check returns the errors of [Replayed.SameFlow], joined with those of comparing the outputs with the declared
// distances.
func (r *Replayed) Check(declared Distances) error {
	apart, err := r.Apart()
	if err == nil {
		err = apart.Within(declared)
	}
	return errors.Join(r.SameFlow(), err)
}

// differ returns the first index at which two lists differ, or −1 if they are equal.
func differ[T int | string](a, b []T) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}

func stepAt(steps []string, i int) string {
	if i < len(steps) {
		return fmt.Sprintf("%q", steps[i])
	}
	return "missing"
}

// Integers returns integers as the output of a [Replayable]. A nil integer stays nil, which [Replay] refuses.
func Integers(values ...*big.Int) []*big.Rat {
	out := make([]*big.Rat, len(values))
	for i, v := range values {
		if v != nil {
			out[i] = new(big.Rat).SetInt(v)
		}
	}
	return out
}

// Floats returns floating-point numbers, exactly, as the output of a [Replayable]. NaN and infinities are an error.
func Floats(values ...float64) ([]*big.Rat, error) {
	out := make([]*big.Rat, len(values))
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("output %d is %g, which has no distance", i+1, v)
		}
		out[i] = new(big.Rat).SetFloat64(v)
	}
	return out, nil
}

// recorder is a reader that records the bytes that it reads from another reader.
type recorder struct {
	from  io.Reader
	bytes []byte
	reads []int
}

// Read fills all of p, so that the mechanism alone decides the length of each read.
func (r *recorder) Read(p []byte) (int, error) {
	n, err := io.ReadFull(r.from, p)
	r.bytes, r.reads = append(r.bytes, p[:n]...), append(r.reads, len(p))
	if err != nil {
		return n, fmt.Errorf("the source of randomness: %w", err)
	}
	return n, nil
}

// replayer is a reader that returns recorded bytes.
type replayer struct {
	left  []byte
	reads []int
	short int // the number of reads that failed
}

// patience is the number of reads of a [replayer] that may fail. One more panics, to stop a mechanism that ignores
// errors.
const patience = 1000

// Read fills all of p, or returns [ErrExhausted].
func (r *replayer) Read(p []byte) (int, error) {
	if r.short == 0 {
		r.reads = append(r.reads, len(p))
	}
	if len(p) > len(r.left) {
		if r.short++; r.short > patience {
			panic(ErrExhausted)
		}
		return 0, ErrExhausted
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}
