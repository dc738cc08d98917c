package partition

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dither/internal/entropy"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/mechanism/internal/opaque"
)

// grouped gives values the keys 000000, 000001, … in their order.
func grouped(values ...mechanism.Exact) []mechanism.Partition {
	var out []mechanism.Partition
	for i, x := range values {
		out = append(out, mechanism.NewPartition(fmt.Sprintf("%06d", i), x))
	}
	return out
}

// placeOf is the place of a key of grouped.
func placeOf(t testing.TB, key string) int {
	t.Helper()
	i, err := strconv.Atoi(key)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestPartitionRevealsNothing(t *testing.T) {
	p := mechanism.NewPartition("secretkey", mechanism.NewExact(big.NewInt(424242)))
	for _, x := range []any{
		p,
		[]mechanism.Partition{p},
		map[int]mechanism.Partition{0: p},
		struct{ P mechanism.Partition }{p},
		p.Exact,
		[]mechanism.Exact{p.Exact},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%q", "%x", "%p", "%w"} {
			if got := fmt.Sprintf(verb, x); strings.Contains(got, "424242") || strings.Contains(got, "67932") ||
				strings.Contains(got, "secret") {
				t.Errorf("%s prints %q", verb, got)
			}
		}
		if text, err := json.Marshal(x); err == nil {
			t.Errorf("%T was encoded as %s", x, text)
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%q", "%x"} {
		if got := fmt.Sprintf(verb, p); got != opaque.Redacted {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

// everyRelease is what each of the mechanisms keeps.
func everyRelease(t testing.TB, partitions []mechanism.Partition) map[string][]string {
	t.Helper()
	keys := func(kept []Kept) []string {
		var out []string
		for _, p := range kept {
			out = append(out, p.Key)
		}
		if cap(kept) > 2*len(kept)+4 {
			t.Errorf("room for %d, where %d are kept", cap(kept), len(kept))
		}
		return out
	}
	params := Parameters{Epsilon: mechtest.Epsilon(t, "1"), Delta: mechtest.Delta(t, "0.000000000001"), Keys: 1}
	l := thresholdLaplace(t, "1", "0.000000000001", 1, 1, 1, 0)
	g := ThresholdGaussian{mechanism.Gaussian{L2Squared: big.NewInt(1), Rho: mechtest.Rho(t, "0.5")}, l.Threshold}
	selected, err1 := Selection{params}.Select(partitions)
	counts, err2 := Counts{params}.Select(partitions)
	laplace, err3 := l.Measure(partitions)
	gaussian, err4 := g.Measure(partitions)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return map[string][]string{
		"selection": selected, "counts": keys(counts.Kept), "Laplace": keys(laplace.Kept),
		"Gaussian": keys(gaussian.Kept),
	}
}

// TestOnlyKeptPartitionsLeave gives five large partitions among a thousand of one unit, in any order: the keys of the
// large ones come out, in byte order, and nothing else. One of the others is kept with a probability of 10⁻¹² by
// each of four mechanisms, hence any in five rounds with one of at most 2·10⁻⁸.
func TestOnlyKeptPartitionsLeave(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	partitions := []mechanism.Partition{{Exact: mechtest.Exacts(1_000_000)[0]}}
	for _, key := range []string{"b", "a", "\xff", "aa"} {
		partitions = append(partitions, mechanism.NewPartition(key, mechtest.Exacts(1_000_000)[0]))
	}
	for i := range 1000 {
		partitions = append(partitions, mechanism.NewPartition("small "+strconv.Itoa(i), mechtest.Exacts(1)[0]))
	}
	want := []string{"", "a", "aa", "b", "\xff"}
	for range 5 {
		random.Shuffle(len(partitions), func(i, j int) { partitions[i], partitions[j] = partitions[j], partitions[i] })
		given := slices.Clone(partitions)
		for name, kept := range everyRelease(t, partitions) {
			if !slices.Equal(kept, want) {
				t.Errorf("%s: %q", name, kept)
			}
		}
		if !slices.Equal(given, partitions) {
			t.Error("the caller's list was put in order")
		}
	}
	for name, kept := range everyRelease(t, nil) {
		if len(kept) != 0 {
			t.Errorf("%s: %q of nothing", name, kept)
		}
	}
}

// TestOrderOfPartitionsIsOfTheirKeys: the same partitions in another order give the same from the same bytes.
func TestOrderOfPartitionsIsOfTheirKeys(t *testing.T) {
	var recording []byte
	random := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		recording = binary.LittleEndian.AppendUint64(recording, random.Uint64())
	}
	var units []mechanism.Exact
	for n := range int64(40) {
		units = append(units, mechtest.Exacts(n)...)
	}
	partitions := grouped(units...)
	m := Parameters{Epsilon: mechtest.Epsilon(t, "1/2"), Delta: mechtest.Delta(t, "0.01"), Keys: 1}
	first := ""
	for range 4 {
		kept, err1 := Selection{m}.choose(entropy.Recorded(recording), partitions)
		counts, err2 := Counts{m}.choose(entropy.Recorded(recording), partitions)
		got := fmt.Sprint(kept, counts.Kept)
		if err := errors.Join(err1, err2); err != nil || first != "" && got != first {
			t.Fatalf("%s, and before %s; %v", got, first, err)
		}
		first = got
		random.Shuffle(len(partitions), func(i, j int) { partitions[i], partitions[j] = partitions[j], partitions[i] })
	}
}

func TestPartitionsOfOneKeyAreRefused(t *testing.T) {
	for _, twice := range [][]mechanism.Partition{
		{mechanism.NewPartition("a", mechtest.Exacts(1)[0]), mechanism.NewPartition("b", mechtest.Exacts(1)[0]), mechanism.NewPartition("a", mechtest.Exacts(2)[0])}, {{}, mechanism.NewPartition("", mechtest.Exacts(1)[0])},
	} {
		params := Parameters{Epsilon: mechtest.Epsilon(t, "1"), Delta: mechtest.Delta(t, "0.000001"), Keys: 1}
		l := thresholdLaplace(t, "1", "0.000001", 1, 1, 1, 0)
		_, err1 := Selection{params}.Select(twice)
		_, err2 := Counts{params}.Select(twice)
		_, err3 := l.Measure(twice)
		_, err4 := ThresholdGaussian{
			mechanism.Gaussian{L2Squared: big.NewInt(1), Rho: mechtest.Rho(t, "0.5")},
			l.Threshold,
		}.Measure(twice)
		for _, err := range []error{err1, err2, err3, err4} {
			if !errors.Is(err, ErrKeys) || strings.Contains(err.Error(), "a\"") {
				t.Errorf("%v", err)
			}
		}
	}
}

// Keys that differ beyond their first bytes, or begin one another, come in byte order.
func TestPartitionsAreInByteOrder(t *testing.T) {
	keys := []string{
		"", "\x00", "\x00\x00", "a", "a\x00", "a\x00\x00\x00\x00\x00\x00\x00\x00", "abcdefgh",
		"abcdefgh\x00", "abcdefghi", "abcdefgi", "b", "\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff", "é",
	}
	var partitions []mechanism.Partition
	for _, key := range keys {
		partitions = append(partitions, mechanism.NewPartition(key, mechanism.Exact{}))
	}
	sorted, err := byKey(partitions)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	for i, p := range sorted {
		if opaque.Key(p) != keys[i] {
			t.Errorf("%d: %q, want %q", i, opaque.Key(p), keys[i])
		}
	}
	if _, err := byKey(append(partitions, mechanism.NewPartition("abcdefghi", mechanism.Exact{}))); !errors.Is(err,
		ErrKeys) {
		t.Errorf("twice: %v", err)
	}
}
