package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

var (
	testTime = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	one      = big.NewRat(1, 1)
)

func clock() time.Time { return testTime }

func epsilon(text string) privacy.Epsilon {
	var e privacy.Epsilon
	if err := e.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return e
}

func terms(budget, maximum string) Terms {
	return Terms{
		Digest: digest, Population: "patients", Neighbours: privacy.AddRemove,
		Budget: Loss{epsilon(budget)}, MaxPrice: Loss{epsilon(maximum)}, Units: map[string]string{"visits": "row"},
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
		Key: key, Policy: digest, Loss: Loss{epsilon(price)},
		Mechanisms: []Mechanism{{Name: "discrete-laplace", Sensitivity: "1", Scale: "10/3", Cells: 1}},
		Sources:    []Source{{"visits", 1}},
		Question:   "SELECT COUNT(*) FROM visits WHERE age < 18",
	}
}

func values(i int) json.RawMessage { return fmt.Appendf(nil, `{"n":[%d]}`, i) }

// begin creates a ledger in a new directory, adopts terms and records a seal.
func begin(tb testing.TB, budget, maximum string) (dir string, l *Ledger) {
	tb.Helper()
	dir = tb.TempDir()
	must(tb, Create(dir, testID, testTime))
	l = mustOpen(tb, dir)
	must(tb, l.Adopt(terms(budget, maximum), one, l.Head()))
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

func wantEpsilon(tb testing.TB, what string, have privacy.Epsilon, want string) {
	tb.Helper()
	if have.Cmp(epsilon(want)) != 0 {
		tb.Errorf("%s is %s, want %s", what, have, want)
	}
}
