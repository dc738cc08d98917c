package release

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"dither/internal/ledger"
	"dither/privacy"
)

// ContinualRecord is what the ledger has of a stream: its terms, its price, and its releases. It is public.
type ContinualRecord struct {
	ID        uint64
	Terms     ContinualTerms
	Price     privacy.Loss
	Table     string
	Mechanism ledger.Mechanism
	Analyst   string
	Released  [][]*big.Int // the releases y, by period and cell, of the periods so far
	Advances  []ContinualAdvance
	Ended     bool // all periods are released
	GivenUp   bool // the owner cancelled the reservation
	Damaged   bool // an entry of the stream cannot be read; only [Kernel.Continuals] returns such a record

	begun   bool // the stream had a private file when this entry was written
	entry   ledger.Hash
	version int       // of the table, when the stream was created
	newest  time.Time // the time of the newest entry of the stream
}

// ContinualAdvance is one advance of a stream.
type ContinualAdvance struct {
	First, Last int // the periods that it released
	Version     int // the newest version of the table that has been read
	At          time.Time
	state       string
}

// Name returns the name of the stream's reservation.
func (r *ContinualRecord) Name() string { return fmt.Sprintf("r%d", r.ID) }

// state returns the State of the private file that belongs to the newest recorded advance.
func (r *ContinualRecord) state() string {
	if n := len(r.Advances); n > 0 {
		return r.Advances[n-1].state
	}
	return r.entry.String()
}

// recordedAdvance is the value of an advance's ledger entry.
type recordedAdvance struct {
	First   int        `json:"first"`
	Version int        `json:"version"`
	State   string     `json:"state"` // random: it identifies the private file, and depends on nothing
	Y       [][]string `json:"y"`
}

// recordedStart is the value of the first entry of a stream, after its reservation. It states that the stream has a private
// file.
type recordedStart struct {
	Begun bool `json:"begun"`
}

const continualPrefix = "stream "

// text returns the terms as the ledger records them.
func (t ContinualTerms) text() (string, error) {
	text, err := json.Marshal(t)
	return continualPrefix + string(text), err
}

// isContinual reports whether a reservation pays for a stream of continual releases.
func isContinual(r ledger.Reservation) bool {
	return len(r.Mechanisms) == 1 && strings.HasPrefix(r.Mechanisms[0].Name, ContinualCounts+":")
}

// newRecord reads the record of a reservation.
func newRecord(e ledger.Entry, r ledger.Reservation) (*ContinualRecord, error) {
	out := &ContinualRecord{
		ID: e.Index, Price: r.Loss, Mechanism: r.Mechanisms[0], Analyst: r.Analyst, entry: e.Hash, newest: e.Time,
	}
	text, ok := strings.CutPrefix(r.Question, continualPrefix)
	if !ok || json.Unmarshal([]byte(text), &out.Terms) != nil || len(r.Sources) != 1 || out.Terms.Length() == 0 {
		return nil, fmt.Errorf("%w: entry %d", ErrUnreadable, e.Index)
	}
	out.Table, out.version = r.Sources[0].Table, r.Sources[0].Version
	return out, nil
}

// Continuals returns all streams of the home, in the order of their creation. It decodes no other entries.
func (k *Kernel) Continuals() (out []*ContinualRecord, err error) {
	err = k.ledger.EntriesHaving(0, ContinualCounts, func(e ledger.Entry) error {
		if r, ok := e.Body.(ledger.Reservation); ok && isContinual(r) {
			record, err := newRecord(e, r)
			if err != nil {
				record = &ContinualRecord{ID: e.Index, Damaged: true}
			}
			out = append(out, record)
		}
		return nil
	})
	for _, r := range out {
		if err == nil {
			// a damaged stream does not hide the others
			err = k.follow(r, func(error) error { r.Damaged = true; return nil })
		}
	}
	return out, err
}

// follow adds the entries of a stream since its reservation to its record. It calls bad for an entry that cannot be read.
func (k *Kernel) follow(r *ContinualRecord, bad func(error) error) error {
	by := map[uint64]*ContinualRecord{r.ID: r}
	return k.ledger.EntriesHaving(r.ID+1, fmt.Sprintf(`"reservation":%d`, r.ID), func(e ledger.Entry) error {
		if _, err := addTo(by, e); err != nil {
			return bad(err)
		}
		return nil
	})
}

// continual returns the stream of a name, or nil if there is none. It reads only the entries since the stream's
// reservation, decodes those that name it, and reads none if there is no stream.
func (k *Kernel) continual(name string) (*ContinualRecord, error) {
	id, found, err := k.continualID(name)
	if err != nil || !found {
		return nil, err
	}
	e, err := k.ledger.Entry(id)
	if err != nil {
		return nil, err
	}
	paid, ok := e.Body.(ledger.Reservation)
	if !ok || !isContinual(paid) {
		return nil, fmt.Errorf("%w: entry %d", ErrUnreadable, id)
	}
	r, err := newRecord(e, paid)
	if err != nil {
		return nil, err
	}
	return r, k.follow(r, func(err error) error { return err })
}

// continualID returns the number of the reservation of a stream.
func (k *Kernel) continualID(name string) (id uint64, found bool, err error) {
	key := continualKey(name)
	if ended, ok, err := k.ledger.Find(key); err != nil || ok {
		return ended.Reserved, ok, err
	}
	open, err := k.ledger.Unreleased()
	if err != nil {
		return 0, false, err
	}
	for _, u := range open {
		e, has, err := k.ledger.EntryHaving(u.Reservation, key)
		if err != nil {
			return 0, false, err
		}
		if r, ok := e.Body.(ledger.Reservation); has && ok && isContinual(r) && r.Key == key {
			return u.Reservation, true, nil
		}
	}
	return 0, false, nil
}

// ContinualOn reports whether a stream with open periods counts the rows of a table. Then each sealing must make a new
// version. Otherwise the existence of a version would be an exact fact: whether a row has changed since the version
// before.
func (k *Kernel) ContinualOn(table string) (bool, error) {
	open, err := k.ledger.Unreleased()
	if err != nil {
		return false, err
	}
	for _, u := range open {
		if u.Abandoned {
			continue
		}
		e, _, err := k.ledger.EntryHaving(u.Reservation, ContinualCounts)
		if err != nil {
			return false, err
		}
		if r, ok := e.Body.(ledger.Reservation); ok && isContinual(r) && slices.ContainsFunc(
			r.Sources, func(s ledger.Source) bool { return s.Table == table },
		) {
			return true, nil
		}
	}
	return false, nil
}

// ContinualNamed returns the stream of a name, or nil if there is none.
func (k *Kernel) ContinualNamed(name string) (*ContinualRecord, error) { return k.continual(name) }

// addTo adds an entry to the record of the stream that it belongs to, and returns the stream's number.
func addTo(by map[uint64]*ContinualRecord, e ledger.Entry) (id uint64, err error) {
	switch b := e.Body.(type) {
	case ledger.Step:
		if r := by[b.Reservation]; r != nil {
			return r.ID, r.add(e, b.Values)
		}
	case ledger.Release:
		if r := by[b.Reservation]; r != nil {
			r.Ended = true
			return r.ID, r.add(e, b.Values)
		}
	case ledger.Failure:
		if r := by[b.Reservation]; r != nil {
			r.GivenUp = true
		}
	}
	return 0, nil
}

// add adds the beginning, or the releases of an advance.
func (r *ContinualRecord) add(e ledger.Entry, values json.RawMessage) error {
	if e.Time.After(r.newest) {
		r.newest = e.Time
	}
	var start recordedStart
	if json.Unmarshal(values, &start) == nil && start.Begun {
		r.begun = true
		return nil
	}
	var a recordedAdvance
	unreadable := fmt.Errorf("%w: entry %d", ErrUnreadable, e.Index)
	if json.Unmarshal(values, &a) != nil || a.First != len(r.Released)+1 || len(a.Y) == 0 {
		return unreadable
	}
	for _, row := range a.Y {
		if len(row) != r.Terms.Cells {
			return unreadable
		}
		y := make([]*big.Int, len(row))
		for g, text := range row {
			n, ok := new(big.Int).SetString(text, 10)
			if !ok {
				return unreadable
			}
			y[g] = n
		}
		r.Released = append(r.Released, y)
	}
	if len(r.Released) > r.Terms.Periods {
		return unreadable
	}
	r.Advances = append(r.Advances, ContinualAdvance{a.First, len(r.Released), a.Version, e.Time, a.State})
	return nil
}
