// Package timing measures what the time of an answer reveals about one unit. It makes up homes that differ in one
// unit's rows. It asks both homes the same questions in turns, through the library and through the program, and
// compares how long the answers take. It also measures the values of a policy's answer_delay for this machine:
// floor, and factor, which is the time allowed for each step of a question's cost. All data are made up: the package reads
// no real home and spends no real budget.
package timing

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dither/curator"
	"dither/internal/engine/postgres"
)

const (
	table = "visits"
	// storedRows is the number of rows of the extra unit, in which the homes differ. It is the largest number of
	// rows of one unit that sealing keeps under a policy with rowsPerUnit.
	storedRows  = 1000
	rowsPerUnit = 4
	noteBytes   = 4096 // length of the longest text that sealing accepts
	// Price is the ε of every question. It is as small as the price of a cheap question may be.
	Price = "0.0001"
)

const policyText = `version: 1
population: {name: made_up}
budget: {epsilon: 1000}
price: {default: 0.0001, minimum: 0.0001, maximum: 1}
%stables:
  visits:
    source: %s
    unit: pid
    rows_per_unit: %d
    expected_rows: %d
    columns:
      pid: {type: integer}
      age: {type: real, bounds: [0, 115]}
      days: {type: integer, bounds: [0, 1000]}
      day: {type: date, bounds: [2000-01-01, 2030-12-31]}
      kind: {type: text, values: [ward, home, street]}
      note: {type: text}
      married: {type: boolean}
`

// Where describes the homes of a measurement.
type Where struct {
	Rows     int64  // number of rows of other people; each person has one row
	Unit     int64  // number of rows of the extra unit
	Postgres string // the environment variable that holds a server's URL; "" means sealed files
	Limits   string // lines for the policy's limits; may be empty
	Folder   string // the folder for the homes
}

// home is one made-up home, opened.
type home struct {
	*curator.Owner
	path, state string
	forget      func(context.Context) error
}

// make makes a home and seals its table. If with is true, the table contains the extra unit.
func (w Where) make(ctx context.Context, name string, with bool) (_ *home, err error) {
	h := &home{path: filepath.Join(w.Folder, name), state: filepath.Join(w.Folder, name+"-state")}
	h.forget = func(context.Context) error { return nil }
	if err := curator.Init(h.path); err != nil {
		return nil, err
	}
	source, schema := "{csv: visits.csv}", ""
	if w.Postgres == "" {
		err = w.writeFile(filepath.Join(h.path, "visits.csv"), with)
	} else {
		schema = fmt.Sprintf("dither_timing_%d_%s", os.Getpid(), name)
		source = fmt.Sprintf("{postgres: {url_env: %s}, table: %s.%s}", w.Postgres, schema, table)
		h.forget = func(ctx context.Context) error {
			return postgres.MakeUp(ctx, w.Postgres, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		}
		err = w.writeTable(ctx, schema, with)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close(context.WithoutCancel(ctx)))
		}
	}()
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf(policyText, w.Limits, source, rowsPerUnit, max(w.Rows, 1))
	if err := os.WriteFile(filepath.Join(h.path, "policy.yaml"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	if h.Owner, err = curator.Open(h.path); err != nil {
		return nil, err
	}
	_, err = h.Seal(ctx, table, curator.SealOptions{StateHome: h.state, Copy: schema})
	return h, err
}

func (h *home) close(ctx context.Context) error {
	err := h.forget(ctx)
	if h.Owner != nil {
		err = errors.Join(err, h.Close())
	}
	return err
}

// writeFile writes the rows to a CSV file. If with is true, it includes the extra unit.
func (w Where) writeFile(file string, with bool) (err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(f, 1<<20)
	_, _ = out.WriteString("pid,age,days,day,kind,note,married\n") // Flush returns the error
	kinds := []string{"ward", "home", "street"}
	for i := range w.Rows {
		_, _ = fmt.Fprintf(
			out,
			"%d,%d.5,%d,20%02d-03-%02d,%s,nothing,%t\n",
			i+10,
			i%90,
			i%1000,
			i%30,
			1+i%28,
			kinds[i%3],
			i%2 == 0,
		)
	}
	long := strings.Repeat("x", noteBytes-4)
	for i := int64(0); with && i < w.Unit; i++ {
		_, _ = fmt.Fprintf(out, "1,90.5,%d,2016-07-18,street,%s%04d,true\n", i%1000, long, i)
	}
	return out.Flush()
}

// writeTable makes a table with the same rows on the server.
func (w Where) writeTable(ctx context.Context, schema string, with bool) error {
	unit := int64(0)
	if with {
		unit = w.Unit
	}
	return postgres.MakeUp(ctx, w.Postgres, fmt.Sprintf(`CREATE SCHEMA %s;
CREATE TABLE %s.visits AS
SELECT i + 10 AS pid, CAST(i %% 90 + 0.5 AS float8) AS age, i %% 1000 AS days,
  CAST('2000-03-01' AS date) + CAST(i %% 10000 AS int) AS day,
  (ARRAY['ward', 'home', 'street'])[1 + i %% 3] AS kind, 'nothing' AS note, i %% 2 = 0 AS married
FROM generate_series(CAST(0 AS bigint), %d - 1) AS i
UNION ALL
SELECT 1, 90.5, i %% 1000, '2016-07-18', 'street', repeat('x', %d) || lpad(CAST(i AS text), 4, '0'), true
FROM generate_series(CAST(0 AS bigint), %d - 1) AS i`, schema, schema, w.Rows, noteBytes-4, unit))
}
