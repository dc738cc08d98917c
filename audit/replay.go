package audit

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
)

// Replayable is a mechanism whose only source of chance is what it reads from random: it runs on one side, and gives
// its output as numbers. It may call step to say where it is (a branch taken, a row of its log); steps are compared as
// texts. It should read what it needs and no more: through a buffer, reads tell of blocks alone.
type Replayable func(side Side, random io.Reader, step func(string)) ([]*big.Rat, error)

// Reading is how one side ran.
type Reading struct {
	Reads  []int // how many bytes each read asked for
	Steps  []string
	Output []*big.Rat // nil where the mechanism failed
}

// Bytes is how many bytes were asked for.
func (r Reading) Bytes() (total int64) {
	for _, n := range r.Reads {
		total += int64(n)
	}
	return total
}

// Replayed is what Replay found: both runs on the same randomness.
type Replayed struct {
	Data, Neighbor Reading
	Unread         int64 // bytes of the recording that the neighbour did not read
	Exhausted      bool  // the neighbour asked for more than was recorded
}

// Distances are how far two outputs are apart: the sum, the sum of squares and the largest of the magnitudes of the
// differences. As sensitivities, how far they may be: nil is not declared.
type Distances struct{ L1, L2Squared, LInf *big.Rat }

// What Check finds.
var (
	ErrExhausted = errors.New("the neighbour asks for more randomness than was recorded")
	ErrUnread    = errors.New("the neighbour leaves recorded randomness unread")
	ErrReads     = errors.New("randomness is read in another way")
	ErrSteps     = errors.New("the steps differ")
	ErrLengths   = errors.New("the outputs are not as long as each other")
	ErrApart     = errors.New("the outputs are further apart than declared")
)

// Replay runs m on the data, with fresh bytes of random, which it records, and then on the neighbour with the same
// bytes again. An error is one of random's or of m's own; a neighbour that runs out of bytes is no error but a finding
// (Check).
//
// What it shows is exact, and is about these two data sets and these bytes. For a mechanism that adds noise of one
// fixed distribution to an exact answer, with the same draws whatever the data, the difference of the two outputs is
// the difference of the exact answers, the noise having cancelled: if that is beyond the declared sensitivity for one
// pair of neighbours, the promise is broken, whatever the noise; a sensitivity needs no statistics to be refuted. Where
// it is within for pairs that include the worst one, and the noise is of the declared law (which Replay does not look
// at), the promise holds. It does not find the worst pair: that is the caller's to choose.
//
// That reads and steps are the same shows that on this pair neither the choice of noise nor what is recorded and
// charged depended on the differing row. The converse is no proof of a leak: a sampler by rejection may draw a number
// of bits that depends on its parameter, and a mechanism that chooses (an exponential mechanism, say) need not give
// neighbours the same output on the same bytes. What matters there is its law, which is checked otherwise (package
// channel).
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

// run is one side's run.
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

// Distance is how far two outputs are apart, exactly. Those of different lengths are ErrLengths.
func Distance(a, b []*big.Rat) (Distances, error) {
	if len(a) != len(b) {
		return Distances{}, fmt.Errorf("%w: %d numbers and %d", ErrLengths, len(a), len(b))
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

// Within reports each way in which a distance is beyond what is declared, as ErrApart.
func (d Distances) Within(declared Distances) error {
	var found []error
	for _, norm := range []struct {
		name        string
		is, allowed *big.Rat
	}{{"L1", d.L1, declared.L1}, {"squared L2", d.L2Squared, declared.L2Squared}, {"L∞", d.LInf, declared.LInf}} {
		if norm.is != nil && norm.allowed != nil && norm.is.Cmp(norm.allowed) > 0 {
			found = append(found, fmt.Errorf("%w: by %s in %s, where %s is declared",
				ErrApart, norm.is.RatString(), norm.name, norm.allowed.RatString()))
		}
	}
	return errors.Join(found...)
}

// SameFlow reports each way in which the two runs differ in what they read and in their steps, of ErrExhausted,
// ErrUnread, ErrReads and ErrSteps.
func (r *Replayed) SameFlow() error {
	var found []error
	a, b := r.Data, r.Neighbor
	if r.Exhausted {
		found = append(found, fmt.Errorf("%w: %d bytes were, of %d", ErrExhausted, a.Bytes(), b.Bytes()))
	}
	if r.Unread > 0 {
		found = append(found, fmt.Errorf("%w: %d bytes of %d", ErrUnread, r.Unread, a.Bytes()))
	}
	if i := differ(a.Reads, b.Reads); i >= 0 {
		found = append(found, fmt.Errorf("%w: %d reads and %d, the first other one is read %d",
			ErrReads, len(a.Reads), len(b.Reads), i+1))
	}
	if i := differ(a.Steps, b.Steps); i >= 0 {
		found = append(found, fmt.Errorf("%w: step %d is %s, and for the neighbour %s",
			ErrSteps, i+1, stepAt(a.Steps, i), stepAt(b.Steps, i)))
	}
	return errors.Join(found...)
}

// Apart is how far the two outputs are apart; or ErrLengths.
func (r *Replayed) Apart() (Distances, error) { return Distance(r.Data.Output, r.Neighbor.Output) }

// Check is SameFlow, and whether the outputs are within the declared distances.
func (r *Replayed) Check(declared Distances) error {
	apart, err := r.Apart()
	if err == nil {
		err = apart.Within(declared)
	}
	return errors.Join(r.SameFlow(), err)
}

// differ is the first place where two lists differ, or −1.
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

// Integers are outputs of integers. A nil one stays nil, which Replay refuses.
func Integers(values ...*big.Int) []*big.Rat {
	out := make([]*big.Rat, len(values))
	for i, v := range values {
		if v != nil {
			out[i] = new(big.Rat).SetInt(v)
		}
	}
	return out
}

// Floats are outputs of floating-point numbers, exactly. NaN and infinities are an error.
func Floats(values ...float64) ([]*big.Rat, error) {
	out := make([]*big.Rat, len(values))
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("output %d is %g, and not at any distance", i+1, v)
		}
		out[i] = new(big.Rat).SetFloat64(v)
	}
	return out, nil
}

// recorder keeps what it reads.
type recorder struct {
	from  io.Reader
	bytes []byte
	reads []int
}

// Read fills all of p, so that the length of a read is the mechanism's choice and not the source's.
func (r *recorder) Read(p []byte) (int, error) {
	n, err := io.ReadFull(r.from, p)
	r.bytes, r.reads = append(r.bytes, p[:n]...), append(r.reads, len(p))
	if err != nil {
		return n, fmt.Errorf("the source of randomness: %w", err)
	}
	return n, nil
}

// replayer gives a recording.
type replayer struct {
	left  []byte
	reads []int
	short int // reads that failed
}

// patience is how many reads may fail before a mechanism that does not look at errors is stopped by a panic.
const patience = 1000

// Read fills all of p, or fails.
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
