package audit

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"time"
)

// Batcher is a Mechanism that may run in batches. If Batched returns true, each call of Run has a fixed cost, so an
// audit makes few calls. The time between two outputs then means nothing.
type Batcher interface {
	Mechanism
	Batched() bool
}

// paced reports whether the time between two outputs is the time of one run.
func (a *audit) paced() bool {
	b, ok := a.mechanism.(Batcher)
	return !ok || !b.Batched()
}

// The number of turns of each side: in tests, in tests of a [Batcher], and while learning from a [Batcher]. A turn
// is one call of the mechanism.
const (
	turnsOf        = 16
	turnsOfBatched = 12
	turnsOfLearned = 2 // other mechanisms use turnsOf
)

// turns divides the runs of each side into turns, and runs the two sides alternately. The order of the sides in a
// turn looks random, but is the same in every audit, so that an audit of a deterministic mechanism can be repeated.
// A change over time either affects both sides alike, or makes one side's turns differ, which [audit.alike]
// detects.
func (a *audit) turns(ctx context.Context, turns, runs int, see func(side Side, turn int, output []byte)) error {
	for turn, left := 0, runs; turn < turns; turn++ {
		n := left / (turns - turn)
		left -= n
		first := Side(mixed(a.turned) & 1)
		a.turned++
		for _, side := range [2]Side{first, first.Other()} {
			if err := a.turn(ctx, side, n, func(output []byte) { see(side, turn, output) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// mixed returns the mixed bits of n, by the mixing function of SplitMix64 [Steele, Lea & Flood 2014]. Neither
// privacy nor any bound depends on it.
func mixed(n uint64) uint64 {
	z := n * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// errMore reports a mechanism that returns more outputs than requested.
var errMore = errors.New("the mechanism gave more outputs than runs")

// turn runs the mechanism n times on one side, and calls see(output) for each output. It returns [ErrRepeats] if a
// turn's outputs repeat those of an earlier turn.
func (a *audit) turn(ctx context.Context, side Side, n int, see func(output []byte)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	seen, digested := 0, min(n-n%4, mostDigested) // rounded down, so that turns of nearly equal length can be compared
	digest := maphash.Hash{}
	digest.SetSeed(seed)
	begun := time.Now()
	a.clock = begun
	err := a.mechanism.Run(ctx, side, n, func(output []byte) error {
		if seen++; seen > n {
			return errMore
		}
		if seen <= digested {
			_, _ = digest.Write(output) // writing to a hash returns no error
			_ = digest.WriteByte(0)
		}
		see(output)
		if a.done++; a.done%512 == 0 || a.paced() && time.Since(a.told) > time.Second {
			a.tell()
		}
		return nil
	})
	if err == nil && seen < n {
		err = fmt.Errorf("the mechanism gave %d outputs in %d runs", seen, n)
	}
	if !a.paced() {
		a.turnTimes[side] = append(a.turnTimes[side], time.Since(begun)/time.Duration(max(1, n)))
	}
	if err == nil {
		a.tell()
		err = a.repeats.add(side, digested, digest.Sum64())
	}
	return err
}

// mostDigested is the largest number of outputs of a turn that are compared with those of other turns.
const mostDigested = 500

func (a *audit) tell() {
	if a.told = time.Now(); a.Progress != nil {
		a.Progress(a.done, 2*a.Runs)
	}
}

var seed = maphash.MakeSeed()

// ErrRepeats reports a mechanism that returned the same outputs in the same order again. Its noise restarts from a
// constant, so its runs are not independent, and no conclusion is possible.
var ErrRepeats = errors.New(
	"the same outputs came again in the same order; each run needs fresh noise, so check that its seed is neither " +
		"constant nor the clock's second",
)

// repeats remembers a digest of the outputs of each turn. A turn is a call of the mechanism for several runs on one
// side.
type repeats struct {
	turns [2]map[turnDigest]bool
	// collision is, for each side, −log₂ of the probability that two independent outputs are equal. It is 0 until
	// [repeats.expect] has estimated it.
	collision [2]float64
}

type turnDigest struct {
	n    int
	hash uint64
}

// certain is the number of bits that rules out chance: a repetition by chance would have probability below
// 2^−certain.
const certain = 100

// add records a turn of n outputs. It returns [ErrRepeats] if an earlier turn had the same digest, unless chance
// could explain that. If p are the probabilities of the outputs, two independent turns of n outputs are equal with
// probability (Σ p²)ⁿ.
func (r *repeats) add(side Side, n int, hash uint64) error {
	if r.turns[side] == nil {
		r.turns[side] = map[turnDigest]bool{}
	}
	d := turnDigest{n, hash}
	if r.turns[side][d] && float64(n)*r.collision[side] > certain {
		return ErrRepeats
	}
	r.turns[side][d] = true
	return nil
}

// expect estimates r.collision from a sample.
func (r *repeats) expect(s sample) {
	for side := range s {
		counts := map[string]float64{}
		for i := range s[side] {
			counts[s[side][i].text]++
		}
		sum, n := 0.0, float64(len(s[side]))
		for _, c := range counts {
			sum += c * c
		}
		if n > 0 {
			r.collision[side] = -math.Log2(sum / (n * n))
		}
	}
}

// recording holds the outputs of some runs, with their times.
type recording struct {
	sample sample
	times  [2][]time.Duration // the time from the previous output, or from the beginning of the turn, to each output
}

// The limits on what is kept of the runs for learning, on each side. If outputs are long, fewer are kept.
const (
	mostLearned = 100_000
	mostBytes   = 16 << 20
	mostKept    = 1 << 19 // fields of all outputs
)

// record runs both sides, and appends their outputs and times to r.
func (a *audit) record(ctx context.Context, runs int, r *recording) error {
	var bytes, cells [2]int
	turns := min(turnsOf, runs)
	if !a.paced() {
		turns = min(turnsOfLearned, runs)
	}
	return a.turns(ctx, turns, runs, func(side Side, _ int, text []byte) {
		took := time.Since(a.clock)
		if bytes[side] < mostBytes && cells[side] < mostKept {
			o := parse(text)
			bytes[side] += o.size()
			cells[side] += len(o.fields)
			r.sample[side] = append(r.sample[side], o)
			r.times[side] = append(r.times[side], took)
		}
		a.clock = time.Now()
	})
}

// and returns both recordings as one.
func (r recording) and(s recording) recording {
	for side := range r.sample {
		r.sample[side] = append(r.sample[side][:len(r.sample[side]):len(r.sample[side])], s.sample[side]...)
		r.times[side] = append(r.times[side][:len(r.times[side]):len(r.times[side])], s.times[side]...)
	}
	return r
}
