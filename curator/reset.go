package curator

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dither/internal/ledger"
	"dither/internal/release"
	"dither/privacy"
)

// The parts of a home that ResetHome can take away.
const (
	ResetLedger = "ledger" // the ledger, and what belongs to its unfinished accesses
	ResetAll    = "home"   // the ledger and the sealed versions
)

// resetFiles returns the files and folders that a reset moves, or nil if there is no such reset. The ledger's log comes
// first: without it no question is answered, so an interrupted reset leaves no home that works.
func resetFiles(what string) []string {
	files := []string{
		"ledger.log", "ledger.head", "ledger.head.tmp", "ledger.index", "ledger.checkpoint", "training", "underway",
	}
	switch what {
	case ResetLedger:
		return files
	case ResetAll:
		return append(files, "sealed", "tmp")
	}
	return nil
}

// resetRecord is a line of the file that records resets beside the home.
type resetRecord struct {
	Time       time.Time     `json:"time"`
	What       string        `json:"what"`
	Home       string        `json:"home"`
	Population string        `json:"population,omitempty"`
	Ledger     string        `json:"ledger,omitempty"`
	Head       *ledger.Head  `json:"head,omitempty"`
	Spent      *privacy.Loss `json:"spent,omitempty"`
	Budget     *privacy.Loss `json:"budget,omitempty"`
	Unreadable string        `json:"unreadable,omitempty"` // why the ledger could not be read
	Kept       string        `json:"kept"`                 // the folder to which the files were moved
}

// Reset is a reset that ResetHome prepared. Nothing has changed before Do.
type Reset struct {
	Meaning []string // what the reset does, and what it means for the promise
	Confirm string   // the text that the owner types to confirm

	home   string
	record resetRecord
}

// ResetHome prepares to start a home over. Do then moves the ledger, and the sealed versions if what is ResetAll, into a
// new folder beside the home. It deletes nothing and makes no new ledger: only [Init] makes one.
//
// Starting over does not take back what was released. For each unit in the data, the losses under the old ledger and
// those under a new one add up, and nothing bounds the sum.
func ResetHome(home, what string) (*Reset, error) {
	home, err := absolute(home)
	if err != nil {
		return nil, err
	}
	if resetFiles(what) == nil {
		return nil, &Error{
			Code: CodeUsage, Message: "a reset takes away the ledger or the home", Hint: "write --what ledger, or --what home",
		}
	}
	if !exists(filepath.Join(home, "ledger.log")) && !exists(filepath.Join(home, "ledger.head")) {
		return nil, &Error{Code: CodeLedger, Message: home + " has no ledger", Hint: "make one with `dither init`"}
	}
	r := &Reset{home: home, Confirm: filepath.Base(home), record: resetRecord{What: what, Home: home}}
	for n := 1; ; n++ {
		if r.record.Kept = fmt.Sprintf("%s.before-%d", home, n); !exists(r.record.Kept) {
			break
		}
	}
	moved := "the ledger moves"
	if what == ResetAll {
		moved = "the ledger and all sealed versions move"
	}
	r.Meaning = append(r.Meaning, fmt.Sprintf("%s to %s, and nothing is deleted", moved, r.record.Kept))
	err = release.HoldLedger(home, func(state ledger.State) error {
		r.record.of(state)
		if state.Terms.Population != "" {
			r.Confirm = state.Terms.Population
		}
		r.Meaning = append(r.Meaning, fmt.Sprintf("the answers so far have spent %s of %s, and stay known to those who asked",
			state.Spent.Short(false), state.Budget.Short(false)))
		return nil
	})
	if err != nil {
		r.Meaning = append(r.Meaning, "the ledger cannot be read, so the amount spent is not known: "+err.Error())
	}
	r.Meaning = append(r.Meaning,
		"a new ledger would know nothing of them: for each person in the data, the losses under both ledgers add up, and "+
			"nothing bounds the sum. Start over only before any answer has left, or for data about other people",
		"the reset is recorded in "+r.book())
	return r, nil
}

// book returns the file that records resets. It is beside the home, so that a reset does not take it away.
func (r *Reset) book() string { return r.home + ".resets" }

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// of records a ledger's state.
func (r *resetRecord) of(s ledger.State) {
	r.Ledger, r.Head, r.Population = s.ID, &s.Head, s.Terms.Population
	r.Spent, r.Budget = &s.Spent, &s.Budget
}

// Do carries the reset out if typed is the text in Confirm. It writes the record durably before it moves anything. Since
// ResetHome read the ledger, others may have used it. So Do reads it again, and nobody can use it before it is moved.
func (r *Reset) Do(typed string) error {
	if strings.TrimSpace(typed) != r.Confirm {
		return &Error{
			Code: CodeUsage, Message: "not confirmed: nothing has changed", Hint: "type " + r.Confirm + " to confirm",
		}
	}
	held := false
	err := release.HoldLedger(r.home, func(state ledger.State) error {
		held = true
		r.record.of(state)
		return r.carryOut()
	})
	if held {
		return err
	}
	r.record = resetRecord{What: r.record.What, Home: r.home, Kept: r.record.Kept, Unreadable: err.Error()}
	return r.carryOut()
}

// carryOut writes the record, and moves the files.
func (r *Reset) carryOut() error {
	r.record.Time = time.Now().UTC().Truncate(time.Second)
	line, err := json.Marshal(r.record)
	if err != nil {
		return homeError(err)
	}
	book, err := os.OpenFile(r.book(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return homeError(err)
	}
	_, err = book.Write(append(line, '\n'))
	if err = errors.Join(err, book.Sync(), book.Close()); err != nil {
		return homeError(err)
	}
	if err := os.Mkdir(r.record.Kept, 0o700); err != nil {
		return homeError(err)
	}
	for _, name := range resetFiles(r.record.What) {
		from := filepath.Join(r.home, name)
		if !exists(from) {
			continue
		}
		if err := os.Rename(from, filepath.Join(r.record.Kept, name)); err != nil {
			return homeError(err)
		}
	}
	return nil
}

// resetBefore returns a note for the owner if the home was reset before, or "".
func resetBefore(home string) string {
	home, err := absolute(home)
	if err != nil || !exists(home+".resets") {
		return ""
	}
	return "this home was reset: for people who were in its data before, the losses in " + home +
		".resets add to those of the new ledger"
}
