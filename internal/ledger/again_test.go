package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A line that is read again is what it was read as, however it is spelt; and one that is not the one that was read is
// none.
func TestDecodeAgain(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	var lines []string
	for _, values := range []string{
		`[["1","-22"],["3","4"]]`, `{"b":[["0"]],"values":"\"]}"}`, `"x"`, `0`,
		` [ ] `, `null`,
	} {
		line, err := encodeLine(7, Hash{1, 2}, at, Release{5, json.RawMessage(values)})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line), strings.Replace(string(line), `"kind":`, ` "kind" : `, 1),
			strings.Replace(string(line), `"values":`, "\t\"valu\\u0065s\":  ", 1))
	}
	paying := reservation(key(1), "0.1")
	paying.Caps, paying.Subject = &Caps{Rows: 3}, &Subject{Question: mark(1), Measures: []string{mark(2)}}
	for _, r := range []Reservation{reservation(key(2), "1/3"), paying} {
		line, err := encodeLine(9, Hash{1, 2}, at, r)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line), strings.Replace(string(line), `"question":`, "\t\"questi\\u006fn\" :  ", 1))
	}
	failure, err := encodeLine(8, Hash{3}, at, Failure{Reservation: 5})
	if err != nil {
		t.Fatal(err)
	}
	step, err := encodeLine(8, Hash{3}, at, StepGivenUp{Reservation: 5})
	if err != nil {
		t.Fatal(err)
	}
	quick := 0
	for _, line := range append(lines, string(failure), string(step), "", "{", "null", "[]", `{"v":99}`) {
		want, wrong := decodeLine([]byte(line))
		got, err := decodeAgain([]byte(line), sha256.Sum256([]byte(line)))
		if (err == nil) != (wrong == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v, %v", line, got, err, want, wrong)
		}
		if _, err := decodeAgain([]byte(line), Hash{9}); err == nil {
			t.Errorf("%q is not the line that was read", line)
		}
		if _, ok := takenApart([]byte(line)); ok {
			quick++
		}
	}
	if quick != len(lines) {
		t.Errorf("%d of %d lines are taken apart", quick, len(lines))
	}
}

func TestEntryHaving(t *testing.T) {
	dir, l := begin(t, "1", "1")
	i, err := l.Reserve(reservation(key(0), "0.1"))
	must(t, err)
	want, err := l.Entry(i)
	must(t, err)
	if e, has, err := l.EntryHaving(i, "discrete-laplace"); err != nil || !has || !reflect.DeepEqual(e, want) {
		t.Errorf("an entry that has the text: %v, %v, %v", e, has, err)
	}
	if e, has, err := l.EntryHaving(i, "gaussian"); err != nil || has || e.Body != nil {
		t.Errorf("an entry that does not have it: %v, %v, %v", e, has, err)
	}

	name := filepath.Join(dir, logName)
	log, err := os.ReadFile(name)
	must(t, err)
	changed := bytes.Replace(log, []byte("age < 18"), []byte("age < 19"), 1)
	if bytes.Equal(changed, log) {
		t.Fatal("the log has no such question")
	}
	must(t, os.WriteFile(name, changed, 0o600))
	for _, text := range []string{"", "discrete-laplace", "gaussian"} {
		var corrupt *CorruptError
		if _, has, err := l.EntryHaving(i, text); !errors.As(err, &corrupt) || has {
			t.Errorf("a changed entry, asked for %q: %v, %v", text, has, err)
		}
	}
}

// BenchmarkEntryHaving is what an entry costs that is decoded, and one that is passed over.
func BenchmarkEntryHaving(b *testing.B) {
	_, l := begin(b, "1", "1")
	i, err := l.Reserve(reservation(key(0), "0.1"))
	must(b, err)
	for _, text := range []string{"discrete-laplace", "gaussian"} {
		b.Run(text, func(b *testing.B) {
			for range b.N {
				if _, _, err := l.EntryHaving(i, text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
