package audit

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"time"
)

// Batcher is a Mechanism that may have its own way of being run: where Batched is true, a call of Run costs something beside the runs, so
// that there should be few, and the time between two outputs tells nothing.
type Batcher interface {
	Mechanism
	Batched() bool
}

// paced reports that the time between two outputs is that of a run.
func (a *audit) paced() bool {
	b, ok := a.mechanism.(Batcher)
	return !ok || !b.Batched()
}

// How many turns each side has in a stretch of runs.
const (
	turnsOf        = 16
	turnsOfBatched = 4
)

// turns runs both sides so many times each, in turns: one side, the other twice, and so on, so that whatever changes steadily changes
// on both alike.
func (a *audit) turns(ctx context.Context, runs int, see func(side Side, output []byte)) error {
	turns := turnsOf
	if !a.paced() {
		turns = turnsOfBatched
	}
	turns = min(turns, runs)
	for turn, left := 0, runs; turn < turns; turn++ {
		n := left / (turns - turn)
		left -= n
		for _, side := range [2]Side{Side(turn % 2), Side(1 - turn%2)} {
			if err := a.turn(ctx, side, n, see); err != nil {
				return err
			}
		}
	}
	return nil
}

// errMore reports a mechanism that gives more outputs than it was asked for.
var errMore = errors.New("the mechanism gave more outputs than runs")

// turn is one call of the mechanism.
func (a *audit) turn(ctx context.Context, side Side, n int, see func(side Side, output []byte)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	seen := 0
	digest := maphash.Hash{}
	digest.SetSeed(seed)
	begun := time.Now()
	a.clock = begun
	err := a.mechanism.Run(ctx, side, n, func(output []byte) error {
		if seen++; seen > n {
			return errMore
		}
		_, _ = digest.Write(output) // it never fails
		_ = digest.WriteByte(0)
		see(side, output)
		if a.done++; a.Progress != nil && a.done%512 == 0 {
			a.Progress(a.done, 2*a.Runs)
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
		err = a.repeats.add(side, n, digest.Sum64())
	}
	return err
}

var seed = maphash.MakeSeed()

// ErrRepeats reports a mechanism that gives the same outputs in the same order again: its noise begins anew from a constant, so that its
// runs are not independent, and nothing can be said of them.
var ErrRepeats = errors.New("the same outputs came again in the same order: is the noise's seed a constant? Each run needs fresh noise")

// repeats remembers what each turn gave.
type repeats struct {
	turns [2]map[turnDigest]bool
	// collision is, for each side, the bits of surprise in two independent outputs being the same; 0 until it is known.
	collision [2]float64
}

type turnDigest struct {
	n    int
	hash uint64
}

// certain is how many bits of surprise are no chance.
const certain = 100

// add notes a turn, and reports one that was there before, if that can be no chance: n independent outputs are those of another turn
// with probability (Σ p²)ⁿ.
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

// expect learns how surprising a repetition is.
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

// recording is what is kept of some runs.
type recording struct {
	sample sample
	times  [2][]time.Duration // from the output before, or the turn's begin, to each output
}

// What is kept of the runs that are learned from, on each side. Where outputs are long, fewer are kept.
const (
	mostLearned = 100_000
	mostBytes   = 16 << 20
	mostCells   = 1 << 19
)

// record runs both sides and keeps what they give.
func (a *audit) record(ctx context.Context, runs int, r *recording) error {
	var bytes, cells [2]int
	return a.turns(ctx, runs, func(side Side, text []byte) {
		took := time.Since(a.clock)
		if bytes[side] < mostBytes && cells[side] < mostCells {
			o := parse(text)
			bytes[side] += len(o.text) + 1
			cells[side] += len(o.fields)
			r.sample[side] = append(r.sample[side], o)
			r.times[side] = append(r.times[side], took)
		}
		a.clock = time.Now()
	})
}

// and is both recordings.
func (r recording) and(s recording) recording {
	for side := range r.sample {
		r.sample[side] = append(r.sample[side][:len(r.sample[side]):len(r.sample[side])], s.sample[side]...)
		r.times[side] = append(r.times[side][:len(r.times[side]):len(r.times[side])], s.times[side]...)
	}
	return r
}
