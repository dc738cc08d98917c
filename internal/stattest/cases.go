package stattest

import (
	"flag"
	"iter"
	"os"
	"strconv"
	"testing"
)

// Cases makes each rapid.Check of a test generate at least n cases, until the test ends. A larger number on the command
// line (-rapid.checks) stays. The number is a flag of the process, so a test that calls Cases must not run in parallel
// with others.
func Cases(t testing.TB, n int) {
	t.Helper()
	if have, _ := strconv.Atoi(usualCases(t).Value.String()); have < n {
		setCases(t, n)
	}
}

// ShortCases makes each rapid.Check of a test generate n cases, as [Cases] does, even if that is fewer than usual. It
// does nothing if the test runs in its long form, or if the command line sets -rapid.checks.
func ShortCases(t testing.TB, n int) {
	t.Helper()
	if f := usualCases(t); os.Getenv("DITHER_LONG") == "" && f.Value.String() == f.DefValue {
		setCases(t, n)
	}
}

func usualCases(t testing.TB) *flag.Flag {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if f == nil {
		t.Fatal("this test does not import pgregory.net/rapid")
	}
	return f
}

func setCases(t testing.TB, n int) {
	t.Helper()
	checks := usualCases(t)
	before := checks.Value.String()
	t.Cleanup(func() { _ = checks.Value.Set(before) })
	if err := checks.Value.Set(strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
}

// Until yields once, and again until seen reports true, at most n times. It stops if the test has failed. A test of
// random cases ranges over it, so that it meets rare cases without generating many cases each time.
func Until(t testing.TB, n int, seen func() bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		for round := range n {
			if round > 0 && (t.Failed() || seen()) || !yield(round) {
				return
			}
		}
	}
}
