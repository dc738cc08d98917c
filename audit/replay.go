package audit

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
)

// Replayable is a mechanism whose only source of randomness is random: it runs on one side, and returns its output as
// numbers. It may call step to report where it is (a branch taken, a row of its log); steps are compared as texts. It
// should read no more bytes than it needs: through a buffer, reads show only blocks.
type Replayable func(side Side, random io.Reader, step func(string)) ([]*big.Rat, error)

// Reading is the record of one side's run.
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

// Replayed is the result of Replay: both runs on the same randomness.
type Replayed struct {
	Data, Neighbor Reading
	Unread         int64 // bytes of the recording that the neighbour did not read
	Exhausted      bool  // the neighbour asked for more than was recorded
}

// Distances measure how far two outputs are apart: the sum, the sum of squares, and the maximum of the absolute
// differences of their numbers. As sensitivities they are declared limits; nil means that no limit is declared.
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

// Replay runs m on the data with fresh bytes of random, which it records, and then on the neighbour with the same
// bytes. An error is random's or m's own. A neighbour that runs out of bytes is a finding, and not an error (Check).
//
// The result is exact, for these two datasets and these bytes. Consider a mechanism that adds noise of one fixed
// distribution to an exact answer, with the same draws whatever the data. The difference of the two outputs is then the
// difference of the exact answers, because the noise cancels. If it exceeds the declared sensitivity for one pair of
// neighbours, the promise is broken, whatever the noise: refuting a sensitivity needs no statistics. If it is within
// the sensitivity for pairs that include the worst one, and the noise has the declared law (which Replay does not
// check), the promise holds. Replay does not find the worst pair; the caller chooses it.
//
// Equal reads and steps show that on this pair neither the choice of noise nor the records and charges depended on the
// differing row. The converse does not prove a leak: a rejection sampler may draw a number of bits that depends on its
// parameter, and a mechanism that chooses (such as an exponential mechanism) need not return the same output for
// neighbours on the same bytes. Their laws matter, and are checked otherwise (package channel).
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

// Distance is the distance of two outputs, exactly. Outputs of different lengths are ErrLengths.
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

// Within reports each distance that exceeds its declared limit, as ErrApart.
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

// SameFlow reports each difference between the two runs in their reads and their steps: ErrExhausted, ErrUnread,
// ErrReads and ErrSteps.
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

// replayer replays a recording.
type replayer struct {
	left  []byte
	reads []int
	short int // reads that failed
}

// patience is how many reads may fail before a panic stops a mechanism that ignores errors.
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
