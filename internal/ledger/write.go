package ledger

import (
	"bytes"
	"errors"
	"io"
)

// pending is a batch that was admitted and is not yet written.
type pending struct {
	from    int64 // offset of the end of the log, where the batch begins
	data    []byte
	entries []admitted
	applied int       // number of the entries that are already in the history
	refused []*member // refused after an entry of the batch was applied, so perhaps because of it
}

type admitted struct {
	m  *member
	e  Entry
	at ref
}

// write appends a batch. The caller holds the lock and has read the log to its end. write sets the index or the
// error of each member.
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
	if charges { // prepare has charged the fragment, so the checks may now give another result
		wanted = admissible(wanted)
	}
	l.commit(wanted)
}

// admissible calls the check m.may of each member, and returns the members that pass.
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

// prepare makes the log and its head file ready for the next entry. It converts an older head file to slots, and
// records a fragment.
func (l *Ledger) prepare() error {
	if l.heads.old {
		// The new head file names the same entry as the old one. If this write fails, either file is right.
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

// commit checks the members of a batch (the entries that one write may contain), writes those that the history admits,
// and sets the index or the error of each.
func (l *Ledger) commit(batch []*member) {
	p := l.admit(batch)
	if len(p.entries) == 0 {
		return
	}
	err := l.assure(p)
	if err != nil && len(batch) > 1 {
		// There is no space for the whole batch. Try each member alone: a release must not fail because a
		// reservation finds no space.
		unread := l.reload()
		for _, m := range batch {
			if m.err = unread; unread == nil && m.may != nil { // members before m may be written by now
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
		// Refused members were not written. They were refused because of entries that may or may not be in the log.
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

// apply applies the entries of p that are not yet in the history.
func (l *Ledger) apply(p *pending) {
	for ; p.applied < len(p.entries); p.applied++ {
		l.log.apply(p.entries[p.applied].e, p.entries[p.applied].at)
	}
}

// admit checks each member against the history, including earlier members of its batch. It applies all admitted
// entries except the last to the history.
func (l *Ledger) admit(batch []*member) *pending {
	p := &pending{from: l.log.size}
	number := l.log.lines
	if l.log.fragment != nil {
		number += l.log.fragment.lines
	}
	if !l.log.ended() {
		p.data = []byte{'\n'} // in the same write as the entries, because an empty line costs nothing
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

// line encodes m as the next entry, and returns an error if the entry is not admitted.
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
	e, err := decodeLine(line) // decode it as a reader would, to write nothing unreadable
	if err == nil {
		err = l.log.check(e)
	}
	return line, e, err
}

// assure reserves disk space for a batch. If the batch contains a reservation, assure also reserves space for the
// entries that may follow all open reservations.
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

// put makes a batch durable, and then the head that names its last entry. On an error, either no entry of the batch
// is on disk, or the handle has failed.
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
			return l.fail(err) // the slot may name the entry, so the entry must stay
		}
		return l.takeBack(p, err)
	}
	l.heads = next
	return nil
}

// takeBack truncates the log to where it ended before a batch. This is safe: no slot names an entry of the batch,
// and nobody has read one, because the lock was held all the time.
func (l *Ledger) takeBack(p *pending, cause error) error {
	size, err := l.file.Size()
	if err != nil || size < p.from || size > p.from+int64(len(p.data)) { // another process has written
		return l.fail(cause)
	}
	l.space.end = 0 // truncating also releases the reserved space
	if err := l.file.Truncate(p.from); err != nil {
		return l.fail(cause)
	}
	if err := l.file.Sync(); err != nil {
		return l.fail(cause)
	}
	return notWritten(cause)
}

// settle updates memory after a batch of entries was made durable: the history, the end of the log, and the reserved
// space.
func (l *Ledger) settle(p *pending) {
	l.apply(p)
	end, last := p.from+int64(len(p.data)), p.entries[len(p.entries)-1]
	l.log.end, l.log.size, l.log.open, l.log.lines, l.log.fragment = end, end, false, last.at.line, nil
	for _, a := range p.entries {
		l.space.note(a.m, int64(a.at.length)+1)
	}
	if l.space.sum == 0 && l.space.end > end+giveBack {
		l.space.end = 0
		// Truncating to the log's own size releases only the space reserved after it. A failure does not matter.
		_ = l.file.Truncate(end)
	}
}

// reload reads the log again after memory and file came to differ. If that fails, the next call tries again.
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
