package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dither/privacy"
)

const (
	testID = "000102030405060708090a0b0c0d0e0f"
	digest = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

func clock() time.Time { return testTime }

func epsilon(text string) privacy.Epsilon {
	var e privacy.Epsilon
	if err := e.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return e
}

func pure(text string) privacy.Loss { return privacy.PureLoss(epsilon(text)) }

func pureOf(r *big.Rat) privacy.Loss {
	e, err := privacy.EpsilonOf(r)
	if err != nil {
		panic(err)
	}
	return privacy.PureLoss(e)
}

func zcdp(rho, delta string) privacy.Loss {
	var r privacy.Rho
	var d privacy.Delta
	if err := errors.Join(r.UnmarshalText([]byte(rho)), d.UnmarshalText([]byte(delta))); err != nil {
		panic(err)
	}
	return privacy.ZCDPLoss(r, d)
}

func equal(a, b privacy.Loss) bool { return a.Within(b) && b.Within(a) }

func terms(budget, maximum string) Terms {
	return Terms{
		Digest: digest, Population: "patients", Neighbours: privacy.AddRemove,
		Budget: pure(budget), MaxPrice: pure(maximum), Units: map[string]string{"visits": "row"},
		Sources: map[string]string{}, Held: map[string]string{}, Removed: []string{},
	}
}

// key is the replay key of the i-th question.
func key(i int) string {
	sum := sha256.Sum256(fmt.Append(nil, i))
	return hex.EncodeToString(sum[:])
}

func reservation(key, price string) Reservation {
	return Reservation{
		Key: key, Policy: digest, Loss: pure(price),
		Mechanisms: []Mechanism{{Name: "discrete-laplace", Sensitivity: "1", Scale: "10/3", Cells: 1}},
		Sources:    []Source{{"visits", 1}},
		Question:   "SELECT COUNT(*) FROM visits WHERE age < 18",
	}
}

// mark is a mark of a subject.
func mark(i int) string { return fmt.Sprintf("%016x", i) }

func values(i int) json.RawMessage { return fmt.Appendf(nil, `{"n":[%d]}`, i) }

// begin creates a ledger in a new directory, adopts terms and records a seal.
func begin(tb testing.TB, budget, maximum string) (dir string, l *Ledger) {
	tb.Helper()
	dir = tb.TempDir()
	must(tb, Create(dir, testID, testTime))
	l = mustOpen(tb, dir)
	must(tb, l.Adopt(terms(budget, maximum), 1, l.Head()))
	must(tb, l.Sealed("visits", 1, digest))
	return dir, l
}

func mustOpen(tb testing.TB, dir string) *Ledger {
	tb.Helper()
	l, err := Open(dir, clock)
	must(tb, err)
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

func mustReserve(tb testing.TB, l *Ledger, key, price string) uint64 {
	tb.Helper()
	i, err := l.Reserve(reservation(key, price))
	must(tb, err)
	return i
}

func mustState(tb testing.TB, l *Ledger) State {
	tb.Helper()
	s, err := l.State()
	must(tb, err)
	return s
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func readLog(tb testing.TB, dir string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(dir, logName))
	must(tb, err)
	return data
}

func writeFile(tb testing.TB, dir, name string, data []byte) {
	tb.Helper()
	must(tb, os.WriteFile(filepath.Join(dir, name), data, 0o600))
}

// textHead writes the head in the form of older programs, which cannot say whether a fragment was acknowledged.
func textHead(tb testing.TB, dir string) {
	tb.Helper()
	h, err := readHeads(system{}, dir)
	must(tb, err)
	writeFile(tb, dir, headName, []byte(h.head().String()+"\n"))
}

// oneSlot makes the older slot unreadable, as no crash leaves it beside a fragment.
func oneSlot(tb testing.TB, dir string) {
	tb.Helper()
	h, err := readHeads(system{}, dir)
	must(tb, err)
	data, err := os.ReadFile(filepath.Join(dir, headName))
	must(tb, err)
	data[(1-h.newest)*slotSpace+20] ^= 1
	writeFile(tb, dir, headName, data)
}

func wantEpsilon(tb testing.TB, what string, have privacy.Loss, want string) {
	tb.Helper()
	if !equal(have, pure(want)) {
		tb.Errorf("%s is %s, want ε = %s", what, have, want)
	}
}
