// Package index writes and reads the segments of a ledger's index. The index says where entries are in the log, and
// which entries answer which questions.
//
// A segment covers the entries from one index to another, and never changes. Its root is a digest of the whole
// segment, so a reader that knows the root detects any changed byte. A lookup reads and checks only the blocks that
// it needs. Equal rows always give the same bytes.
//
// # Format
//
// All numbers are big-endian. Sizes in bytes are in brackets. The parts of a segment, in order:
//
//	the magic, then six numbers (8 each): first entry; number of entries,
//	  of answers, of keys; bytes of the kinds, of the filter
//	the filter: a Bloom filter of the keys
//	the SHA-256 of each block of 4096 bytes of the payload; the last block may be shorter
//	the payload:
//	  entries: offset (8), line (8), length (4), hash (32); in log order
//	  answers: index of the reservation (8), of the release (8), bits of ρ (8),
//	    offset of its kind (8); sorted by reservation
//	  keys: key (16), number of its newest answer (8); sorted, each once
//	  kinds: length (4), subject, number of answers (4), numbers of these answers (4 each);
//	    sorted by subject, each subject once
//
// The number of an answer is its position in the list of answers. The root is the SHA-256 of everything before the
// payload.
package index

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Hash is a SHA-256.
type Hash = [sha256.Size]byte

// Key is the key by which an answer is looked up: a digest of its replay key.
type Key [16]byte

// Entry is the position of an entry in the log, and its hash.
type Entry struct {
	Offset int64
	Line   uint64
	Length int
	Hash   Hash
}

// Answer is a release with the reservation that paid for it.
type Answer struct {
	Key             Key
	Paying, Release uint64 // indices of the entries of the reservation and of the release
	Rho             float64
	About           []byte // the answer's subject, in an encoding that this package does not read
}

// Rows is the content of a segment.
type Rows struct {
	From    uint64 // index of the first entry
	Entries []Entry
	Answers []Answer // in order of release
}

// ErrDamaged reports a segment that does not match its root.
var ErrDamaged = errors.New("the index is damaged")

const (
	magic     = "dither ledger index 1\n\x00\x00" // 24 bytes
	headSize  = len(magic) + 6*8
	block     = 4096
	entrySize = 8 + 8 + 4 + 32
	paidSize  = 4 * 8
	keySize   = 16 + 8
	perKey    = 10 // bits of the filter per key; about one absent key in a hundred passes the filter
	probes    = 7
)

// Encode returns the bytes of a segment and its root.
func Encode(r Rows) (data []byte, root Hash) {
	order := make([]int, len(r.Answers)) // positions in r.Answers, sorted by reservation
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(r.Answers[i].Paying, r.Answers[j].Paying) })
	number := make([]uint32, len(order)) // position in r.Answers → number in the segment
	for n, i := range order {
		number[i] = uint32(n)
	}
	kinds, starts := encodeKinds(r.Answers, number)
	newest := map[Key]uint32{}
	for i, a := range r.Answers {
		newest[a.Key] = number[i] // later answers overwrite earlier ones
	}
	keys := make([]Key, 0, len(newest))
	for k := range newest {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b Key) int { return bytes.Compare(a[:], b[:]) })

	var p []byte // the payload
	for _, e := range r.Entries {
		p = binary.BigEndian.AppendUint64(p, uint64(e.Offset))
		p = binary.BigEndian.AppendUint64(p, e.Line)
		p = binary.BigEndian.AppendUint32(p, uint32(e.Length))
		p = append(p, e.Hash[:]...)
	}
	for _, i := range order {
		a := r.Answers[i]
		for _, x := range []uint64{a.Paying, a.Release, math.Float64bits(a.Rho), starts[i]} {
			p = binary.BigEndian.AppendUint64(p, x)
		}
	}
	filter := make([]byte, (perKey*len(keys)+7)/8)
	for _, k := range keys {
		p = append(p, k[:]...)
		p = binary.BigEndian.AppendUint64(p, uint64(newest[k]))
		for bit := range bits(k, len(filter)) {
			filter[bit/8] |= 1 << (bit % 8)
		}
	}
	p = append(p, kinds...)

	head := []byte(magic)
	for _, n := range []int{len(r.Entries), len(r.Answers), len(keys), len(kinds), len(filter)} {
		if len(head) == len(magic) {
			head = binary.BigEndian.AppendUint64(head, r.From)
		}
		head = binary.BigEndian.AppendUint64(head, uint64(n))
	}
	head = append(head, filter...)
	for b := range slices.Chunk(p, block) {
		sum := sha256.Sum256(b)
		head = append(head, sum[:]...)
	}
	return append(head, p...), sha256.Sum256(head)
}

// encodeKinds encodes each distinct subject once, with the numbers of its answers. It returns for each answer the
// offset of its subject in data. number has the number of each answer.
func encodeKinds(answers []Answer, number []uint32) (data []byte, starts []uint64) {
	of := map[string][]int{}
	var abouts []string
	for i, a := range answers {
		about := string(a.About)
		if of[about] == nil {
			abouts = append(abouts, about)
		}
		of[about] = append(of[about], i)
	}
	slices.Sort(abouts)
	starts = make([]uint64, len(answers))
	for _, about := range abouts {
		start := uint64(len(data))
		data = binary.BigEndian.AppendUint32(data, uint32(len(about)))
		data = append(data, about...)
		data = binary.BigEndian.AppendUint32(data, uint32(len(of[about])))
		for _, i := range of[about] {
			starts[i] = start
			data = binary.BigEndian.AppendUint32(data, number[i])
		}
	}
	return data, starts
}

// bits yields the positions of the bits that represent a key in a filter of size bytes.
func bits(k Key, size int) func(func(uint64) bool) {
	return func(yield func(uint64) bool) {
		if size == 0 {
			return
		}
		a, b := binary.BigEndian.Uint64(k[:8]), binary.BigEndian.Uint64(k[8:])|1
		for i := range uint64(probes) {
			if !yield((a + i*b) % uint64(8*size)) {
				return
			}
		}
	}
}
