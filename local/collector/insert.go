package collector

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"dither/local/survey"
)

// insert stores the fresh reports of a group of calls in one transaction.
func (st *Store) insert(group []*job, n int) error {
	return st.within(func(tx *sql.Tx) (err error) {
		var over bool
		err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM closed WHERE version = ?)`, st.survey.Version).Scan(&over)
		if err != nil {
			return err
		} else if over {
			return ErrOver
		}
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

// Fold turns the stored reports that are older than the survey's retention allows into counts, and deletes them. This
// includes the reports of the store's earlier versions. Once the window has closed for late reports too, it ends the
// collection for good, and deletes the hashed ids. It returns the number of folded reports. Deleted contents are
// overwritten in the file. If the context ends, it stops between two parts of the reports, with the context's error.
// The estimates stay the same; see local.Folded for the analyses that are lost. So are tables of two questions.
func (st *Store) Fold(ctx context.Context) (folded int64, err error) {
	now := st.now()
	if st.survey.Fold > 0 {
		folded, err = st.foldVersions(ctx, now.Add(-st.survey.Fold).Unix()/3600)
	}
	if err == nil && st.Late(now) {
		err = st.within(func(tx *sql.Tx) error { return closeVersions(tx, st.survey.Version) })
	}
	return folded, errors.Join(err, st.emptyLog())
}

// foldVersions folds the reports of all versions that arrived in hours before the given one.
func (st *Store) foldVersions(ctx context.Context, hour int64) (folded int64, err error) {
	versions, err := st.versions()
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, s := range versions {
		n, err := st.foldVersion(ctx, s, hour)
		if folded += n; err != nil {
			failed = append(failed, fmt.Errorf("version %d: %w", s.Version, err))
		}
	}
	return folded, errors.Join(failed...)
}

// emptyLog empties the write-ahead log, which has deleted contents. If it is in use for long, the next call does so.
// Every call tries it, because a process may have ended between deleting and this.
func (st *Store) emptyLog() error {
	var busy, pages, moved int64
	return named(st.db.QueryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved))
}

// versions returns the survey, and the earlier versions that the store has.
func (st *Store) versions() (out []*survey.Survey, err error) {
	rows, err := st.reader.Query(`SELECT version, declaration FROM surveys WHERE version < ? ORDER BY version`, st.survey.Version)
	if err != nil {
		return nil, named(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var version int64
		var text []byte
		if err := rows.Scan(&version, &text); err != nil {
			return nil, named(err)
		}
		s, err := survey.ReadPublic(text)
		if err != nil || s.Version != version {
			return nil, fmt.Errorf("%w: the declaration of version %d is damaged: %w", ErrStore, version, err)
		}
		out = append(out, s)
	}
	return append(out, st.survey), named(rows.Err())
}

// foldVersion folds the reports of a version that arrived in hours before the given one.
func (st *Store) foldVersion(ctx context.Context, s *survey.Survey, hour int64) (folded int64, err error) {
	for {
		old, err := st.readOld(s, hour)
		if err != nil || old.reports == 0 {
			return folded, err
		}
		if err := st.within(func(tx *sql.Tx) error { return foldInto(tx, s, hour, old) }); err == nil {
			folded += old.reports
		} else if !errors.Is(err, errFolded) {
			return folded, err
		}
		if err := ctx.Err(); err != nil {
			return folded, err
		}
	}
}

// Late reports whether the window is closed, with the allowance for clocks.
func (st *Store) Late(now time.Time) bool {
	return !st.survey.Closes.IsZero() && now.After(st.survey.Closes.Add(st.survey.Skew))
}

// Early reports whether the window is not open, with the allowance for clocks.
func (st *Store) Early(now time.Time) bool {
	return !st.survey.Opens.IsZero() && now.Before(st.survey.Opens.Add(-st.survey.Skew))
}

// Limits of the reports that are folded at once: rows, reports, and the steps of counting them, which take some
// seconds. At least one row is folded.
const (
	mostFoldedRows    = 1 << 14
	mostFoldedReports = 1 << 20
	mostFoldedSteps   = 1 << 30
)

// readOld reads some of the reports that arrived in hours before the given one, and counts them. That can take seconds,
// so it is not within the transaction that deletes them, for which new reports wait.
func (st *Store) readOld(s *survey.Survey, hour int64) (*seen, error) {
	old := newSeen(s)
	old.full = func() bool {
		steps := 0.0
		for i := range s.Questions {
			if o := s.Questions[i].Oracle; o != nil {
				steps += o.FoldingSteps(old.reports) - o.FoldingSteps(0)
			}
		}
		return old.reports >= mostFoldedReports || steps >= st.steps
	}
	err := old.read(st.reader, fmt.Sprintf(`SELECT number, n, answers FROM reports WHERE version = ? AND hour < ?
		ORDER BY number LIMIT %d`, mostFoldedRows), s, hour)
	if err != nil {
		return nil, named(err)
	}
	for i, t := range old.tallies { // counts alone remain
		n, kept, err := t.fold()
		if err == nil && n > 0 {
			old.tallies[i] = newTally(&s.Questions[i])
			err = old.tallies[i].unfold(n, kept)
		}
		if err != nil {
			return nil, named(err)
		}
	}
	return old, nil
}

// errFolded reports that another process has folded the same reports.
var errFolded = errors.New("the reports are folded already")

// foldInto adds the counts of old reports to those of earlier ones, and deletes the reports. If they are not all there
// any more, the error is errFolded, and nothing changes. Numbers of rows are never used again, so rows that are there
// are those that were counted.
func foldInto(tx *sql.Tx, s *survey.Survey, hour int64, old *seen) error {
	const rows = ` FROM reports WHERE version = ? AND hour < ? AND number <= ?`
	var there int64
	if err := tx.QueryRow(`SELECT coalesce(sum(n), 0)`+rows, s.Version, hour, old.last).Scan(&there); err != nil {
		return err
	} else if there != old.reports {
		return errFolded
	}
	before := newSeen(s)
	if err := before.readFolded(tx, s); err != nil {
		return err
	}
	for i := range s.Questions {
		q := &s.Questions[i]
		if err := before.tallies[i].merge(old.tallies[i]); err != nil {
			return err
		}
		n, kept, err := before.tallies[i].fold()
		if err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT OR REPLACE INTO folded VALUES (?, ?, ?, ?, ?, ?)`, s.Version, q.Name, q.Mechanism(),
			q.Epsilon().String(), n, kept)
		if err != nil {
			return err
		}
	}
	_, err := tx.Exec(`DELETE`+rows, s.Version, hour, old.last)
	return err
}

// seen is the tallies of the stored reports, as far as they were read.
type seen struct {
	tallies []tally     // of the questions
	reports int64       // that were read, apart from folded ones
	folded  int64       // the number of folded reports
	last    int64       // the number of the last row that was read
	full    func() bool // reports whether no further row is wanted; nil for never
}

func newSeen(s *survey.Survey) *seen {
	out := &seen{}
	for i := range s.Questions {
		out.tallies = append(out.tallies, newTally(&s.Questions[i]))
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
				if err := v.tallies[i].add(at[:size]); err != nil {
					return fmt.Errorf("%w: row %d of the reports is damaged: %w", ErrStore, number, err)
				}
				at = at[size:]
			}
		}
		v.reports, v.last = v.reports+n, max(v.last, number)
		if v.full != nil && v.full() {
			break
		}
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
		if err := v.tallies[i].unfold(n, support); err != nil {
			return fmt.Errorf("%w: the folded reports of %s are damaged: %w", ErrStore, s.Questions[i].Name, err)
		}
		v.folded = n
	}
	return nil
}
