package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
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
		{"edited", replace(3, `"0.1"`, `"0.01"`), 5},
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
		{"blank line", func(l []string) []string { l[3] += "\n"; return l }, 5},
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
	genesis, adopt, seal := Genesis{testID}, Adoption{terms("1", "0.5"), "1"}, Seal{"visits", 1, digest}
	pay := reservation(key(1), "0.5")
	if err := openBoth(t, chained(t, genesis, adopt, seal, pay, pay, Release{4, values(1)}, Release{3, values(1)})); err != nil {
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
		{"without a seal", []Body{genesis, adopt, pay}},
		{"release of nothing", []Body{genesis, adopt, seal, Release{0, values(1)}}},
		{"release of the future", []Body{genesis, adopt, seal, Release{4, values(1)}, pay}},
		{"two releases", []Body{genesis, adopt, seal, pay, Release{3, values(1)}, Release{3, values(1)}}},
		{"factor below 1", []Body{genesis, adopt, seal, pay, Adoption{terms("1", "0.5"), "1/2"}}},
		{"torn without a fragment", []Body{genesis, adopt, seal, Torn{3, digest, Loss{epsilon("0.5")}}}},
	} {
		err := openBoth(t, chained(t, c.bodies...))
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || corrupt.Line != uint64(len(c.bodies)) && c.name != "release of the future" {
			t.Errorf("%s: %v", c.name, err)
		}
		var exhausted *privacy.ExhaustedError
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

func TestHeadFile(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"empty", "", ErrHeadUnreadable},
		{"garbage", "head", ErrHeadUnreadable},
		{"long", strings.Repeat("1", 200), ErrHeadUnreadable},
		{"leading zero", "06:" + digest, ErrHeadUnreadable},
		{"upper case", "6:" + strings.ToUpper(digest), ErrHeadUnreadable},
	} {
		dir, _ := history7(t)
		writeFile(t, dir, headName, []byte(c.text))
		if err := openBoth(t, dir); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	dir, _ := history7(t)
	kept, err := Verify(dir, nil)
	must(t, err)
	head := kept.State.Head
	must(t, os.Remove(filepath.Join(dir, headName)))
	if err := openBoth(t, dir); !errors.Is(err, ErrHeadMissing) {
		t.Error(err)
	}
	writeFile(t, dir, headName, []byte(head.String())) // restored from what was printed, without its newline
	must(t, openBoth(t, dir))
	must(t, os.Remove(filepath.Join(dir, headName)))
	must(t, os.Mkdir(filepath.Join(dir, headName), 0o700))
	if err := openBoth(t, dir); !errors.Is(err, ErrNotFile) {
		t.Error(err)
	}
	for name, h := range map[string]Head{"future": {7, head.Hash}, "other": {5, head.Hash}} {
		var back *RolledBackError
		writeFile(t, mustEmptyHead(t, dir), headName, []byte(h.String()))
		if err := openBoth(t, dir); !errors.As(err, &back) || back.Want != h {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func mustEmptyHead(t *testing.T, dir string) string {
	t.Helper()
	must(t, os.RemoveAll(filepath.Join(dir, headName)))
	return dir
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

// TestHeadBehind: a crash between the log and the head leaves an older head, which is put right.
func TestHeadBehind(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	old := l.Head()
	mustReserve(t, l, key(1), "0.1")
	must(t, l.Close())
	writeFile(t, dir, headName, []byte(old.String()+"\n"))
	r, err := Verify(dir, nil)
	if err != nil || r.Behind != 1 {
		t.Errorf("%+v %v", r, err)
	}
	wantEpsilon(t, "spent", mustState(t, mustOpen(t, dir)).Spent, "0.1")
	if r, err := Verify(dir, nil); err != nil || r.Behind != 0 {
		t.Errorf("after opening: %+v %v", r, err)
	}
}

func TestFragments(t *testing.T) {
	torn := func(name, tail, spent string, entries uint64) {
		t.Run(name, func(t *testing.T) {
			dir, l := begin(t, "1", "0.3")
			mustReserve(t, l, key(1), "0.1")
			must(t, l.Close())
			writeFile(t, dir, logName, append(readLog(t, dir), tail...))
			before := readLog(t, dir)
			l = mustOpen(t, dir)
			wantEpsilon(t, "spent when reading", mustState(t, l).Spent, spent)
			if !bytes.Equal(before, readLog(t, dir)) {
				t.Error("reading wrote")
			}
			mustReserve(t, l, key(2), "0.05")
			s := mustState(t, l)
			wantEpsilon(t, "spent", s.Spent.Minus(epsilon("0.05")), spent)
			r, err := Verify(dir, nil)
			if err != nil || r.Entries != entries || r.Fragment != 0 {
				t.Errorf("%+v %v", r, err)
			}
		})
	}
	torn("half a line", `{"v":1,"n":4,"pr`, "0.4", 6)
	torn("one byte", `{`, "0.4", 6)
	torn("a line of zeros", string(make([]byte, 5000)), "0.4", 6)
	torn("ended", `{"v":1,"n"`+"\n", "0.4", 6)
	torn("two attempts", `{"v":1,"n"`+"\n"+`{"v":1,"n":4,"prev`, "0.4", 6)
	torn("nothing", "", "0.1", 5)
}

// TestFragmentTakesWhatRemains: a fragment is never charged beyond the budget.
func TestFragmentTakesWhatRemains(t *testing.T) {
	dir, l := begin(t, "1", "0.7")
	mustReserve(t, l, key(1), "0.7")
	must(t, l.Close())
	for range 2 {
		writeFile(t, dir, logName, append(readLog(t, dir), `{"v":1`...))
		l = mustOpen(t, dir)
		wantEpsilon(t, "spent", mustState(t, l).Spent, "1")
		must(t, l.Sealed("people", int(l.Head().Index), digest)) // a version that increases
		wantEpsilon(t, "spent after the repair", mustState(t, l).Spent, "1")
		must(t, l.Close())
	}
	if r, err := Verify(dir, nil); err != nil || r.State.Torn != 2 {
		t.Errorf("%+v %v", r, err)
	}
}

// TestUnendedLine: a line that lacks only its newline is an entry.
func TestUnendedLine(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	old := l.Head()
	mustReserve(t, l, key(1), "0.1")
	must(t, l.Close())
	writeFile(t, dir, logName, bytes.TrimSuffix(readLog(t, dir), []byte("\n")))
	writeFile(t, dir, headName, []byte(old.String()))
	l = mustOpen(t, dir)
	s := mustState(t, l)
	wantEpsilon(t, "spent", s.Spent, "0.1")
	must(t, l.Release(3, values(1)))
	if r, err := Verify(dir, nil); err != nil || r.Entries != 5 || r.State.Torn != 0 {
		t.Errorf("%+v %v", r, err)
	}
}

// TestUnderTheHandle: what happens to the files while a ledger is open is seen by the next call.
func TestUnderTheHandle(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(dir string) error
		want error // nil is a rollback
	}{
		{"log deleted", func(dir string) error { return os.Remove(filepath.Join(dir, logName)) }, ErrMoved},
		{"log replaced", func(dir string) error {
			data, err := os.ReadFile(filepath.Join(dir, logName))
			if err != nil {
				return err
			}
			if err := os.Remove(filepath.Join(dir, logName)); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, logName), data, 0o600)
		}, ErrMoved},
		{"head deleted", func(dir string) error { return os.Remove(filepath.Join(dir, headName)) }, ErrHeadMissing},
		{"log truncated", func(dir string) error { return os.Truncate(filepath.Join(dir, logName), 100) }, nil},
	} {
		dir, l := begin(t, "1", "0.5")
		paid := mustReserve(t, l, key(1), "0.1")
		must(t, c.do(dir))
		_, reserving := l.Reserve(reservation(key(2), "0.1"))
		_, stating := l.State()
		for _, err := range []error{reserving, stating, l.Release(paid, values(1))} {
			var back *RolledBackError
			if c.want != nil && !errors.Is(err, c.want) || c.want == nil && !errors.As(err, &back) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// TestForeignTruncation: another handle, which had not read the newest entry, sees that it was cut off.
func TestForeignTruncation(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	behind := mustOpen(t, dir)
	size := int64(len(readLog(t, dir)))
	mustReserve(t, l, key(1), "0.1")
	must(t, os.Truncate(filepath.Join(dir, logName), size))
	var back *RolledBackError
	if _, err := behind.Reserve(reservation(key(2), "0.1")); !errors.As(err, &back) {
		t.Error(err)
	}
}

func TestNotALedger(t *testing.T) {
	dir := t.TempDir()
	if err := openBoth(t, dir); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	writeFile(t, dir, headName, []byte("0:"+digest)) // the log was deleted; its head says that there was one
	if err := openBoth(t, dir); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	must(t, os.Mkdir(filepath.Join(dir, logName), 0o700))
	if err := openBoth(t, dir); !errors.Is(err, ErrNotFile) {
		t.Error(err)
	}
}

func TestReadOnlyHome(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere; TestEveryStepFails fails the opening")
	}
	dir, _ := history7(t)
	must(t, os.Chmod(filepath.Join(dir, logName), 0o400))
	if _, err := Open(dir, clock); !errors.Is(err, os.ErrPermission) {
		t.Error(err)
	}
	if _, err := Verify(dir, nil); err != nil {
		t.Error(err)
	}
}

// TestFullDisk writes to a device that is always full.
func TestFullDisk(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	l.file = fullFile{l.file.(systemFile), full}
	_, err = l.Reserve(reservation(key(1), "0.1"))
	if !errors.Is(err, ErrAmbiguous) || !strings.Contains(err.Error(), "no space left") {
		t.Error(err)
	}
	wantEpsilon(t, "spent", mustState(t, mustOpen(t, dir)).Spent, "0")
}

// fullFile reads from a file and writes to a full one.
type fullFile struct {
	systemFile
	full *os.File
}

func (f fullFile) Write(p []byte) (int, error) { return f.full.Write(p) }

func TestLongLine(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	paid := mustReserve(t, l, key(1), "0.1")
	if err := l.Release(paid, json.RawMessage(`"`+strings.Repeat("x", maxLine)+`"`)); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	must(t, l.Release(paid, json.RawMessage(`"`+strings.Repeat("x", 5<<20)+`"`)))
	must(t, openBoth(t, dir))
	long, err := os.OpenFile(filepath.Join(dir, logName), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	must(t, long.Truncate(1<<30)) // sparse: a line of zeros
	must(t, long.Close())
	var corrupt *CorruptError
	if err := openBoth(t, dir); !errors.As(err, &corrupt) || !errors.Is(err, errTooLong) {
		t.Error(err)
	}
}
