package seal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dither/internal/csvtable"
	"dither/internal/policy"
)

// Server reads a live source: a table on a server that questions read in place.
type Server interface {
	// Look reads the whole of t once, in one snapshot, and changes nothing. It returns an error for a table that
	// contradicts the declaration. For a public table it also returns the distinct values of the named columns.
	Look(ctx context.Context, t *policy.Table, values ...string) (Found, error)
	// Copy is Look, and also copies the rows that it reads into a table with this name, in the given schema of the
	// owner's.
	Copy(ctx context.Context, t *policy.Table, schema, table string) (Found, error)
	// Drop removes a copy.
	Drop(ctx context.Context, t *policy.Table, c Copy) error
}

// Copy is a table on the server that holds the rows from which a version was sealed. No role may write to it.
type Copy struct {
	Schema   string `json:"schema"`
	Table    string `json:"table"`
	Relation string `json:"relation"` // the server's identity of the table and its file
	Rows     int64  `json:"rows"`     // an exact count, for the owner only
}

// Found is the content of a live table at the time of sealing. It is exact, so it is for the owner only.
type Found struct {
	Facts    Facts
	Invalids []csvtable.Invalid // values outside the declared type, which questions read as NULL
	// the server's identity of the table, whichever name was used: CLUSTER/…, where "?" stands for an unknown
	// cluster
	Relation string
	// the identities of the topmost tables that may hold its rows. So all partitions of one table count as one
	// source
	Family  []string
	Shows   []string // for a view, the topmost tables that it shows
	Content string   // a digest of the declared columns' rows that does not depend on their order
	// a text that is read without reading rows, and that differs after a change of the table; "" if the server has
	// none
	State    string
	Copy     *Copy    // if one was made
	Ignored  []string // columns that are not declared
	Warnings []string
	// the distinct values of the requested public columns, in order; at most MaxKeys + 1
	Values map[string][]string
}

// liveJSON is the content of a live version's file: what sealing found, without rows.
type liveJSON struct {
	Source   string    `json:"source"` // as the policy writes it
	Relation string    `json:"relation"`
	Content  string    `json:"content"`
	Rows     int64     `json:"rows"`
	Sealed   time.Time `json:"sealed"`
	// Values are the values of public columns from which other tables' columns take theirs. They are as public as
	// the policy.
	Values map[string][]string `json:"values,omitempty"`
	// for these columns, a digest of the declaration that decides how they are cleaned
	Declared map[string]string `json:"declared,omitempty"`
}

// Live seals a live source by reference. It reads the table, checks it against the declaration, and publishes a
// version that records what it found. It copies no rows, unless the options say so: questions read the table as it
// is when they run.
//
// Live publishes a version even if the rows are those of the newest one. Analysts see the version's number, and
// live tables are sealed repeatedly. A number that rose only after a change would reveal, without noise, whether
// any rows changed. Errors are those of [Seal].
func Live(ctx context.Context, home string, t *policy.Table, server Server, opt Options) (Version, Report, error) {
	v, r, err := sealLive(ctx, home, t, server, opt)
	if err != nil {
		return Version{}, Report{}, fmt.Errorf("table %q: %w", t.Name, err)
	}
	return v, r, nil
}

func sealLive(ctx context.Context, home string, t *policy.Table, server Server, opt Options) (Version, Report, error) {
	report := Report{Table: t.Name}
	home, err := filepath.Abs(home)
	if err != nil {
		return Version{}, report, err
	}
	shelf, err := lockShelf(ctx, home, t.Name)
	if err != nil {
		return Version{}, report, err
	}
	defer shelf.unlock()
	published, err := shelf.read()
	if err != nil {
		return Version{}, report, err
	}
	if err := opt.guarded(func() error { return nil }); err != nil {
		return Version{}, report, err
	}
	number := opt.next(published)
	found, err := looked(ctx, home, t, server, opt, number)
	if err != nil {
		return Version{}, report, &SourceError{Path: t.Source.Path, Message: err.Error(), Err: err}
	}
	done := false
	defer func() {
		if !done && found.Copy != nil {
			_ = server.Drop(context.WithoutCancel(ctx), t, *found.Copy)
		}
	}()
	report.Facts, report.Invalids, report.Ignored = found.Facts, found.Invalids, found.Ignored
	for _, text := range found.Warnings {
		report.warn(text)
	}
	if err := checkFound(t, found); err != nil {
		return Version{}, report, err
	}
	claim := newClaims(home, t, opt, &report)
	v := Version{
		Table: t.Name, Number: number, Rows: found.Facts.Rows, Sealed: now(opt).UTC().Truncate(time.Second),
		Schema:       schemaDigest(t),
		SourceSHA256: digestOf(inCluster(found.Relation), found.Content), Facts: found.Facts, Live: true,
		Relation: found.Relation, Family: found.Family, Shows: found.Shows, Copy: found.Copy,
	}
	if v.Copy != nil {
		v.Stored = storedOf(t)
	}
	if n := len(published); n > 0 {
		if newest := published[n-1]; newest.Schema == v.Schema && newest.SourceSHA256 == v.SourceSHA256 {
			report.SameAs = newest.Number
		}
	}
	report.Version = v.Number
	for _, relation := range found.Family {
		claim.tables = append(claim.tables, string(t.Source.Format)+":"+relation)
	}
	err = claim.hold(ctx, []string{t.Source.Path}, []string{digestOf(found.Content)}, v.Rows, func() error {
		return opt.guarded(func() (err error) { v, err = shelf.publishLive(t, v, found, published); return err })
	})
	done = err == nil
	return v, report, err
}

// looked inspects a live source by reading it, and also copies it on its server if the options say so.
func looked(ctx context.Context, home string, t *policy.Table, server Server, opt Options, number int) (Found, error) {
	if opt.Copy == "" {
		return server.Look(ctx, t, opt.Values...)
	}
	return server.Copy(ctx, t, opt.Copy, copyName(home, t.Name, opt.LedgerID, number))
}

// copyName returns the name of a copy, at most 63 bytes long: the table's plain letters, the version, and a digest
// that distinguishes homes.
func copyName(home, table, ledger string, number int) string {
	plain, _, _ := strings.Cut(filepath.Base(folderOf(home, table)), "-")
	return fmt.Sprintf("%s_v%d_%s", plain, number, digestOf(home, table, ledger)[:8])
}

// DropCopies removes the copies that were made for versions before v. It tries all of them, and returns the errors
// joined.
func DropCopies(ctx context.Context, home string, t *policy.Table, server Server, v Version) error {
	home, err := filepath.Abs(home)
	if err != nil {
		return err
	}
	published, err := readManifest(folderOf(home, t.Name), t.Name)
	if err != nil {
		return err
	}
	for _, old := range published {
		if old.Copy != nil && old.Number < v.Number {
			err = errors.Join(err, server.Drop(ctx, t, *old.Copy))
		}
	}
	return err
}

// inCluster returns the part of a relation's identity after the cluster.
func inCluster(relation string) string { _, in, _ := strings.Cut(relation, "/"); return in }

// sameRelation reports whether two identities are, or may be, the same table. An unknown cluster may be any
// cluster.
func sameRelation(a, b string) bool {
	of, in, _ := strings.Cut(a, "/")
	alsoOf, alsoIn, _ := strings.Cut(b, "/")
	return in == alsoIn && (of == alsoOf || of == unknown || alsoOf == unknown)
}

// unknown stands for the cluster if the role may not read its identity.
const unknown = "?"

func meet(a, b []string) bool {
	return slices.ContainsFunc(a,
		func(r string) bool { return slices.ContainsFunc(b, func(o string) bool { return sameRelation(r, o) }) })
}

func digestOf(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// checkFound returns an error for findings that contradict the declaration.
func checkFound(t *policy.Table, f Found) error {
	for _, bad := range f.Invalids {
		if c := t.Column(bad.Column); c == nil || c.Invalid != policy.InvalidIsNull || !c.Nullable {
			return fmt.Errorf("column %q: %d values are not valid as %s", bad.Column, bad.Count, c.Type)
		}
	}
	return checkFacts(t, f.Facts)
}

// publishLive writes a live version's file, and publishes it.
func (s *shelf) publishLive(t *policy.Table, v Version, f Found, published []Version) (Version, error) {
	text, err := json.MarshalIndent(liveJSON{
		t.Source.Path, f.Relation, f.Content, v.Rows, v.Sealed, f.Values,
		declarations(t, f.Values),
	}, "", "  ")
	if err != nil {
		return Version{}, err
	}
	temp, err := s.temp()
	if err != nil {
		return Version{}, err
	}
	defer func() { _ = os.Remove(temp) }() // fails harmlessly after publication, when the file has another name
	if err := os.WriteFile(temp, append(text, '\n'), 0o600); err != nil {
		return Version{}, err
	}
	if v, err = s.publish(temp, v, published); err != nil {
		return Version{}, err
	}
	return v, noteState(v, f.State)
}

// stateFile returns the path of the file that holds a live version's state. It is separate from the version's file,
// because the state may change although no row does.
func stateFile(v Version) string { return strings.TrimSuffix(v.File, ".json") + ".state" }

func noteState(v Version, state string) error { return replaceFile(stateFile(v), []byte(state)) }

// State returns the state in which a live version was last sealed; "" if it is unknown.
func State(v Version) (string, error) {
	if !v.Live {
		return "", nil
	}
	text, err := os.ReadFile(stateFile(v))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

// changedFile returns the path of the file that holds the time when the table was first seen to have changed since
// it was sealed.
func changedFile(v Version) string { return strings.TrimSuffix(v.File, ".json") + ".changed" }

// NoteChange records that a live version's table seems to have changed since it was sealed. Only the first call has
// an effect.
func NoteChange(v Version, at time.Time) error {
	if _, err := os.Stat(changedFile(v)); err == nil {
		return nil
	}
	return replaceFile(changedFile(v), []byte(at.UTC().Format(time.RFC3339)))
}

// Changed returns the time when the newest version of a live table was first seen to have changed since it was
// sealed; "" if it was not.
func Changed(home string, t *policy.Table) string {
	v, err := current(home, t)
	if err != nil || !v.Live {
		return ""
	}
	text, _ := os.ReadFile(changedFile(v))
	return string(text)
}
