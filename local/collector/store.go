package collector

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mattn/go-sqlite3"

	"dither/internal/entropy"
	"dither/local/survey"
)

// format is the version of the store's tables.
const format = 1

const tables = `
CREATE TABLE IF NOT EXISTS about (format INTEGER NOT NULL, key BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS surveys (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL, declaration TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS ids (id BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reports (
  number INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL, hour INTEGER NOT NULL, n INTEGER NOT NULL,
  answers BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS folded (
  version INTEGER NOT NULL, question TEXT NOT NULL, mechanism TEXT NOT NULL, epsilon TEXT NOT NULL, n INTEGER NOT NULL,
  support BLOB NOT NULL, PRIMARY KEY (version, question));
CREATE TABLE IF NOT EXISTS closed (version INTEGER PRIMARY KEY);
`

// Store keeps the reports of a survey in a SQLite file. It is safe for concurrent use, also by several processes.
type Store struct {
	survey *survey.Survey
	db     *sql.DB // one connection, whose transactions write; nil for a store that is only read
	reader *sql.DB
	key    []byte
	now    func() time.Time
	steps  float64 // mostFoldedSteps, apart from tests

	jobs    chan *job
	closing chan struct{}
	done    chan struct{} // closed when no more commits happen
	once    sync.Once

	reading sync.Mutex
	seen    *seen
}

// job is a call of Add that waits for its commit.
type job struct {
	reports []survey.Report
	fresh   []bool
	err     error
	done    chan struct{}
}

// Limits of commits: reports that are committed together, and calls that wait.
const (
	mostTogether = 1 << 14
	mostWaiting  = 1 << 12
)

// Open opens a store, and creates it if there is no file. A survey whose version the store knows must be the same
// survey, or the error is ErrChanged. So is a survey of another name, or of an older version than the store's last one.
// A new version begins with no reports. Those of the earlier versions stay in the store, which accepts no more of them.
func Open(file string, s *survey.Survey) (*Store, error) {
	if err := create(file); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	db, err := connect(file, "_journal_mode=WAL&_synchronous=FULL&_txlock=immediate&_secure_delete=ON")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	st := newStore(s)
	st.db = db
	if err = st.prepare(); err == nil {
		st.reader, err = connect(file, "mode=ro")
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	go st.commits()
	return st, nil
}

// Read opens a store to estimate from it, while a collector may be running. The version of the survey may be an older
// one. A store or a version that does not exist is an error.
func Read(file string, s *survey.Survey) (*Store, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	st := newStore(s)
	var err error
	if st.reader, err = connect(file, "mode=ro"); err != nil {
		return nil, err
	}
	close(st.done)
	close(st.closing)
	known, err := st.declared()
	if err == nil && !known {
		err = fmt.Errorf("%w: the store has no version %d of the survey %s", ErrChanged, s.Version, s.Name)
	}
	if err != nil {
		return nil, errors.Join(err, st.reader.Close())
	}
	return st, nil
}

func newStore(s *survey.Survey) *Store {
	return &Store{
		survey: s, now: time.Now, steps: mostFoldedSteps, jobs: make(chan *job, mostWaiting),
		closing: make(chan struct{}), done: make(chan struct{}),
	}
}

// create makes an empty file that only its owner can read, durably. An existing file stays.
func create(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func connect(file, options string) (*sql.DB, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_busy_timeout=10000&"+options)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	return db, nil
}

// prepare creates the tables of a new store, and declares the survey.
func (st *Store) prepare() error {
	return st.within(func(tx *sql.Tx) error {
		if _, err := tx.Exec(tables); err != nil {
			return err
		}
		var version int
		err := tx.QueryRow(`SELECT format, key FROM about`).Scan(&version, &st.key)
		if errors.Is(err, sql.ErrNoRows) {
			source := entropy.System()
			defer source.Wipe()
			st.key = make([]byte, 32)
			for i := range st.key {
				st.key[i] = byte(source.Bits(8))
			}
			version = format
			_, err = tx.Exec(`INSERT INTO about VALUES (?, ?)`, format, st.key)
		}
		switch {
		case err != nil:
			return err
		case version != format:
			return fmt.Errorf("it is in version %d, not in %d", version, format)
		}
		return st.declare(tx)
	})
}

// declare records the survey, or compares it with the recorded ones.
func (st *Store) declare(tx *sql.Tx) error {
	s := st.survey
	var name, digest string
	var last int64
	err := tx.QueryRow(`SELECT name, digest, version FROM surveys ORDER BY version DESC LIMIT 1`).Scan(&name, &digest, &last)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	case name != s.Name:
		return fmt.Errorf("%w: the store is of the survey %s, not of %s", ErrChanged, name, s.Name)
	case s.Version < last:
		return fmt.Errorf("%w: the store has version %d already, and this is version %d", ErrChanged, last, s.Version)
	case s.Version == last && digest != s.DigestText():
		return fmt.Errorf("%w: questions, values, mechanisms, ε or times differ from those of version %d in the store: "+
			"raise the version to %d, which begins without reports", ErrChanged, last, last+1)
	case s.Version == last:
		return nil
	}
	if err := closeVersions(tx, s.Version-1); err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO surveys VALUES (?, ?, ?, ?)`, s.Version, s.Name, s.DigestText(), string(text))
	return err
}

// closeVersions ends the collection of all versions up to the given one, for good, and deletes their ids, which are all
// ids unless a later version collects. The ids of a version that accepts no more reports are not needed. The record
// stays: if the clock went back, a replayed report would be counted twice otherwise. So would one that a collector of
// an earlier version, which still runs, receives.
func closeVersions(tx *sql.Tx, last int64) error {
	_, err := tx.Exec(`INSERT OR IGNORE INTO closed SELECT version FROM surveys WHERE version <= ?`, last)
	if err == nil {
		_, err = tx.Exec(`DELETE FROM ids WHERE NOT EXISTS (SELECT 1 FROM surveys WHERE version > ?)`, last)
	}
	return err
}

// declared reports whether the store has this version of the survey. The error is ErrChanged if it is a different one.
func (st *Store) declared() (bool, error) {
	var digest, name string
	err := st.reader.QueryRow(`SELECT name, digest FROM surveys WHERE version = ?`, st.survey.Version).Scan(&name, &digest)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%w: %w", ErrStore, err)
	case digest != st.survey.DigestText() || name != st.survey.Name:
		return false, fmt.Errorf("%w: the store has another version %d of the survey", ErrChanged, st.survey.Version)
	}
	return true, nil
}

// within runs a transaction.
func (st *Store) within(do func(*sql.Tx) error) error {
	tx, err := st.db.Begin()
	if err == nil {
		if err = do(tx); err == nil {
			err = tx.Commit()
		} else if rollback := tx.Rollback(); rollback != nil && !errors.Is(rollback, sql.ErrTxDone) {
			err = errors.Join(err, rollback)
		}
	}
	return named(err)
}

// named returns an error of SQLite as one of this package.
func named(err error) error {
	var e sqlite3.Error
	switch {
	case err == nil || errors.Is(err, ErrChanged) || errors.Is(err, ErrStore) || errors.Is(err, ErrOver):
		return err
	case errors.As(err, &e) && e.Code == sqlite3.ErrFull:
		return fmt.Errorf("%w: %w: %w", ErrStore, ErrFull, err)
	}
	return fmt.Errorf("%w: %w", ErrStore, err)
}

// Add stores reports that were read by the survey. It returns when they are durable. fresh has false for each report
// whose id was stored before; such a report is not stored again. After an error, no report of the call is stored. The
// error is an ErrStore, ErrOver, ErrBusy, ErrClosed, or that of the context, after which the reports may be stored or not.
func (st *Store) Add(ctx context.Context, reports []survey.Report) (fresh []bool, err error) {
	if len(reports) == 0 {
		return nil, nil
	}
	select {
	case <-st.closing:
		return nil, ErrClosed
	default:
	}
	j := &job{reports: reports, done: make(chan struct{})}
	select {
	case st.jobs <- j:
	default:
		return nil, ErrBusy
	}
	select {
	case <-j.done:
		return j.fresh, j.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-st.done: // the store may have closed before or after the commit of j
		select {
		case <-j.done:
			return j.fresh, j.err
		default:
			return nil, ErrClosed
		}
	}
}

// commits commits the waiting calls together, one group after the other.
func (st *Store) commits() {
	defer close(st.done)
	for {
		select {
		case j := <-st.jobs:
			st.commit(j)
		case <-st.closing:
			for {
				select {
				case j := <-st.jobs:
					st.commit(j)
				default:
					return
				}
			}
		}
	}
}

// commit commits a call and those that wait with it, and wakes them. If that fails, all of them fail.
func (st *Store) commit(first *job) {
	group, n := []*job{first}, len(first.reports)
collect:
	for n < mostTogether {
		select {
		case j := <-st.jobs:
			group, n = append(group, j), n+len(j.reports)
		default:
			break collect
		}
	}
	err := st.insert(group, n)
	for _, j := range group {
		if err != nil {
			j.fresh, j.err = nil, err
		}
		close(j.done)
	}
}

// hashed returns the stored form of an id.
func (st *Store) hashed(id survey.ID) []byte {
	text := make([]byte, 0, 64)
	text = append(append(text, st.key...), id[:]...)
	digest := st.survey.Digest()
	sum := sha256.Sum256(append(text, digest[:]...))
	return sum[:16]
}

// Close commits the waiting reports and closes the file.
func (st *Store) Close() error {
	st.once.Do(func() {
		select {
		case <-st.closing:
		default:
			close(st.closing)
		}
	})
	<-st.done
	err := st.reader.Close()
	if st.db != nil {
		err = errors.Join(err, st.db.Close())
	}
	return err
}
