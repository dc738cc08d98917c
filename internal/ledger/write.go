package ledger

import (
	"bytes"
	"errors"
	"io"
)

// pending is a batch that was admitted, and is not written.
type pending struct {
	from    int64 // where the log ends
	data    []byte
	entries []admitted
	applied int       // so many of the entries are in the history already
	refused []*member // by what stands before them in the batch, perhaps
}

type admitted struct {
	m  *member
	e  Entry
	at ref
}

// write appends a batch. The caller holds the lock, and has read the log to its end. Each member gets its index or its
// error.
func (l *Ledger) write(batch []*member) {
	wanted := admissible(batch)
	if len(wanted) == 0 {
		return
	}
	charges := l.log.owes()
	if err := l.prepare(); err != nil {
		refuse(wanted, err)
		return
	}
	if charges { // what a fragment costs is recorded now, and nobody has seen that
		wanted = admissible(wanted)
	}
	l.commit(wanted)
}

// admissible are those members that what they ask under the lock does not refuse.
func admissible(batch []*member) (wanted []*member) {
	for _, m := range batch {
		if m.may != nil {
			m.err = m.may()
		}
		if m.err == nil {
			wanted = append(wanted, m)
		}
	}
	return wanted
}

// prepare makes the log and its head file such that an entry may follow: the head has slots, and a fragment is
// recorded.
func (l *Ledger) prepare() error {
	if l.heads.old {
		// It names the entry that it named before: where this fails, whichever of both files is there is right.
		h, err := replaceHeads(l.fsys, l.dir, l.log.newestSlot())
		if err != nil {
			return notWritten(err)
		}
		l.heads = h
	} else if err := l.keepName(); err != nil {
		return notWritten(err)
	}
	if l.log.fragment == nil {
		return nil
	}
	torn := &member{body: l.log.fragment.body(l.log.maxPrice())}
	l.commit([]*member{torn})
	return torn.err
}

// commit writes those members that are admitted.
func (l *Ledger) commit(batch []*member) {
	p := l.admit(batch)
	if len(p.entries) == 0 {
		return
	}
	err := l.assure(p)
	if err != nil && len(batch) > 1 {
		// There may be room for some of them: a release must not fail for want of a reservation's.
		unread := l.reload()
		for _, m := range batch {
			if m.err = unread; unread == nil && m.may != nil { // of those before it, some may be written by now
				m.err = m.may()
			}
			if m.err == nil {
				l.commit([]*member{m})
				unread = l.failed
			}
		}
		return
	}
	if err != nil {
		err = notWritten(err)
	} else {
		err = l.put(p)
	}
	l.alone = err != nil
	if err == nil {
		l.settle(p)
		return
	}
	for _, a := range p.entries {
		a.m.err = err
	}
	if l.failed != nil {
		// of those who were refused nothing was: it was by entries of which nobody knows whether they are there
		err = ErrNotWritten
	}
	for _, m := range p.refused {
		m.err = err
	}
	if l.failed != nil {
		return
	}
	if p.applied > 0 {
		_ = l.reload()
	}
}

// apply takes those entries into the history that it has not.
func (l *Ledger) apply(p *pending) {
	for ; p.applied < len(p.entries); p.applied++ {
		l.log.apply(p.entries[p.applied].e, p.entries[p.applied].at)
	}
}

// admit holds each member to what stands before it, those of its batch included. These are applied to the history, but
// for the last.
func (l *Ledger) admit(batch []*member) *pending {
	p := &pending{from: l.log.size}
	number := l.log.lines
	if l.log.fragment != nil {
		number += l.log.fragment.lines
	}
	if !l.log.ended() {
		p.data = []byte{'\n'} // in the same write: a newline alone is nothing
	}
	for _, m := range batch {
		if l.apply(p); p.applied > 0 && m.may != nil {
			m.err = m.may()
		}
		var e Entry
		var line []byte
		if m.err == nil {
			m.index = l.log.count()
			line, e, m.err = l.line(m)
		}
		if m.err != nil {
			if p.applied > 0 {
				p.refused = append(p.refused, m)
			}
			continue
		}
		number++
		p.entries = append(p.entries,
			admitted{m, e, ref{hash: e.Hash, line: number, offset: p.from + int64(len(p.data)), length: len(line)}})
		p.data = append(append(p.data, line...), '\n')
	}
	return p
}

// line is the line of the next entry, if it is admitted.
func (l *Ledger) line(m *member) ([]byte, Entry, error) {
	tip, _ := l.log.tip()
	now := l.now()
	if !datable(now) {
		return nil, Entry{}, ErrClock
	}
	line, err := encodeLine(m.index, tip.Hash, now, m.body)
	if err != nil {
		return nil, Entry{}, invalid("it cannot be written as JSON")
	}
	if len(line) > maxLine {
		return nil, Entry{}, ErrTooLarge
	}
	e, err := decodeLine(line) // so that nothing is ever written that could not be read
	if err == nil {
		err = l.log.check(e)
	}
	return line, e, err
}

// assure makes room for a batch, and for what its reservations and those before them may still need.
func (l *Ledger) assure(p *pending) error {
	more, reserves := l.space.sum, false
	for _, a := range p.entries {
		if _, ok := a.e.Body.(Reservation); ok {
			reserves = true
			more += followsOf(a.m.most)
		}
	}
	if !reserves {
		more = 0
	}
	return l.space.assure(l.file, p.from, int64(len(p.data)), more)
}

// put makes a batch durable, then the head that names its last entry. On an error nothing of it is there, durably, or
// the handle is poisoned.
func (l *Ledger) put(p *pending) error {
	if err := writeAll(l.file, p.data); err != nil {
		return l.takeBack(p, err)
	}
	read := make([]byte, len(p.data))
	if n, err := l.file.ReadAt(read, p.from); n < len(read) && !errors.Is(err, io.EOF) {
		return l.fail(err)
	}
	if !bytes.Equal(read, p.data) {
		return l.fail(errors.New("the entry did not read back"))
	}
	last := p.entries[len(p.entries)-1]
	next := l.heads.advanced(slot{head: Head{last.e.Index, last.e.Hash}, end: last.at.offset + int64(last.at.length)})
	i := next.newest
	if err := writeSlot(l.fsys, l.dir, i, next.raw[i]); err != nil {
		if back := writeSlot(l.fsys, l.dir, i, l.heads.raw[i]); back != nil {
			return l.fail(err) // the slot may name the entry: so that stays
		}
		return l.takeBack(p, err)
	}
	l.heads = next
	return nil
}

// takeBack truncates the log to where it ended before a batch. No slot names anything of it, and nobody has read it:
// the lock was held meanwhile.
func (l *Ledger) takeBack(p *pending, cause error) error {
	size, err := l.file.Size()
	if err != nil || size < p.from || size > p.from+int64(len(p.data)) { // else it is not ours alone
		return l.fail(cause)
	}
	l.space.end = 0 // truncating gives back what was assured
	if err := l.file.Truncate(p.from); err != nil {
		return l.fail(cause)
	}
	if err := l.file.Sync(); err != nil {
		return l.fail(cause)
	}
	return notWritten(cause)
}

// settle takes a batch that is durable into memory.
func (l *Ledger) settle(p *pending) {
	l.apply(p)
	end, last := p.from+int64(len(p.data)), p.entries[len(p.entries)-1]
	l.log.end, l.log.size, l.log.open, l.log.lines, l.log.fragment = end, end, false, last.at.line, nil
	for _, a := range p.entries {
		l.space.note(a.m, int64(a.at.length)+1)
	}
	if l.space.sum == 0 && l.space.end > end+giveBack {
		l.space.end = 0
		// which is its size: only space that was assured behind it is given back, as far as it goes
		_ = l.file.Truncate(end)
	}
}

// reload reads the log again, since what is in memory is not what was written. Where that fails now, the next call does
// it.
func (l *Ledger) reload() error {
	l.log = newLog(l.file, l.every)
	if again, err := restored(l.fsys, l.dir, l.file, l.heads.head(), l.every); err == nil {
		l.log = again
	}
	h, err := l.log.catchUp(l.fsys, l.dir, l.file)
	if err != nil {
		l.unindex()
		return notWritten(err)
	}
	l.heads = h
	return nil
}
