package seal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/internal/policy"
)

func TestTwoHomesOnOneSource(t *testing.T) {
	w := newWorld(t)
	file := w.write("people.csv", threeRows)
	one, two := w.home("one"), w.home("two")
	sealIn := func(home, ledger, file string, shared bool) (Report, error) {
		o := w.options(ledger)
		o.Shared = shared
		_, report, err := Seal(t.Context(), home, people(file), &fake{}, o)
		return report, err
	}
	if _, err := sealIn(one, "L1", file, false); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(w.dir, "link.csv")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"path": file, "link": link, "copy": w.write("copy.csv", threeRows)} {
		_, err := sealIn(two, "L2", file, false)
		var claimed *ClaimedError
		if !errors.As(err, &claimed) || claimed.Home != one || !strings.Contains(err.Error(), "double") {
			t.Errorf("%s: %v", name, err)
		}
		if files := left(t, two); len(files) > 0 {
			t.Errorf("%s: left %q", name, files)
		}
	}
	report, err := sealIn(two, "L2", file, true)
	if err != nil || len(report.SharedWith) != 1 || report.SharedWith[0] != one ||
		!strings.Contains(report.String(), one) {
		t.Errorf("shared: %+v, %v", report, err)
	}
	for _, home := range []string{one, two} { // both hold it now, and seal as they like
		if report, err := sealIn(home, "L"+map[string]string{one: "1", two: "2"}[home], file, false); err != nil ||
			len(report.SharedWith) != 1 {
			t.Errorf("%+v, %v", report, err)
		}
	}
	if _, err := sealIn(w.home("three"), "L3", file, false); err == nil {
		t.Error("a third home seals what two share")
	}
}

func TestClaimOfAHomeThatIsGone(t *testing.T) {
	w := newWorld(t)
	table := people(w.write("people.csv", threeRows))
	one, two := w.home("one"), w.home("two")
	if _, _, err := Seal(t.Context(), one, table, &fake{}, w.options("L1")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(one, ledgerFile)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, report, err := Seal(t.Context(), two, table, &fake{}, w.options("L2"))
		if err != nil {
			t.Fatal(err)
		}
		if told := len(report.Warnings) == 1 &&
			strings.Contains(report.Warnings[0], "no longer exists"); told == report.Unchanged {
			t.Errorf("unchanged %v: warnings %q", report.Unchanged, report.Warnings)
		}
	}
	// A new ledger in the same home.
	_, report, err := Seal(t.Context(), two, table, &fake{}, w.options("L9"))
	if err != nil || len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0], "no longer exists") {
		t.Errorf("%v, %v", report.Warnings, err)
	}
}

func TestCopiedHome(t *testing.T) {
	w := newWorld(t)
	table := people(w.write("people.csv", threeRows))
	for i, home := range []string{w.home("one"), w.home("copy")} {
		_, report, err := Seal(t.Context(), home, table, &fake{}, w.options("L"))
		if err != nil || len(report.Warnings) != i {
			t.Errorf("%q, %v", report.Warnings, err)
		}
	}
}

func TestNoClaim(t *testing.T) {
	w := newWorld(t)
	table := people(w.write("people.csv", threeRows))
	claimed := func() int { return len(left(t, filepath.Join(w.dir, "state"))) }

	public := *table
	public.Public, public.Unit = true, policy.Unit{}
	for _, home := range []string{"a", "b"} {
		if _, report, err := Seal(t.Context(), w.home(home), &public, &fake{}, w.options("L"+home)); err != nil ||
			len(report.Warnings) > 0 {
			t.Errorf("public: %q, %v", report.Warnings, err)
		}
	}
	homeless := w.options("L")
	homeless.Getenv = func(string) string { return "" }
	if _, report, err := Seal(t.Context(), w.home("c"), table, &fake{}, homeless); err != nil ||
		len(report.Warnings) != 1 {
		t.Errorf("no HOME: %q, %v", report.Warnings, err)
	}
	if _, report, err := Seal(t.Context(), w.home("d"), table, &fake{}, w.options("")); err != nil ||
		len(report.Warnings) != 1 {
		t.Errorf("no ledger: %q, %v", report.Warnings, err)
	}
	if n := claimed(); n != 0 {
		t.Errorf("%d claims", n)
	}
	shut := w.options("L")
	shut.Getenv = func(string) string { return "/proc/no" }
	if _, report, err := Seal(t.Context(), w.home("e"), table, &fake{}, shut); err != nil || len(report.Warnings) != 1 {
		t.Errorf("state cannot be written: %q, %v", report.Warnings, err)
	}
	empty := people(w.write("empty.csv", "id,city\n"))
	for _, home := range []string{"f", "g"} { // alike, and in two files
		if _, _, err := Seal(t.Context(), w.home(home), empty, &fake{}, w.options("L"+home)); err != nil {
			t.Errorf("empty: %v", err)
		}
		empty = people(w.write("empty2.csv", "id,city\n"))
	}
}

func TestDamagedClaim(t *testing.T) {
	w := newWorld(t)
	table := people(w.write("people.csv", threeRows))
	if _, _, err := Seal(t.Context(), w.home("one"), table, &fake{}, w.options("L1")); err != nil {
		t.Fatal(err)
	}
	for _, name := range left(t, filepath.Join(w.dir, "state")) {
		w.write(filepath.Join("state", name), "{")
	}
	_, report, err := Seal(t.Context(), w.home("two"), table, &fake{}, w.options("L2"))
	if err != nil || len(report.Warnings) != 2 {
		t.Errorf("%q, %v", report.Warnings, err)
	}
}
