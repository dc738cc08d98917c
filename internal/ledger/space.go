package ledger

import (
	"errors"
	"syscall"
)

// space is the disk space that a handle has secured for the entries that may still follow its open reservations.
// Several handles on one log use each other's space, so only chunk stands between a full disk and a release without
// room. Such a release costs its price, and breaks nothing.
type space struct {
	end     int64            // the log can grow to here
	cannot  bool             // the file system cannot secure space
	follows map[uint64]int64 // reservation → bytes
	sum     int64            // of these
}

const (
	// frameSize is above the size of a failure, and of a release without its values.
	frameSize = 256
	// stepSize is above the size of a step, and of the entry that a step was given up.
	stepSize = 8 << 10
	// chunk is the granularity in which space is secured, if the disk has so much.
	chunk = 64 << 10
	// maxFollows is the most space secured for one reservation.
	maxFollows = 8 << 20
	// giveBack is the most space that stays secured when no reservation is open.
	giveBack = 1 << 20
)

// errNoAllocate: this file system cannot secure space.
var errNoAllocate = errors.New("the file system cannot assure space")

func followsOf(most int64) int64 { return min(max(most, 0), maxFollows) + frameSize }

// assure secures n bytes after from, and more bytes for later entries. A file system that cannot secure space is no
// error.
func (s *space) assure(f file, from, n, more int64) error {
	end := from + n + more
	if s.cannot || end <= s.end {
		return nil
	}
	for _, end := range []int64{(end + chunk - 1) / chunk * chunk, end} {
		err := f.Allocate(from, end)
		switch {
		case err == nil:
			s.end = end
			return nil
		case errors.Is(err, errNoAllocate):
			s.cannot = true
			return nil
		case !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !errors.Is(err, syscall.EFBIG):
			return err
		case end == from+n+more:
			return err
		}
	}
	return nil
}

// MakeRoom secures space for the next step of a reservation, or for the entry that the step was given up, before rows
// are read for it. The error is ErrFull or ErrNotWritten. On a file system that cannot secure space, MakeRoom returns
// nil.
func (l *Ledger) MakeRoom(reservation uint64) error {
	return l.locked(func() error {
		before := l.space.follows[reservation]
		l.space.set(reservation, max(before, stepSize))
		if err := l.space.assure(l.file, l.log.size, 0, l.space.sum); err != nil {
			l.space.set(reservation, before) // else others' reservations would be asked for this room, too
			return notWritten(err)
		}
		return nil
	})
}

// note records what was written: a reservation keeps its room until it has its release.
func (s *space) note(m *member, written int64) {
	switch b := m.body.(type) {
	case Reservation:
		s.set(m.index, followsOf(m.most))
	case Step:
		s.use(b.Reservation, written)
	case StepGivenUp:
		s.use(b.Reservation, written)
	case Release:
		s.set(b.Reservation, 0)
	case Failure:
		s.set(b.Reservation, 0)
	}
}

// use takes the bytes written for a reservation that stays open out of its room.
func (s *space) use(reservation uint64, written int64) {
	if left, ours := s.follows[reservation]; ours {
		s.set(reservation, max(left-written, frameSize))
	}
}

func (s *space) set(reservation uint64, bytes int64) {
	s.sum += bytes - s.follows[reservation]
	switch {
	case bytes <= 0:
		delete(s.follows, reservation)
	case s.follows == nil:
		s.follows = map[uint64]int64{reservation: bytes}
	default:
		s.follows[reservation] = bytes
	}
}
