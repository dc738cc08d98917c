package ledger

import (
	"errors"
	"syscall"
)

// space is what a handle has assured of the disk: for its open reservations, what may still follow them. Where several
// handles append to one log they use
// each other's, so that only chunk is between a full disk and a release that finds no room. That costs its price, and
// breaks nothing.
type space struct {
	end     int64            // the log can grow to here
	cannot  bool             // the file system cannot say so
	follows map[uint64]int64 // reservation → bytes
	sum     int64            // of these
}

const (
	// frameSize is more than a release has beside its values, and than a failure.
	frameSize = 256
	// stepSize is more than a step has, and than what says that one was given up.
	stepSize = 8 << 10
	// chunk is what the log's space is assured by where the disk has so much.
	chunk = 64 << 10
	// maxFollows is the most that is assured for one reservation.
	maxFollows = 8 << 20
	// giveBack is the most that stays assured when nothing is open.
	giveBack = 1 << 20
)

// errNoAllocate: space cannot be assured here.
var errNoAllocate = errors.New("the file system cannot assure space")

func followsOf(most int64) int64 { return min(max(most, 0), maxFollows) + frameSize }

// assure makes room for n bytes behind from, and for more, if it comes to that. What it cannot make sure of is no
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

// MakeRoom assures space for the next step of a reservation, or for what says that it was given up, before rows are read
// for it. The error is ErrFull or ErrNotWritten. Where the file system cannot assure space, it is none.
func (l *Ledger) MakeRoom(reservation uint64) error {
	return l.locked(func() error {
		l.space.set(reservation, max(l.space.follows[reservation], stepSize))
		if err := l.space.assure(l.file, l.log.size, 0, l.space.sum); err != nil {
			return notWritten(err)
		}
		return nil
	})
}

// note takes what was written: a reservation's room is kept until it has its release.
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

// use takes what a reservation stays open for out of its room.
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
