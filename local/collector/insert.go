package collector

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"dither/local"
	"dither/local/survey"
)

// insert stores the fresh reports of a group of calls in one transaction.
func (st *Store) insert(group []*job, n int) error {
	return st.within(func(tx *sql.Tx) (err error) {
		id, err := tx.Prepare(`INSERT OR IGNORE INTO ids VALUES (?)`)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, id.Close()) }()
		fresh := make([]*survey.Report, 0, n)
		for _, j := range group {
			j.fresh = make([]bool, len(j.reports))
			for i := range j.reports {
				r := &j.reports[i]
				result, err := id.Exec(st.hashed(r.ID))
				if err != nil {
					return err
				}
				inserted, err := result.RowsAffected()
				if err != nil {
					return err
				}
				if j.fresh[i] = inserted == 1; j.fresh[i] {
					fresh = append(fresh, r)
				}
			}
		}
		if len(fresh) == 0 {
			return nil
		}
		// the order of random ids hides that of arrival
		slices.SortFunc(fresh, func(a, b *survey.Report) int { return bytes.Compare(a.ID[:], b.ID[:]) })
		answers := make([]byte, 0, len(fresh)*st.survey.Size())
		for _, r := range fresh {
			for _, a := range r.Answers {
				answers = append(answers, a...)
			}
		}
		_, err = tx.Exec(`INSERT INTO reports (version, hour, n, answers) VALUES (?, ?, ?, ?)`,
			st.survey.Version, st.now().Unix()/3600, len(fresh), answers)
		return err
	})
}

// Fold turns the stored reports of the survey that are older than its retention allows into counts, and deletes them.
// Once the window has closed for late reports too, it deletes the hashed ids. It returns the number of folded reports.
// Deleted contents are overwritten in the file.
// The estimates stay the same; see local.Folded for the analyses that are lost. So are tables of two questions.
func (st *Store) Fold() (folded int64, err error) {
	now, s := st.now(), st.survey
	for s.Fold > 0 {
		var some int64
		err := st.within(func(tx *sql.Tx) (err error) {
			some, err = st.foldBefore(tx, now.Add(-s.Fold).Unix()/3600)
			return err
		})
		if err != nil {
			return folded, err
		}
		if folded += some; some == 0 {
			break
		}
	}
	deleted := folded
	if st.Late(now) {
		err = st.within(func(tx *sql.Tx) error {
			r, err := tx.Exec(`DELETE FROM ids`)
			if err == nil {
				var n int64
				n, err = r.RowsAffected()
				deleted += n
			}
			return err
		})
	}
	if err == nil && deleted > 0 { // the write-ahead log has earlier contents until it is emptied
		_, err = st.db.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	}
	return folded, err
}

// Late reports whether the window is closed, with the allowance for clocks.
func (st *Store) Late(now time.Time) bool {
	return !st.survey.Closes.IsZero() && now.After(st.survey.Closes.Add(st.survey.Skew))
}

// Early reports whether the window is not open, with the allowance for clocks.
func (st *Store) Early(now time.Time) bool {
	return !st.survey.Opens.IsZero() && now.Before(st.survey.Opens.Add(-st.survey.Skew))
}

// foldBefore folds some of the reports that arrived in hours before the given one: few at a time, so that new reports
// do not wait for long.
func (st *Store) foldBefore(tx *sql.Tx, hour int64) (folded int64, err error) {
	old := newSeen(st.survey)
	if err := old.read(tx, `SELECT number, n, answers FROM reports WHERE version = ? AND hour < ? ORDER BY number LIMIT 256`,
		st.survey, hour); err != nil {
		return 0, err
	}
	if old.reports == 0 {
		return 0, nil
	}
	before := newSeen(st.survey)
	if err := before.readFolded(tx, st.survey); err != nil {
		return 0, err
	}
	for i := range st.survey.Questions {
		q := &st.survey.Questions[i]
		if err := before.tallies[i].Merge(old.tallies[i]); err != nil {
			return 0, err
		}
		f, err := before.tallies[i].Fold()
		if err != nil {
			return 0, err
		}
		p := q.Oracle.Params()
		_, err = tx.Exec(`INSERT OR REPLACE INTO folded VALUES (?, ?, ?, ?, ?, ?)`, st.survey.Version, q.Name, p.Mechanism,
			q.Epsilon().String(), f.Reports, packed(f.Support))
		if err != nil {
			return 0, err
		}
	}
	_, err = tx.Exec(`DELETE FROM reports WHERE version = ? AND hour < ? AND number <= ?`, st.survey.Version, hour, old.last)
	return old.reports, err
}

// seen is the tallies of the stored reports, as far as they were read.
type seen struct {
	tallies []*local.Tally // of the questions
	reports int64          // that were read, apart from folded ones
	folded  int64          // the number of folded reports
	last    int64          // the number of the last row that was read
}

func newSeen(s *survey.Survey) *seen {
	out := &seen{}
	for i := range s.Questions {
		out.tallies = append(out.tallies, s.Questions[i].Oracle.NewTally())
	}
	return out
}

// querier is a transaction.
type querier interface {
	Query(query string, args ...any) (*sql.Rows, error)
	QueryRow(query string, args ...any) *sql.Row
}

// read adds stored reports: rows of their number, n and answers.
func (v *seen) read(tx querier, query string, s *survey.Survey, after int64) (err error) {
	rows, err := tx.Query(query, s.Version, after)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var number, n int64
		var answers sql.RawBytes
		if err := rows.Scan(&number, &n, &answers); err != nil {
			return err
		}
		if n < 1 || int64(len(answers)) != n*int64(s.Size()) {
			return fmt.Errorf("%w: row %d of the reports is damaged", ErrStore, number)
		}
		for at := answers; len(at) > 0; {
			for i := range s.Questions {
				size := s.Questions[i].Size()
				if err := v.tallies[i].Add(at[:size]); err != nil {
					return fmt.Errorf("%w: row %d of the reports is damaged: %w", ErrStore, number, err)
				}
				at = at[size:]
			}
		}
		v.reports, v.last = v.reports+n, max(v.last, number)
	}
	return rows.Err()
}

// readFolded adds the folded reports.
func (v *seen) readFolded(tx querier, s *survey.Survey) error {
	for i := range s.Questions {
		var n int64
		var support []byte
		err := tx.QueryRow(`SELECT n, support FROM folded WHERE version = ? AND question = ?`, s.Version, s.Questions[i].Name).
			Scan(&n, &support)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return err
		}
		counts, ok := unpacked(support)
		if !ok {
			return fmt.Errorf("%w: the folded reports of %s are damaged", ErrStore, s.Questions[i].Name)
		}
		if err := v.tallies[i].AddFolded(local.Folded{Reports: n, Support: counts}); err != nil {
			return fmt.Errorf("%w: the folded reports of %s are damaged: %w", ErrStore, s.Questions[i].Name, err)
		}
		v.folded = n
	}
	return nil
}
