package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzOpen reads any bytes as a log: it ends in an error or in a state that adds up, and writes nothing. The head file
// is the genesis', so that all that follows it counts as not yet confirmed, where a reader has to trust least. With
// mend the lines are first made a whole chain, as one who can recompute hashes would.
func FuzzOpen(f *testing.F) {
	givenUp, err := os.ReadFile(filepath.Join("testdata", "v3.log"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(givenUp, false)
	f.Add(givenUp, true)
	newer, err := os.ReadFile(filepath.Join("testdata", "v2.log"))
	if err != nil {
		f.Fatal(err)
	}
	said := strings.SplitAfter(string(newer), "\n")
	for i := range said {
		f.Add([]byte(strings.Join(said[:i+1], "")), false)
		f.Add([]byte(strings.Join(said[:i+1], "")), true)
		f.Add([]byte(strings.Join(said[:3], "")+said[i]), true)
		f.Add([]byte(strings.Join(said, "")+said[i]+`{"v":2`), true)
	}
	for _, owners := range ownersLines() {
		f.Add([]byte(owners), true)
	}
	whole, err := os.ReadFile(filepath.Join("testdata", "v1.log"))
	if err != nil {
		f.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for _, mend := range []bool{false, true} {
		for i := range lines {
			f.Add([]byte(strings.Join(lines[:i], "")), mend)
		}
		f.Add([]byte(strings.Join(lines, "")+lines[1]+lines[3]+lines[3]+lines[4]), mend)
		f.Add(whole[:len(whole)-1], mend)
		f.Add(whole[:len(whole)-30], mend)
		f.Add([]byte(lines[0]+`{"v":2}`+"\n"), mend)
		f.Add([]byte(lines[0]+"\n\n\x00{"), mend)
	}
	f.Fuzz(func(t *testing.T, data []byte, mend bool) {
		if mend {
			data = mended(data)
		}
		m := newMemFS(t)
		put := func(name string, data []byte) {
			m.names[filepath.Join(faultDir, name)] = &inode{data: data}
		}
		put(logName, data)
		put(headName, []byte("0:a064b9e3b39ccf63069b0de7fa8185f6b19603824e5\n"))
		if first, _, ok := strings.Cut(string(data), "\n"); ok {
			if e, err := decodeLine([]byte(first)); err == nil {
				put(headName, []byte(Head{0, e.Hash}.String()+"\n"))
			}
		}
		r, verified := verify(m, faultDir, nil)
		l, err := open(m, faultDir, clock)
		if (err == nil) != (verified == nil) {
			t.Fatalf("Open says %v, Verify %v", err, verified)
		}
		if string(m.names[filepath.Join(faultDir, logName)].data) != string(data) {
			t.Fatal("reading wrote")
		}
		if err != nil {
			return
		}
		s := mustState(t, l)
		if !s.Remaining.Within(s.Budget) || s.Answers > s.Reservations || !equal(s.Spent, r.State.Spent) {
			t.Fatalf("%+v", s)
		}
		if s.Period != nil && !s.Period.Remaining.Within(s.Period.Loss) {
			t.Fatalf("%+v", s.Period)
		}
		if s.Period == nil && s.Spent.Within(s.Budget) && !equal(s.Spent.Plus(s.Remaining), s.Budget) {
			t.Fatalf("%+v", s)
		}
		must(t, l.Sealed("fuzz", 1<<40, digest)) // it can go on
		if _, err := verify(m, faultDir, nil); err != nil && !errors.Is(err, ErrInvalid) {
			t.Fatal(err)
		}
	})
}

// mended gives every line that is a frame the index and the previous hash that it should have.
func mended(data []byte) []byte {
	var out []byte
	var prev Hash
	index := uint64(0)
	for line := range bytes.Lines(data) {
		var f frame
		if json.Unmarshal(line, &f) != nil {
			out = append(out, line...)
			continue
		}
		f.N, f.Prev = index, prev
		whole, err := marshal(f)
		if err != nil {
			out = append(out, line...)
			continue
		}
		index, prev = index+1, sha256.Sum256(whole)
		out = append(append(out, whole...), '\n')
	}
	return out
}

// FuzzHead: what is read as a head is written again as it was.
func FuzzHead(f *testing.F) {
	f.Add("0:" + digest)
	f.Add("18446744073709551615:" + digest + "\n")
	f.Add("-1:" + digest)
	f.Add("1:" + digest[1:])
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseHead(text)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		if h.String() != strings.TrimSuffix(text, "\n") {
			t.Fatalf("%q is read as %s", text, h)
		}
	})
}
