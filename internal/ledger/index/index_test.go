package index

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// made are rows of so many entries, of which a third are answers with few keys and kinds.
func made(from uint64, entries int, seed uint64) Rows {
	draw := rand.New(rand.NewPCG(seed, 1))
	r := Rows{From: from}
	for i := range entries {
		e := Entry{Offset: int64(100 * i), Line: uint64(i + 1), Length: draw.IntN(1000)}
		e.Hash = sha256.Sum256(fmt.Append(nil, seed, i))
		r.Entries = append(r.Entries, e)
	}
	for i, paying := range draw.Perm(entries / 3) {
		a := Answer{
			Paying: uint64(3 * paying), Release: from + uint64(3*i), Rho: draw.Float64(),
			About: fmt.Appendf(nil, "about %d", draw.IntN(9)),
		}
		sum := sha256.Sum256(fmt.Append(nil, draw.IntN(1+entries/6)))
		copy(a.Key[:], sum[:])
		r.Answers = append(r.Answers, a)
	}
	return r
}

func mustOpen(t *testing.T, file []byte, offset int, size int, root Hash) *Segment {
	t.Helper()
	s, err := Open(bytes.NewReader(file), int64(offset), int64(size), root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What a segment finds is what a search through its rows finds.
func TestSegment(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 100, 3000} {
		rows := made(77, n, uint64(n))
		data, root := Encode(rows)
		file := append([]byte("before"), data...)
		s := mustOpen(t, append(file, "behind"...), 6, len(data), root)
		if s.From() != 77 || s.To() != 77+uint64(n) {
			t.Fatal(s.From(), s.To())
		}
		all, err := s.Entries(s.From(), s.To())
		if err != nil || !slices.Equal(all, rows.Entries) {
			t.Fatalf("%d entries: %v", n, err)
		}
		for i, want := range rows.Entries {
			if have, err := s.Entry(77 + uint64(i)); err != nil || have != want {
				t.Fatalf("entry %d: %+v %v", i, have, err)
			}
		}
		newest := map[Key]Answer{}
		for _, a := range rows.Answers {
			newest[a.Key] = a
			have, ok, err := s.Of(a.Paying)
			if err != nil || !ok || !same(have, a) {
				t.Fatalf("of %d: %+v %t %v", a.Paying, have, ok, err)
			}
			if _, ok, err := s.Of(a.Paying + 1); ok || err != nil {
				t.Fatal("an answer to nothing")
			}
		}
		for k, want := range newest {
			if have, ok, err := s.Newest(k); err != nil || !ok || !same(have, want) || have.Key != k {
				t.Fatalf("newest: %+v %t %v", have, ok, err)
			}
		}
		passed := 0
		for i := range 1000 {
			sum := sha256.Sum256(fmt.Append(nil, "none", i))
			if _, ok, err := s.Newest(Key(sum[:16])); ok || err != nil {
				t.Fatal("a key that is not there")
			}
			for bit := range bits(Key(sum[:16]), len(s.filter)) {
				if s.filter[bit/8]&(1<<(bit%8)) == 0 {
					passed--
					break
				}
			}
			passed++
		}
		if n == 3000 && passed > 50 {
			t.Errorf("%d of 1000 keys that are not there pass the filter", passed)
		}
		var got []Answer
		last := ""
		if err := s.Kinds(func(about []byte, answers func() ([]Answer, error)) error {
			if string(about) <= last {
				t.Error("a kind twice")
			}
			last = string(about)
			its, err := answers()
			for _, a := range its {
				a.About = about
				got = append(got, a)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got, func(a, b Answer) int { return cmp.Compare(a.Release, b.Release) })
		if !slices.EqualFunc(got, rows.Answers, same) {
			t.Fatalf("%d kinds: %d answers", n, len(got))
		}
		again, same := Encode(rows)
		if !bytes.Equal(again, data) || same != root {
			t.Fatal("another encoding of the same rows")
		}
	}
}

// same leaves the key aside, which is not read again.
func same(a, b Answer) bool {
	return a.Paying == b.Paying && a.Release == b.Release && a.Rho == b.Rho && bytes.Equal(a.About, b.About)
}

// look looks everything up, and returns what it says.
func look(s *Segment, rows Rows) (said []any, err error) {
	all, err := s.Entries(s.From(), s.To())
	said = append(said, all)
	for _, a := range rows.Answers {
		of, ok, e := s.Of(a.Paying)
		found, known, f := s.Newest(a.Key)
		said = append(said, of, ok, found, known)
		err = errors.Join(err, e, f)
	}
	return said, errors.Join(err, s.Kinds(func(about []byte, answers func() ([]Answer, error)) error {
		its, err := answers()
		said = append(said, bytes.Clone(about), its)
		return err
	}))
}

// Whatever a byte is changed to, wherever it is cut, the segment is damaged, or says what it said.
func TestDamage(t *testing.T) {
	rows := made(3, 120, 9)
	data, root := Encode(rows)
	for at := 0; at < len(data); at += 1 + at%37 {
		for _, other := range [][]byte{
			slices.Concat(data[:at], []byte{data[at] ^ byte(1+at%255)}, data[at+1:]),
			data[:at],
		} {
			s, err := Open(bytes.NewReader(other), 0, int64(len(other)), root)
			if err == nil {
				_, err = look(s, rows)
			}
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("byte %d: %v", at, err)
			}
		}
	}
	if _, err := Open(bytes.NewReader(data), 0, int64(len(data)), Hash{1}); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

// FuzzSegment: a hostile segment, even with a root to match, is damaged or says something, and nothing panics.
func FuzzSegment(f *testing.F) {
	data, _ := Encode(made(3, 30, 1))
	f.Add(data, 0)
	f.Add(data[:len(data)/2], 7)
	f.Add([]byte(magic), 0)
	f.Fuzz(func(t *testing.T, data []byte, at int) {
		for _, front := range []int{len(data), max(0, min(at, len(data)))} { // what the root covers
			root := sha256.Sum256(data[:front])
			s, err := Open(bytes.NewReader(data), 0, int64(len(data)), root)
			if err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Fatal(err)
				}
				continue
			}
			if _, err := look(s, made(3, 30, 1)); err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
		}
		mended(data, func(s *Segment) {
			if _, err := look(s, made(3, 30, 1)); err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
		})
	})
}

// mended gives a segment the digests and the root that it should have, as one who can recompute hashes would.
func mended(data []byte, fn func(*Segment)) {
	if len(data) < headSize {
		return
	}
	data = bytes.Clone(data)
	copy(data, magic)
	var n [6]int
	for i := range n {
		if n[i] = int(binary.BigEndian.Uint64(data[len(magic)+8*i:])); n[i] < 0 || n[i] > len(data) {
			return
		}
	}
	payload := len(data) - n[1]*entrySize - n[2]*paidSize - n[3]*keySize - n[4]
	blocks := (len(data) - payload + block - 1) / block
	front := payload - blocks*sha256.Size
	if payload < 0 || front < headSize {
		return
	}
	for i, b := range slices.Collect(slices.Chunk(data[payload:], block)) {
		sum := sha256.Sum256(b)
		copy(data[front+i*sha256.Size:], sum[:])
	}
	if s, err := Open(bytes.NewReader(data), 0, int64(len(data)), sha256.Sum256(data[:payload])); err == nil {
		fn(s)
	}
}
