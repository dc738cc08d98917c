package audit_test

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"dither/audit"
)

// noisy is a word's worth of noise.
func noisy(random io.Reader) (*big.Int, error) {
	var b [8]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return nil, err
	}
	return new(big.Int).SetUint64(binary.LittleEndian.Uint64(b[:])), nil
}

// sums adds noise to each of the numbers of a side.
func sums(a, b []int64) audit.Replayable {
	return func(side audit.Side, random io.Reader, step func(string)) ([]*big.Rat, error) {
		var out []*big.Int
		for i, x := range map[audit.Side][]int64{audit.Data: a, audit.Neighbor: b}[side] {
			z, err := noisy(random)
			if err != nil {
				return nil, err
			}
			step(fmt.Sprint("number ", i))
			out = append(out, z.Add(z, big.NewInt(x)))
		}
		return audit.Integers(out...), nil
	}
}

func is(n int64) *big.Rat { return big.NewRat(n, 1) }

// What is left of additive noise on the same bytes is the difference of the exact answers, and a sensitivity that is
// too small is told from one that is not.
func TestReplayOfSums(t *testing.T) {
	r, err := audit.Replay(sums([]int64{5, 0, -7}, []int64{5, 3, -9}), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Apart()
	if err != nil || d.L1.Cmp(is(5)) != 0 || d.L2Squared.Cmp(is(13)) != 0 || d.LInf.Cmp(is(3)) != 0 {
		t.Errorf("distances %v, %v", d, err)
	}
	if r.Data.Bytes() != 24 || r.Neighbor.Bytes() != 24 || len(r.Neighbor.Steps) != 3 {
		t.Errorf("%+v", r)
	}
	if err := r.Check(audit.Distances{L1: is(5), L2Squared: is(13), LInf: is(3)}); err != nil {
		t.Error(err)
	}
	for name, small := range map[string]audit.Distances{
		"L1": {L1: is(4)}, "squared L2": {L2Squared: is(12)},
		"L∞": {LInf: big.NewRat(299, 100)},
	} {
		if err := r.Check(small); !errors.Is(err, audit.ErrApart) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each way in which runs differ is found, by its name and no other.
func TestReplayFinds(t *testing.T) {
	reads := func(sizes ...int) func(io.Reader) error {
		return func(random io.Reader) error {
			for _, n := range sizes {
				if _, err := io.ReadFull(random, make([]byte, n)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		data, neighbor func(io.Reader) error
		step           [2]string
		output         [2]int
		want           []error
	}{
		"the same": {data: reads(8, 1), neighbor: reads(8, 1)},
		"more": {
			data: reads(8), neighbor: reads(8, 8),
			want: []error{audit.ErrExhausted, audit.ErrReads, audit.ErrLengths},
		},
		"longer": {
			data: reads(8), neighbor: reads(9),
			want: []error{audit.ErrExhausted, audit.ErrUnread, audit.ErrReads, audit.ErrLengths},
		},
		"less":        {data: reads(8, 8), neighbor: reads(8), want: []error{audit.ErrUnread, audit.ErrReads}},
		"another way": {data: reads(8, 4), neighbor: reads(4, 8), want: []error{audit.ErrReads}},
		"another step": {
			data: reads(8), neighbor: reads(8), step: [2]string{"kept", "dropped"},
			want: []error{audit.ErrSteps},
		},
		"no step": {
			data: reads(8), neighbor: reads(8), step: [2]string{"kept", ""},
			want: []error{audit.ErrSteps},
		},
		"more numbers": {data: reads(8), neighbor: reads(8), output: [2]int{2, 3}, want: []error{audit.ErrLengths}},
		"blind to errors": {
			data:     reads(8),
			neighbor: func(r io.Reader) error { _, _ = r.Read(make([]byte, 9)); return nil },
			want:     []error{audit.ErrExhausted, audit.ErrUnread, audit.ErrReads},
		},
		"never gives up": {data: reads(8), neighbor: func(r io.Reader) error {
			for {
				_, _ = r.Read(make([]byte, 9))
			}
		}, want: []error{audit.ErrExhausted, audit.ErrUnread, audit.ErrReads, audit.ErrLengths}},
		"nothing is drawn": {data: reads(), neighbor: reads()},
	} {
		r, err := audit.Replay(func(side audit.Side, random io.Reader, step func(string)) ([]*big.Rat, error) {
			f := c.data
			if side == audit.Neighbor {
				f = c.neighbor
			}
			if err := f(random); err != nil {
				return nil, err
			}
			if s := c.step[side]; s != "" {
				step(s)
			}
			return audit.Floats(make([]float64, c.output[side]+1)...)
		}, rand.Reader)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found := r.Check(audit.Distances{L1: is(0)})
		for _, known := range []error{
			audit.ErrExhausted, audit.ErrUnread, audit.ErrReads, audit.ErrSteps,
			audit.ErrLengths, audit.ErrApart,
		} {
			if wanted := slices.Contains(c.want, known); errors.Is(found, known) != wanted {
				t.Errorf("%s: found %v; want %v: %v", name, found, known, wanted)
			}
		}
	}
}

// What a mechanism or its source cannot do is an error, on either side; and a panic of the mechanism's own is its own.
func TestReplayFails(t *testing.T) {
	broken := errors.New("broken")
	for side := range []string{"data", "neighbour"} {
		_, err := audit.Replay(func(s audit.Side, _ io.Reader, _ func(string)) ([]*big.Rat, error) {
			if s == audit.Side(side) {
				return nil, broken
			}
			return nil, nil
		}, rand.Reader)
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), []string{"data", "neighbour"}[side]) {
			t.Error(err)
		}
	}
	if _, err := audit.Replay(sums([]int64{1, 2}, nil), bytes.NewReader(make([]byte, 12))); !errors.Is(err,
		io.ErrUnexpectedEOF) {
		t.Errorf("a short source: %v", err)
	}
	if _, err := audit.Replay(func(audit.Side, io.Reader, func(string)) ([]*big.Rat,
		error,
	) {
		return audit.Integers(nil), nil
	}, rand.Reader); err == nil {
		t.Error("a nil output")
	}
	for _, x := range []float64{math.NaN(), math.Inf(-1)} {
		if _, err := audit.Floats(1, x); err == nil {
			t.Errorf("%g is at a distance", x)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a panic was swallowed")
		}
	}()
	_, _ = audit.Replay(func(audit.Side, io.Reader, func(string)) ([]*big.Rat, error) { panic("mine") }, rand.Reader)
}
