package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"dither/internal/ledger/index"
)

// past looks up entries that are no longer in memory, in the index file. Its segments are consecutive and begin
// with entry 0. A past never changes: a history that forgets more entries gets a new past.
type past struct {
	file     file
	parts    []part // root and size of each segment, in file order
	segments []*index.Segment
}

// errIndex reports an index that does not match the ledger. The ledger then reads the whole log again, which costs
// only time.
var errIndex = errors.New("ledger.index is damaged")

// damaged wraps an error in errIndex; nil stays nil.
func damaged(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errIndex, err)
}

// with returns a copy of p with one more segment at the end, or nil if the file does not contain it.
func (p *past) with(next part) *past {
	s, err := index.Open(p.file, p.size(), next.Size, next.Root)
	if err != nil || s.From() != p.to() {
		return nil
	}
	return &past{p.file, append(slices.Clip(p.parts), next), append(slices.Clip(p.segments), s)}
}

// size returns the number of bytes of the segments.
func (p *past) size() (n int64) {
	for _, s := range p.parts {
		n += s.Size
	}
	return n
}

// to returns the index of the last entry plus 1.
func (p *past) to() uint64 {
	if len(p.segments) == 0 {
		return 0
	}
	return p.segments[len(p.segments)-1].To()
}

// of returns the segment that contains an entry, whose index must be below to.
func (p *past) of(entry uint64) *index.Segment {
	i, _ := slices.BinarySearchFunc(p.segments, entry+1,
		func(s *index.Segment, end uint64) int { return cmp.Compare(s.To(), end) })
	return p.segments[i]
}

func refOf(e index.Entry) ref {
	return ref{hash: e.Hash, line: e.Line, offset: e.Offset, length: e.Length}
}

// at returns the position of entry i. It returns errIndex if this history has not read entry i. That happens if the
// index was damaged and the reading of the whole log then failed.
func (h *history) at(i uint64) (ref, error) {
	if i >= h.count() {
		return ref{}, errIndex
	}
	if i >= h.base {
		return h.refs[i-h.base], nil
	}
	if h.past == nil {
		return ref{}, errIndex
	}
	e, err := h.past.of(i).Entry(i)
	return refOf(e), damaged(err)
}

// span returns positions of consecutive entries, whose indices j satisfy i ≤ j < to. It may return fewer, as many as
// one lookup finds. The errors are those of at.
func (h *history) span(i, to uint64) ([]ref, error) {
	if to > h.count() {
		return nil, errIndex
	}
	if i >= h.base {
		return h.refs[i-h.base : to-h.base], nil
	}
	if h.past == nil {
		return nil, errIndex
	}
	s := h.past.of(i)
	entries, err := s.Entries(i, min(to, s.To(), i+4096))
	out := make([]ref, len(entries))
	for n, e := range entries {
		out[n] = refOf(e)
	}
	return out, damaged(err)
}

// hashAt returns the hash of entry i, which must exist.
func (h *history) hashAt(i uint64) (Hash, error) {
	if i == h.last.Index {
		return h.last.Hash, nil
	}
	if hash, kept := h.witness[i]; kept {
		return hash, nil
	}
	r, err := h.at(i)
	return r.hash, err
}

// find returns the newest answer with a replay key. If there is none, ok is false.
func (h *history) find(key string) (a answered, ok bool, err error) {
	if i, ok := h.newest[key]; ok {
		return h.answers[i], true, nil
	}
	if h.past == nil {
		return a, false, nil
	}
	k := indexKey(key)
	for _, s := range slices.Backward(h.past.segments) {
		found, ok, err := s.Newest(k)
		if err != nil {
			return a, false, damaged(err)
		}
		if !ok {
			continue
		}
		if a, err = answeredOf(found); err == nil {
			a.key = key
			err = h.confirmAnswer(a)
		}
		return a, err == nil, err
	}
	return a, false, nil
}

// answerTo returns the answer that a reservation paid for. If there is none, ok is false.
func (h *history) answerTo(reservation uint64) (a answered, ok bool, err error) {
	if i := slices.IndexFunc(h.answers, func(a answered) bool { return a.paying == reservation }); i >= 0 {
		return h.answers[i], true, nil
	}
	if h.past == nil {
		return a, false, nil
	}
	for _, s := range h.past.segments {
		if s.To() <= reservation {
			continue
		}
		found, ok, err := s.Of(reservation)
		if err != nil {
			return a, false, damaged(err)
		}
		if ok {
			a, err = answeredOf(found)
			return a, err == nil, err
		}
	}
	return a, false, nil
}

func answeredOf(a index.Answer) (answered, error) {
	about, err := decodeAbout(a.About)
	return answered{about: about, rho: a.Rho, release: a.Release, paying: a.Paying}, damaged(err)
}

// confirmAnswer returns errIndex if the index found an answer for a.key whose reservation has another key.
func (h *history) confirmAnswer(a answered) error {
	r, err := h.reservation(a.paying)
	if err == nil && r.Key != a.key {
		err = damaged(errors.New("it names another answer"))
	}
	return err
}

// reservation reads the reservation with index i from the log.
func (h *history) reservation(i uint64) (Reservation, error) {
	at, err := h.at(i)
	if err != nil {
		return Reservation{}, err
	}
	e, err := readEntry(h.source, at)
	if err != nil {
		return Reservation{}, err
	}
	r, ok := e.Body.(Reservation)
	if !ok || e.Index != i {
		return r, damaged(errors.New("it names another entry"))
	}
	return r, nil
}

// recall reads a reservation from the log again, if its key and subject are no longer in memory. A release needs
// them.
func (h *history) recall(reservation uint64) error {
	w := h.waiting[reservation]
	if w.about != nil {
		return nil
	}
	r, err := h.reservation(reservation)
	if err != nil {
		return &recallError{err}
	}
	w.key, w.about, w.rho = r.Key, h.about(r), rhoOf(r.Loss)
	return nil
}

// recallError reports that the reservation of a release could not be read again. The release itself may be valid.
type recallError struct{ error }

func (e *recallError) Unwrap() error { return e.error }

// readEntry reads an entry from the log again. It needs no lock, because acknowledged entries do not change.
func readEntry(log io.ReaderAt, r ref) (Entry, error) {
	line, err := readLine(log, r)
	if err != nil {
		return Entry{}, err
	}
	return decodeAt(line, r)
}

func readLine(log io.ReaderAt, r ref) ([]byte, error) {
	line := make([]byte, r.length)
	if n, err := log.ReadAt(line, r.offset); n < len(line) && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading the ledger: %w", err)
	}
	return line, nil
}

func decodeAt(line []byte, r ref) (Entry, error) {
	e, err := decodeAgain(line, r.hash)
	if err != nil {
		return Entry{}, &CorruptError{Line: r.line, Err: err}
	}
	return e, nil
}

// forget drops from memory the positions and answers of all entries with an index below the parameter `to`. They are
// still looked up in the parameter `has`. If that is nil, they cannot be looked up any more, and the keys and subjects
// of open reservations stay in memory.
func (h *history) forget(to uint64, has *past) {
	h.refs = slices.Clone(h.refs[to-h.base:])
	kept := slices.IndexFunc(h.answers, func(a answered) bool { return a.release >= to })
	if kept < 0 {
		kept = len(h.answers)
	}
	h.answers = slices.Clone(h.answers[kept:])
	h.base, h.past = to, has
	h.newest = map[string]int{}
	for i, a := range h.answers {
		h.newest[a.key] = i
	}
	h.kinds = map[string]*About{}
	if has == nil {
		return
	}
	for i, w := range h.waiting {
		if i < to {
			w.key, w.about = "", nil
		}
	}
}

// forgetIndexed drops from memory the entries that checkpoints cover and that are in the index file.
func (h *history) forgetIndexed(fsys fileSystem, dir string) {
	if len(h.covered) == 0 || h.unindexed {
		return
	}
	if h.past == nil {
		f, err := fsys.Open(filepath.Join(dir, indexName), os.O_RDONLY, 0)
		if err != nil {
			h.unindexed = true
			return
		}
		h.past = &past{file: f}
	}
	for len(h.covered) > 0 && (h.covered[0].entries <= h.base || h.forgetPlace(h.covered[0])) {
		h.covered = h.covered[1:]
	}
	h.unindexed = len(h.covered) > 0
}

// forgetPlace forgets everything before p, which must be the first checkpoint place after base. If the index file
// lacks p's segment, it forgets nothing and returns false.
func (h *history) forgetPlace(p *place) bool {
	p.settle()
	next := h.past.with(p.segment)
	if next == nil {
		return false
	}
	h.forget(p.entries, next)
	p.refs, p.answers = nil, nil
	return true
}
