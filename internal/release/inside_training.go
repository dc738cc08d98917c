package release

import "math/big"

// InsideTraining gives tests of other packages access to a training's internals. TestInsideIsForTests checks that
// the program never uses it.
type InsideTraining struct {
	Digests func() []string // the digests of the journal's records
	Append  func(theta []float64, values []*big.Int) error
	// opens the journal again, in the given home, and matches it
	Matched func(home string, known []string, ended bool) (records int, err error)
	Shut    func() error // closes the journal's file
	Unread  func()       // forgets the training's rows
	Reserve func(fresh bool) error
}

// OpenTrainingForTests returns a training's internals for a test.
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
			defer func() { _ = j.close() }() // the file was only read, so an error of close loses nothing
			err = j.match(known, ended)
			return len(j.records), err
		},
		Shut:    func() error { return t.journal.file.Close() },
		Unread:  func() { t.rows = nil },
		Reserve: t.reserve,
	}
}
