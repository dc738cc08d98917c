package index

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sort"
)

// Segment is an open segment of an index file. Any number of goroutines may use it.
type Segment struct {
	file    io.ReaderAt
	payload int64 // offset of the payload in the file
	size    int64 // length of the payload in bytes
	from    uint64
	entries int64
	answers int64
	keys    int64
	kinds   int64 // length in bytes of the kinds, the list of distinct subjects
	filter  []byte
	digests []byte
}

// mostBytes is the largest size of the part before a segment's payload. It keeps a hostile file from exhausting
// memory.
const mostBytes = 1 << 30

// Open opens the segment at an offset of a file. It reads everything before the payload. If the segment does not
// have this size and root, Open returns ErrDamaged.
func Open(file io.ReaderAt, offset, size int64, root Hash) (*Segment, error) {
	head := make([]byte, headSize)
	if size < int64(headSize) || readFull(file, head, offset) != nil || string(head[:len(magic)]) != magic {
		return nil, ErrDamaged
	}
	var n [6]int64
	for i := range n {
		n[i] = int64(binary.BigEndian.Uint64(head[len(magic)+8*i:]))
		if n[i] < 0 || i > 0 && n[i] > mostBytes {
			return nil, ErrDamaged
		}
	}
	s := &Segment{file: file, from: uint64(n[0]), entries: n[1], answers: n[2], keys: n[3], kinds: n[4]}
	s.size = s.entries*entrySize + s.answers*paidSize + s.keys*keySize + s.kinds
	blocks := (s.size + block - 1) / block
	front := int64(headSize) + n[5] + blocks*sha256.Size
	if front+s.size != size || front > mostBytes || s.from+uint64(s.entries) > math.MaxInt64 {
		return nil, ErrDamaged
	}
	head = append(head, make([]byte, front-int64(headSize))...)
	if readFull(file, head[headSize:], offset+int64(headSize)) != nil || sha256.Sum256(head) != root {
		return nil, ErrDamaged
	}
	s.payload = offset + front
	s.filter, s.digests = head[headSize:int64(headSize)+n[5]], head[int64(headSize)+n[5]:]
	return s, nil
}

func readFull(file io.ReaderAt, p []byte, offset int64) error {
	if n, err := file.ReadAt(p, offset); n < len(p) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// From returns the index of the first entry.
func (s *Segment) From() uint64 { return s.from }

// To returns the index of the last entry plus 1.
func (s *Segment) To() uint64 { return s.from + uint64(s.entries) }

// Answers returns the number of answers.
func (s *Segment) Answers() int64 { return s.answers }

// read returns a part of the payload, after it has checked the digests of the blocks.
func (s *Segment) read(offset, length int64) ([]byte, error) {
	if offset < 0 || length < 0 || offset > s.size || length > s.size-offset {
		return nil, ErrDamaged
	}
	first := offset / block
	start, end := first*block, min((offset+length+block-1)/block*block, s.size)
	data := make([]byte, end-start)
	if err := readFull(s.file, data, s.payload+start); err != nil {
		return nil, err
	}
	for at := int64(0); at < int64(len(data)); at += block {
		sum := sha256.Sum256(data[at:min(at+block, int64(len(data)))])
		i := (first + at/block) * sha256.Size
		if !bytes.Equal(sum[:], s.digests[i:i+sha256.Size]) {
			return nil, ErrDamaged
		}
	}
	return data[offset-start:][:length], nil
}

func entryOf(b []byte) Entry {
	e := Entry{
		Offset: int64(binary.BigEndian.Uint64(b)), Line: binary.BigEndian.Uint64(b[8:]),
		Length: int(binary.BigEndian.Uint32(b[16:])),
	}
	copy(e.Hash[:], b[20:])
	return e
}

// Entry returns the position of the entry with an index, which must be at least From and below To.
func (s *Segment) Entry(index uint64) (Entry, error) {
	all, err := s.Entries(index, index+1)
	if err != nil {
		return Entry{}, err
	}
	return all[0], nil
}

// Entries returns the positions of the entries with indices from, from+1, …, to−1.
func (s *Segment) Entries(from, to uint64) ([]Entry, error) {
	if from < s.from || to < from || to > s.To() {
		return nil, ErrDamaged
	}
	data, err := s.read(int64(from-s.from)*entrySize, int64(to-from)*entrySize)
	if err != nil {
		return nil, err
	}
	out := make([]Entry, to-from)
	for i := range out {
		out[i] = entryOf(data[i*entrySize:])
	}
	return out, nil
}

// answer returns the answer with a number, without its Key and About. kind is the offset of its subject in the list of
// all subjects.
func (s *Segment) answer(number int64) (a Answer, kind int64, err error) {
	if number < 0 || number >= s.answers {
		return a, 0, ErrDamaged
	}
	data, err := s.read(s.entries*entrySize+number*paidSize, paidSize)
	if err != nil {
		return a, 0, err
	}
	a, kind = answerOf(data)
	return a, kind, nil
}

func answerOf(b []byte) (a Answer, kind int64) {
	a.Paying, a.Release = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	a.Rho = math.Float64frombits(binary.BigEndian.Uint64(b[16:]))
	return a, int64(binary.BigEndian.Uint64(b[24:]))
}

// whole returns the answer with a number, with its About but without its Key.
func (s *Segment) whole(number int64) (Answer, error) {
	a, kind, err := s.answer(number)
	if err != nil {
		return a, err
	}
	if kind < 0 {
		return a, ErrDamaged
	}
	start := s.size - s.kinds
	length, err := s.read(start+kind, 4)
	if err != nil {
		return a, err
	}
	a.About, err = s.read(start+kind+4, int64(binary.BigEndian.Uint32(length)))
	return a, err
}

// Newest returns the newest answer with a key. If the segment has none, ok is false.
func (s *Segment) Newest(k Key) (a Answer, ok bool, err error) {
	for bit := range bits(k, len(s.filter)) {
		if s.filter[bit/8]&(1<<(bit%8)) == 0 {
			return a, false, nil
		}
	}
	start := s.entries*entrySize + s.answers*paidSize
	number, found, err := s.search(s.keys, func(i int64) (int, error) {
		row, err := s.read(start+i*keySize, keySize)
		if err != nil {
			return 0, err
		}
		return bytes.Compare(row[:len(k)], k[:]), nil
	})
	if err != nil || !found {
		return a, false, err
	}
	row, err := s.read(start+number*keySize, keySize)
	if err != nil {
		return a, false, err
	}
	a, err = s.whole(int64(binary.BigEndian.Uint64(row[len(k):])))
	a.Key = k
	return a, err == nil, err
}

// Of returns the answer that the reservation with the index paying paid for. If the segment has none, ok is false.
func (s *Segment) Of(paying uint64) (a Answer, ok bool, err error) {
	number, found, err := s.search(s.answers, func(i int64) (int, error) {
		a, _, err := s.answer(i)
		return cmp.Compare(a.Paying, paying), err
	})
	if err != nil || !found {
		return a, false, err
	}
	a, err = s.whole(number)
	return a, err == nil, err
}

// search finds a row among n sorted rows by bisection. compare(i) returns whether row i is before (< 0), at (0) or
// after (> 0) the wanted row.
func (s *Segment) search(n int64, compare func(int64) (int, error)) (at int64, found bool, err error) {
	i, found := sort.Find(int(n), func(i int) int {
		if err != nil {
			return 0
		}
		var c int
		c, err = compare(int64(i))
		return -c
	})
	return int64(i), found && err == nil, err
}

// Kinds calls fn with each distinct subject. The function that fn gets as answers reads the answers with that
// subject, in order of release, without Key and About.
func (s *Segment) Kinds(fn func(about []byte, answers func() ([]Answer, error)) error) error {
	const window = 16 * block
	start, at := s.size-s.kinds, int64(0)
	var have []byte // bytes that were read, beginning at offset at
	need := func(n int64) error {
		if int64(len(have)) >= n {
			return nil
		}
		data, err := s.read(start+at, min(max(n, window), s.kinds-at))
		if have = data; err == nil && int64(len(have)) < n {
			err = ErrDamaged
		}
		return err
	}
	pass := func(n int64) (out []byte) {
		out, have = have[:n], have[n:]
		at += n
		return out
	}
	for at < s.kinds {
		if err := need(4); err != nil {
			return err
		}
		length := int64(binary.BigEndian.Uint32(have))
		if err := need(4 + length + 4); err != nil {
			return err
		}
		about := pass(4 + length)[4:]
		count := int64(binary.BigEndian.Uint32(pass(4)))
		if err := need(4 * count); err != nil {
			return err
		}
		numbers := pass(4 * count)
		err := fn(about, func() (out []Answer, err error) {
			for ; len(numbers) > 0 && err == nil; numbers = numbers[4:] {
				var a Answer
				a, _, err = s.answer(int64(binary.BigEndian.Uint32(numbers)))
				out = append(out, a)
			}
			return out, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
