package ledger

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/privacy"
)

// history7 is a ledger of seven entries: genesis, policy, seal, reserve, release, reserve, release.
func history7(t *testing.T) (dir string, lines []string) {
	t.Helper()
	dir, l := begin(t, "1", "0.5")
	for i := range 2 {
		must(t, l.Release(mustReserve(t, l, key(i), "0.1"), values(i)))
	}
	must(t, l.Close())
	return dir, strings.SplitAfter(strings.TrimSuffix(string(readLog(t, dir)), "\n"), "\n")
}

// openBoth opens the ledger and verifies it: they must agree on whether it is whole.
func openBoth(t *testing.T, dir string) error {
	t.Helper()
	_, verified := Verify(dir, nil)
	l, err := Open(dir, clock)
	if err == nil {
		must(t, l.Close())
	}
	if (err == nil) != (verified == nil) {
		t.Errorf("Open says %v, Verify %v", err, verified)
	}
	return err
}

func TestDamage(t *testing.T) {
	replace := func(i int, old, new string) func([]string) []string {
		return func(lines []string) []string {
			if !strings.Contains(lines[i], old) {
				panic("nothing to replace: " + lines[i])
			}
			lines[i] = strings.Replace(lines[i], old, new, 1)
			return lines
		}
	}
	for _, c := range []struct {
		name   string
		damage func(lines []string) []string
		line   uint64 // of the corruption; 0 is a rollback
	}{
		{"edited", replace(3, `"0.1"`, `"0.01"`), 4},
		{"edited at the end", replace(6, `[1]`, `[2]`), 0},
		{"unknown key", replace(3, `"v":1`, `"v":1,"w":1`), 4},
		{"key in another case", replace(3, `"kind"`, `"Kind"`), 4},
		{"repeated key", replace(3, `"epsilon":"0.1"`, `"epsilon":"0.1","epsilon":"0.1"`), 4},
		{"missing key", replace(3, `"question"`, `"q"`), 4},
		{"null", replace(3, `{"epsilon":"0.1"}`, `null`), 4},
		{"wrong type", replace(3, `"n":3`, `"n":"3"`), 4},
		{"list for an object", replace(3, `{"epsilon":"0.1"}`, `["0.1"]`), 4},
		{"negative loss", replace(3, `"0.1"`, `"-0.1"`), 4},
		{"zero loss", replace(3, `"0.1"`, `"0"`), 4},
		{"unknown kind", replace(3, `"reserve"`, `"refund"`), 4},
		{"other kind", replace(3, `"reserve"`, `"release"`), 4},
		{"version 0", replace(3, `"v":1`, `"v":0`), 4},
		{"no version", replace(3, `"v":1,`, ``), 4},
		{"garbage", replace(3, `{"v"`, `{{{`), 4},
		{"cut line", func(l []string) []string { l[3] = l[3][:40] + "\n"; return l }, 4},
		{"dropped line", func(l []string) []string { return append(l[:3], l[4:]...) }, 4},
		{"repeated line", func(l []string) []string { l[3] += l[3]; return l }, 5},
		{"swapped lines", func(l []string) []string { l[3], l[5] = l[5], l[3]; return l }, 4},
		{"second genesis", func(l []string) []string { l[1] = l[0]; return l }, 2},
		{"no genesis", func(l []string) []string { return l[1:] }, 1},
		{"empty", func([]string) []string { return nil }, 1},
		{"truncated", func(l []string) []string { return l[:6] }, 0},
		{"truncated within a line", func(l []string) []string { l[6] = l[6][:30]; return l }, 0},
		{"truncated to the genesis", func(l []string) []string { return l[:1] }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, lines := history7(t)
			writeFile(t, dir, logName, []byte(strings.Join(c.damage(lines), "")))
			before := readLog(t, dir)
			err := openBoth(t, dir)
			var corrupt *CorruptError
			var back *RolledBackError
			switch {
			case errors.As(err, &corrupt):
				if corrupt.Line != c.line {
					t.Errorf("%v, want line %d", err, c.line)
				}
			case errors.As(err, &back):
				if c.line != 0 {
					t.Errorf("%v, want line %d", err, c.line)
				}
			default:
				t.Errorf("%v", err)
			}
			if !bytes.Equal(before, readLog(t, dir)) {
				t.Error("the log was touched")
			}
		})
	}
}

// An empty line, as an editor leaves it, is no part of anything: it costs nothing, and entries may follow it.
func TestBlankLines(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	mustReserve(t, l, key(1), "0.125")
	must(t, l.Close())
	writeFile(t, dir, logName, append(readLog(t, dir), "\n\n"...))
	for _, want := range []string{"0.125", "0.25"} {
		l, err := Open(dir, clock)
		must(t, err)
		s, err := l.State()
		must(t, err)
		if !equal(s.Spent, pure(want)) || s.Torn != 0 {
			t.Errorf("spent %s with %d torn, want %s", s.Spent, s.Torn, want)
		}
		mustReserve(t, l, key(2), "0.125")
		must(t, l.Close())
	}
}

// chained writes a log whose chain is whole, with a head to match, whatever the bodies say.
func chained(t *testing.T, bodies ...Body) string {
	t.Helper()
	dir := t.TempDir()
	var prev Hash
	var log []byte
	for i, b := range bodies {
		line, err := encodeLine(uint64(i), prev, testTime, b)
		must(t, err)
		prev = sha256.Sum256(line)
		log = append(append(log, line...), '\n')
	}
	writeFile(t, dir, logName, log)
	writeFile(t, dir, headName, []byte(Head{uint64(len(bodies) - 1), prev}.String()+"\n"))
	return dir
}

// TestForgedHistory: a whole chain does not make an entry one that this program admits.
func TestForgedHistory(t *testing.T) {
	genesis, adopt, seal := Genesis{testID}, Adoption{terms("1", "0.5"), 1}, Seal{"visits", 1, digest}
	pay := reservation(key(1), "0.5")
	if err := openBoth(t,
		chained(t, genesis, adopt, seal, pay, pay, Release{4, values(1)}, Release{3, values(1)})); err != nil {
		t.Fatal(err)
	}
	dear := reservation(key(1), "0.6")
	for _, c := range []struct {
		name   string
		bodies []Body
	}{
		{"beyond the budget", []Body{genesis, adopt, seal, pay, pay, reservation(key(1), "0.01")}},
		{"beyond the maximum price", []Body{genesis, adopt, seal, dear}},
		{"without a policy", []Body{genesis, seal, pay}},
		{"a clock that is not ahead", []Body{genesis, adopt, Correction{Ahead: testTime}}},
		{"a clock that stands otherwise", []Body{genesis, adopt, Correction{Ahead: testTime.AddDate(1, 0, 0)}}},
		{"a recovery's loss without a policy", []Body{genesis, Recovery{Lost: LostLog, Loss: &pay.Loss}}},
		{"more than a recovery left", []Body{genesis, adopt, seal, pay, Recovery{Lost: LostHead, Loss: &pay.Loss}, reservation(key(1), "0.01")}},
		{"without a seal", []Body{genesis, adopt, pay}},
		{"release of nothing", []Body{genesis, adopt, seal, Release{0, values(1)}}},
		{"release of the future", []Body{genesis, adopt, seal, Release{4, values(1)}, pay}},
		{"two releases", []Body{genesis, adopt, seal, pay, Release{3, values(1)}, Release{3, values(1)}}},
		{"factor below 1", []Body{genesis, adopt, seal, pay, Adoption{terms("1", "0.5"), 0}}},
		{"torn without a fragment", []Body{genesis, adopt, seal, Torn{Bytes: 3, SHA256: digest, Loss: pure("0.5")}}},
	} {
		err := openBoth(t, chained(t, c.bodies...))
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || corrupt.Line != uint64(len(c.bodies)) && c.name != "release of the future" {
			t.Errorf("%s: %v", c.name, err)
		}
		var exhausted *privacy.OverdrawError
		if errors.As(err, &exhausted) || errors.Is(err, ErrPrice) {
			t.Errorf("%s: corruption looks like a refusal", c.name)
		}
	}
}

func TestNewerFormat(t *testing.T) {
	dir, lines := history7(t)
	newer := fmt.Sprintf(`{"v":%d,"n":7,"what":"ever"}`, FormatVersion+1)
	writeFile(t, dir, logName, []byte(strings.Join(lines, "")+"\n"+newer+"\n"))
	if err := openBoth(t, dir); !errors.Is(err, ErrNewer) {
		t.Error(err)
	}
}

func TestVerifyAgainstCheckpoint(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	early := l.Head()
	mustReserve(t, l, key(1), "0.1")
	oldLog, late := readLog(t, dir), l.Head()
	oldHead, err := os.ReadFile(filepath.Join(dir, headName))
	must(t, err)
	mustReserve(t, l, key(2), "0.1")
	newest := l.Head()
	for _, h := range []Head{early, late, newest} {
		r, err := Verify(dir, &h)
		if err != nil || r.Entries != 5 || r.Behind != 0 || r.HeadFile != newest {
			t.Errorf("%+v %v", r, err)
		}
	}
	must(t, l.Close())
	writeFile(t, dir, logName, oldLog) // the whole home is restored: nothing here shows it
	writeFile(t, dir, headName, oldHead)
	must(t, openBoth(t, dir))
	var back *RolledBackError
	if _, err := Verify(dir, &newest); !errors.As(err, &back) {
		t.Errorf("a restored home: %v", err)
	}
	mustReserve(t, mustOpen(t, dir), key(3), "0.1")
	if _, err := Verify(dir, &newest); !errors.As(err, &back) || back.Have.Index != newest.Index {
		t.Errorf("a restored home that went on: %v", err)
	}
}

// What a fragment costs is charged before terms are adopted that were compared without it: so they are compared again.
func TestFragmentBeforeAnAdoption(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	seen := mustState(t, l)
	writeFile(t, dir, logName, append(readLog(t, dir), `{"v":1,"n":3`...))
	oneSlot(t, dir)
	if err := l.Adopt(terms("2", "0.5"), 1, seen.Head); !errors.Is(err, ErrStale) {
		t.Fatal(err)
	}
	s := mustState(t, l)
	wantEpsilon(t, "spent", s.Spent, "0.5")
	must(t, l.Adopt(terms("2", "0.5"), 1, s.Head))
}
