package collector

import (
	"fmt"
	"time"
)

// SetNow replaces the clock.
func (st *Store) SetNow(now func() time.Time) { st.now = now }

// SetSteps limits the steps of folding a part of the reports.
func (st *Store) SetSteps(steps float64) { st.steps = steps }

// Impatient makes writers wait for readers of the log for a moment alone.
func (st *Store) Impatient() error {
	_, err := st.db.Exec(`PRAGMA busy_timeout = 20`)
	return err
}

// ReadUntil begins to read the store, as another program does, until the returned function is called.
func (st *Store) ReadUntil() (func() error, error) {
	tx, err := st.reader.Begin()
	if err != nil {
		return nil, err
	}
	var n int64
	return tx.Rollback, tx.QueryRow(`SELECT count(*) FROM reports`).Scan(&n)
}

// Fill lets the file grow by a number of pages at most, as a disk would that is almost full.
func (st *Store) Fill(pages int) error {
	var n int
	if err := st.db.QueryRow(`PRAGMA page_count`).Scan(&n); err != nil {
		return err
	}
	_, err := st.db.Exec(fmt.Sprintf(`PRAGMA max_page_count = %d`, n+pages))
	return err
}

// Rows returns the number of rows of a table.
func (st *Store) Rows(table string) (n int64, err error) {
	err = st.db.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n)
	return n, err
}

// Answers returns the stored answers of the first row of reports.
func (st *Store) Answers() (out []byte, err error) {
	err = st.db.QueryRow(`SELECT answers FROM reports LIMIT 1`).Scan(&out)
	return out, err
}
