package ledger

import (
	"crypto/sha256"
	"sync"

	"dither/internal/ledger/index"
)

// Checkpoint records digests of the state and the index after the first Entries entries, which end at a place
// (cadence defines places). A reader may start from there instead of reading those entries.
// docs/design/0002-ledger.md says what the reader then trusts. Version 4.
type Checkpoint struct {
	Entries uint64 `json:"entries"` // number of entries before the place
	State   Hash   `json:"state"`   // SHA-256 of the encoded state (snapshot)
	Index   Hash   `json:"index"`   // digest of all segments of the index up to the place (place.settle)
}

func (Checkpoint) kind() Kind { return KindCheckpoint }

func (c Checkpoint) validate() error {
	if c.Entries == 0 {
		return invalid("a checkpoint of no entries")
	}
	return nil
}

// cadence says how often a log has places, the positions that a checkpoint may cover. The first place is the
// beginning of the log. Each next place is the first end of an entry that is at least the given number of entries
// or of bytes after the previous place.
//
// The cadence belongs to the format: a reader with another cadence would reject the checkpoints.
type cadence struct {
	entries uint64
	bytes   int64
}

// usual is the cadence of version 4. Open reads at most the entries between two places, and those since the newest
// place.
var usual = cadence{entries: 16_384, bytes: 16 << 20}

// place is a place, as cadence defines it, that this reader passed. It holds the data for a checkpoint and for an
// index segment.
type place struct {
	entries uint64 // number of entries before the place
	end     int64  // offset of the end of the last of these entries, without its newline
	state   []byte // the encoded state at the place
	digest  Hash   // of state

	// Rows of the index segment from the previous place to this one. The slices do not change.
	from    uint64
	refs    []ref
	answers []answered

	before   *place // the previous place; nil if chained is its digest
	settling sync.Once
	chained  Hash // digest of the index's segments before this place's own, which settle adds
	segment  part
}

// part is the digest and size of one segment of the index file.
type part struct {
	Root index.Hash
	Size int64
}

// rows returns the rows of the index segment that ends at p.
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

// indexKey returns the key in the index for a replay key: the first half of its SHA-256.
func indexKey(key string) (k index.Key) {
	sum := sha256.Sum256([]byte(key))
	copy(k[:], sum[:])
	return k
}

// settle computes the digest of p's index segment, and of all segments up to it. It needs no lock, because the
// fields that it reads do not change.
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

// encode returns the bytes of p's segment, with their digest and size.
func (p *place) encode() ([]byte, part) {
	data, root := index.Encode(p.rows())
	return data, part{root, int64(len(data))}
}

// chain returns the digest of the index after one more segment. The parameter `before` is the digest without it.
func chain(before Hash, next part) Hash {
	return sha256.Sum256(append(before[:len(before):len(before)], next.Root[:]...))
}

// body returns the entry of kind "checkpoint" for the place p in the log.
func (p *place) body() Checkpoint {
	p.settle()
	return Checkpoint{Entries: p.entries, State: p.digest, Index: p.chained}
}

// pass adds a place to h.pending if one is due after the newest entry, as cadence defines it. The parameter `at` is the
// entry's position.
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

// passed is the newest place that this reader passed (see cadence), or the beginning of the log.
type passed struct {
	entries uint64
	end     int64
	// nil at the beginning of the log, or if this reader started from a checkpoint there; chained is then the
	// index's digest
	place   *place
	chained Hash
}

// checkCheckpoint compares a checkpoint with the state and the index that this reader computed at the same place.
//
// A reader that started from a checkpoint trusts that checkpoint. It also accepts earlier checkpoints without a
// comparison, because it does not use them. A reader of the whole log compares every checkpoint.
func (h *history) checkCheckpoint(c Checkpoint, index uint64) error {
	if index < h.begunAt && c.Entries < h.begun.Entries || index == h.begunAt && c == h.begun {
		return nil
	}
	for _, p := range h.pending {
		if p.entries == c.Entries {
			if p.body() != c {
				return invalid("a checkpoint does not match the entries before it")
			}
			return nil
		}
	}
	return invalid("a checkpoint must be of one of the places since the previous checkpoint")
}

// cover moves the places up to that of checkpoint c from pending to covered. The parameter `at` is the position of its
// entry.
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

// located is a checkpoint with the position of its entry and the encoded state that it covers.
type located struct {
	at    ref
	state []byte
	body  Checkpoint
}
