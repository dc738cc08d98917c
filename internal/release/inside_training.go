package release

import "math/big"

// InsideTraining is what tests of other packages reach of a training. TestInsideIsForTests keeps it out of the program.
type InsideTraining struct {
	Digests func() []string // of its journal's records
	Append  func(theta []float64, values []*big.Int) error
	Matched func(home string, known []string, ended bool) (records int, err error) // opens its journal anew, in some home
	Shut    func() error                                                           // closes its journal's file
	Unread  func()                                                                 // forgets its rows
	Reserve func(fresh bool) error
}

// OpenTrainingForTests opens a training to a test.
func OpenTrainingForTests(t *Training) InsideTraining {
	return InsideTraining{
		Digests: func() (out []string) {
			for _, r := range t.journal.records {
				out = append(out, r.digest.String())
			}
			return out
		},
		Append: func(theta []float64, values []*big.Int) error {
			_, err := t.journal.append(parametersDigest(theta), values)
			return err
		},
		Matched: func(home string, known []string, ended bool) (int, error) {
			b, err := t.kernel.trainings.begun(t.kernel.ledger, t.id)
			if err != nil {
				return 0, err
			}
			j, err := openJournal(home, t.id, b.entry, t.Parameters())
			if err != nil {
				return 0, err
			}
			defer func() { _ = j.close() }() // it was only read
			err = j.match(known, ended)
			return len(j.records), err
		},
		Shut:    func() error { return t.journal.file.Close() },
		Unread:  func() { t.rows = nil },
		Reserve: t.reserve,
	}
}
