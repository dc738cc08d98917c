package ledger

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// Report is the result of a successful Verify.
type Report struct {
	State    State  `json:"state"` // grants in it are those at the newest entry's time
	Entries  uint64 `json:"entries"`
	HeadFile Head   `json:"head_file"`
	Behind   uint64 `json:"behind"`   // number of entries after the one that the head file names, because of a crash
	Fragment int64  `json:"fragment"` // length in bytes of a fragment at the end of the log; 0 without one
	Charged  bool   `json:"charged"`  // whether the fragment counts as spent in State
}

// Verify reads the whole ledger in dir without changing it. It checks every rule: the chain, each entry against
// those before it, the checkpoints, and the head file. If against is not nil, it is a head that was kept elsewhere,
// and the log must contain its entry. Only this check detects that the whole directory was restored or rewritten.
func Verify(dir string, against *Head) (Report, error) { return verify(system{}, dir, against) }

func verify(fsys fileSystem, dir string, against *Head) (Report, error) {
	return verifyWith(fsys, dir, against, usual)
}

func verifyWith(fsys fileSystem, dir string, against *Head, every cadence) (Report, error) {
	var keep []Head
	if against != nil {
		keep = append(keep, *against)
	}
	l, h, err := load(fsys, dir, every, true, keep...)
	if err != nil {
		return Report{}, err
	}
	if against != nil {
		if err := l.confirm(*against); err != nil {
			return Report{}, err
		}
	}
	tip, _ := l.tip()
	r := Report{
		State: l.state(l.owes(), time.Time{}), Entries: tip.Index + 1, HeadFile: h.head(),
		Behind: tip.Index - h.head().Index,
	}
	if l.fragment != nil {
		r.Fragment, r.Charged = l.fragment.bytes, l.owes()
	}
	return r, nil
}

// load reads the ledger in dir and its head file without changing them. If the parameter `whole` is set, it reads the
// log from its beginning, otherwise from its newest checkpoint. Afterwards no entries can be looked up, except for the
// hashes at the indices of the heads in keep.
func load(fsys fileSystem, dir string, every cadence, whole bool, keep ...Head) (*log, *heads, error) {
	f, err := openLog(fsys, dir, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // error ignored: the file was only read; closing unlocks it
	l, err := acknowledged(fsys, dir, f, every, whole, keep)
	if err == nil && l.past != nil {
		defer func() { _ = l.past.file.Close() }() // error ignored: the file was only read
	}
	if err := f.Lock(false); err != nil {
		return nil, nil, fmt.Errorf("locking the ledger: %w", err)
	}
	if now, unread := readHeads(fsys, dir); unread == nil { // on an error, catchUp returns it below
		keep = append(keep, now.head())
		if l.witness != nil && now.head().Index >= l.count() {
			l.witness[now.head().Index] = Hash{}
		}
	}
	if err == nil {
		if h, err := l.catchUp(fsys, dir, f); err == nil {
			return &l, h, nil
		}
	}
	l = newLog(f, every) // read the whole log again: an error must concern all of it
	l.passBy(keep...)
	h, err := l.catchUp(fsys, dir, f)
	return &l, h, err
}

// acknowledged reads the ledger up to the entry that the head file names. It takes no lock: this part of the log
// does not change, and no other process should wait while a long log is read.
func acknowledged(fsys fileSystem, dir string, f file, every cadence, whole bool, keep []Head) (log, error) {
	h, err := readHeads(fsys, dir)
	if err != nil {
		return log{}, err
	}
	if !whole {
		if l, err := restored(fsys, dir, f, h.head(), every); err == nil {
			return l, nil
		}
	}
	l := newLog(f, every)
	l.passBy(append(slices.Clip(keep), h.head())...)
	err = l.readTo(f, h.head())
	return l, err
}

// passBy makes h forget the entries before each checkpoint place that it passes, except for the hashes at the indices
// of the heads in keep. h also computes the digests of each such place, to check its checkpoint.
func (h *history) passBy(keep ...Head) {
	h.witness = map[uint64]Hash{}
	for _, k := range keep {
		h.witness[k.Index] = Hash{}
	}
	h.spill = func(p *place) {
		p.settle()
		p.refs, p.answers, p.state = nil, nil, nil
		h.forget(p.entries, nil)
	}
}
