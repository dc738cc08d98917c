package ledger

import (
	"io/fs"
	"testing"
)

// interrupted calls then once, between the reading without the lock and the lock.
type interrupted struct {
	*memFS
	then func()
}

type interruptedFile struct {
	file
	of *interrupted
}

func (o *interrupted) Open(name string, flag int, perm fs.FileMode) (file, error) {
	f, err := o.memFS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &interruptedFile{f, o}, nil
}

func (o *interrupted) Same(name string, f file) (bool, error) {
	return o.memFS.Same(name, f.(*interruptedFile).file)
}

func (f *interruptedFile) Lock(exclusive bool) error {
	if then := f.of.then; then != nil {
		f.of.then = nil
		then()
	}
	return f.file.Lock(exclusive)
}

// TestOpeningMeetsWhatWasTakenBack opens a ledger while another process takes a batch back that the head file named for
// a moment, and a third writes another entry of the same length and is killed before its slot. What was read without
// the lock is not told, and nothing is written behind it.
func TestOpeningMeetsWhatWasTakenBack(t *testing.T) {
	m := prepared(t)
	log, head := m.names[faultDir+"/"+logName], m.names[faultDir+"/"+headName]
	logBefore, headBefore := string(log.data), string(head.data)
	write := func(price string) (logAfter, headAfter string) {
		l, err := open(m, faultDir, clock)
		must(t, err)
		mustReserve(t, l, key(2), price)
		must(t, l.Close())
		logAfter, headAfter = string(log.data), string(head.data)
		log.data, head.data = []byte(logBefore), []byte(headBefore)
		return logAfter, headAfter
	}
	taken, named := write("0.02")
	other, _ := write("0.07")
	if len(taken) != len(other) {
		t.Fatalf("%d and %d bytes", len(taken), len(other))
	}
	log.data, head.data = []byte(taken), []byte(named)
	l, err := open(&interrupted{m, func() { log.data, head.data = []byte(other), []byte(headBefore) }}, faultDir, clock)
	must(t, err)
	if s := mustState(t, l); !equal(s.Spent, pure("0.08")) {
		t.Errorf("spent %s, and the log says 0.08", s.Spent)
	}
	mustReserve(t, l, key(3), "0.01")
	must(t, l.Close())
	if r, err := verify(m, faultDir, nil); err != nil || !equal(r.State.Spent, pure("0.09")) {
		t.Errorf("%s, %v", r.State.Spent, err)
	}
}
