package ledger

import (
	"crypto/sha256"
	"sync"

	"dither/internal/ledger/index"
)

// Checkpoint records the state after the entries before a place, so that a reader may begin there
// (docs/design/0002-ledger.md says how far it is trusted). Version 4.
type Checkpoint struct {
	Entries uint64 `json:"entries"` // before the place
	State   Hash   `json:"state"`   // SHA-256 of the state's encoding (snapshot)
	Index   Hash   `json:"index"`   // of the index's segments, one after the other (place.settle)
}

func (Checkpoint) kind() Kind { return KindCheckpoint }

func (c Checkpoint) validate() error {
	if c.Entries == 0 {
		return invalid("a checkpoint of no entries")
	}
	return nil
}

// cadence defines the places. It is a rule of the format: readers with another cadence would not recognise the
// checkpoints.
//
// The places of a log form a chain. The first is its beginning. The next is the first end of an entry that is the given
// number of entries or bytes after the previous place.
type cadence struct {
	entries uint64
	bytes   int64
}

// usual is the cadence of version 4. A reader reads one stretch between two places, and everything since.
var usual = cadence{entries: 16_384, bytes: 16 << 20}

// place is a place that the log passed, and that no checkpoint covers so far.
type place struct {
	entries uint64 // before it
	end     int64  // of the last of them, without its newline
	state   []byte // at the place, encoded
	digest  Hash   // of state

	// The index's content for the stretch that ends here. The slices do not change.
	from    uint64
	refs    []ref
	answers []answered

	before   *place // the previous place; nil if chained has its digest
	settling sync.Once
	chained  Hash // of the segments before; after settle, with this one
	segment  part
}

// part is a segment of the index file. Parts follow each other.
type part struct {
	Root index.Hash
	Size int64
}

// rows returns the rows of the segment.
func (p *place) rows() index.Rows {
	rows := index.Rows{
		From: p.from, Entries: make([]index.Entry, len(p.refs)),
		Answers: make([]index.Answer, len(p.answers)),
	}
	for i, r := range p.refs {
		rows.Entries[i] = index.Entry{Offset: r.offset, Line: r.line, Length: r.length, Hash: r.hash}
	}
	known := map[*About][]byte{}
	for i, a := range p.answers {
		if known[a.about] == nil {
			known[a.about] = a.about.encode()
		}
		rows.Answers[i] = index.Answer{
			Key: indexKey(a.key), Paying: a.paying, Release: a.release, Rho: a.rho,
			About: known[a.about],
		}
	}
	return rows
}

// indexKey is the index's key for a replay key.
func indexKey(key string) (k index.Key) {
	sum := sha256.Sum256([]byte(key))
	copy(k[:], sum[:])
	return k
}

// settle computes the digest of the segment, and of all segments up to it. It needs no lock, because nothing that it
// reads changes.
func (p *place) settle() {
	p.settling.Do(func() {
		_, p.segment = p.encode()
		if p.before != nil {
			p.before.settle()
			p.chained, p.before = p.before.chained, nil
		}
		p.chained = chain(p.chained, p.segment)
	})
}

// encode writes the segment.
func (p *place) encode() ([]byte, part) {
	data, root := index.Encode(p.rows())
	return data, part{root, int64(len(data))}
}

// chain is the index's digest after one more segment.
func chain(before Hash, next part) Hash {
	return sha256.Sum256(append(before[:len(before):len(before)], next.Root[:]...))
}

// body returns the checkpoint entry for the place.
func (p *place) body() Checkpoint {
	p.settle()
	return Checkpoint{Entries: p.entries, State: p.digest, Index: p.chained}
}

// pass notes a place if the newest entry ends at one.
func (h *history) pass(at ref) {
	end := at.offset + int64(at.length)
	if h.count()-h.passed.entries < h.every.entries && end-h.passed.end < h.every.bytes {
		return
	}
	p := &place{entries: h.count(), end: end, from: h.passed.entries, before: h.passed.place, chained: h.passed.chained}
	p.state = h.snapshot(at)
	p.digest = sha256.Sum256(p.state)
	p.refs = h.refs[p.from-h.base : len(h.refs) : len(h.refs)]
	first := len(h.answers)
	for first > 0 && h.answers[first-1].release >= p.from {
		first--
	}
	p.answers = h.answers[first:len(h.answers):len(h.answers)]
	h.passed = passed{entries: p.entries, end: end, place: p}
	h.pending = append(h.pending, p)
	if h.spill != nil {
		h.spill(p)
	}
}

// passed is the newest place.
type passed struct {
	entries uint64
	end     int64
	// nil if a checkpoint covers it and this reader did not pass it: then chained is the index's digest there
	place   *place
	chained Hash
}

// checkCheckpoint compares a checkpoint with what this reader found at its place.
//
// A reader that began at a checkpoint relies on that one. It accepts earlier checkpoints in the log unchecked, because
// it does not use them; a reader of the whole log checks them.
func (h *history) checkCheckpoint(c Checkpoint, index uint64) error {
	if index < h.begunAt && c.Entries < h.begun.Entries || index == h.begunAt && c == h.begun {
		return nil
	}
	for _, p := range h.pending {
		if p.entries == c.Entries {
			if p.body() != c {
				return invalid("a checkpoint says something else than the entries before it")
			}
			return nil
		}
	}
	return invalid("a checkpoint is of one of the places since the one before")
}

// cover notes a checkpoint: the places that it covers need no further one.
func (h *history) cover(c Checkpoint, at ref) {
	for i, p := range h.pending {
		if p.entries == c.Entries {
			h.covered = append(h.covered, h.pending[:i+1]...)
			h.pending = h.pending[i+1:]
			h.newestCheckpoint = &located{at, p.state, c}
			return
		}
	}
}

// located is a checkpoint with its position and what it covers.
type located struct {
	at    ref
	state []byte
	body  Checkpoint
}
