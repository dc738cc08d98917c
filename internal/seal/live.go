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

// Server reads a live source: a table that questions read in place.
type Server interface {
	// Look reads the whole of t once, in one snapshot, and changes nothing. It refuses a table that contradicts the
	// declaration. For a public table it also returns the distinct values of the named columns.
	Look(ctx context.Context, t *policy.Table, values ...string) (Found, error)
	// Copy is Look, and also copies the rows that it reads into a table with this name in a schema of the owner's.
	Copy(ctx context.Context, t *policy.Table, schema, table string) (Found, error)
	// Drop removes a copy.
	Drop(ctx context.Context, t *policy.Table, c Copy) error
}

// Copy is a table on the server that holds the rows from which a version was sealed. Nobody may write to it.
type Copy struct {
	Schema   string `json:"schema"`
	Table    string `json:"table"`
	Relation string `json:"relation"` // the server's identity of the table, with its file
	Rows     int64  `json:"rows"`     // exact: the owner's
}

// Found is the content of a live table at one moment: exact, for its owner.
type Found struct {
	Facts    Facts
	Invalids []csvtable.Invalid // values outside the declared type, which questions read as NULL
	// the server's identity of the table, whatever name led to it: CLUSTER/…, where "?" stands for an unknown cluster
	Relation string
	// the topmost tables that may hold its rows, in the same form: partitions of one table are one source
	Family  []string
	Shows   []string // for a view, the topmost tables that it shows
	Content string   // a digest of the declared columns' rows, whatever their order
	// read without rows, and different once they change; "" if the server has none
	State    string
	Copy     *Copy    // if one was made
	Ignored  []string // columns that are not declared
	Warnings []string
	// the distinct values of the requested public columns, in order; at most MaxKeys + 1
	Values map[string][]string
}

// liveJSON is the file of a live version: what sealing found, without rows.
type liveJSON struct {
	Source   string    `json:"source"` // as the policy writes it
	Relation string    `json:"relation"`
	Content  string    `json:"content"`
	Rows     int64     `json:"rows"`
	Sealed   time.Time `json:"sealed"`
	// Values are those of public columns from which other tables' columns take theirs: as public as the policy.
	Values   map[string][]string `json:"values,omitempty"`
	Declared map[string]string   `json:"declared,omitempty"` // for these columns, a digest of their cleaning
}

// Live seals a live source by reference: it reads the table, checks it against the declaration, and publishes a version
// that records what it found. It copies no rows: questions read the table as it is at that time.
//
// Live publishes a version even if the rows are those of the newest one. Analysts see its number, and live tables are
// sealed repeatedly; a number that rose only with a change would reveal, without noise, whether anybody's rows changed.
// Errors are those of Seal.
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

// looked reads a live source, and copies it if the options say so.
func looked(ctx context.Context, home string, t *policy.Table, server Server, opt Options, number int) (Found, error) {
	if opt.Copy == "" {
		return server.Look(ctx, t, opt.Values...)
	}
	return server.Copy(ctx, t, opt.Copy, copyName(home, t.Name, opt.LedgerID, number))
}

// copyName combines the table's plain letters, the version, and a digest that distinguishes copies of other homes: at
// most 63 bytes.
func copyName(home, table, ledger string, number int) string {
	plain, _, _ := strings.Cut(filepath.Base(folderOf(home, table)), "-")
	return fmt.Sprintf("%s_v%d_%s", plain, number, digestOf(home, table, ledger)[:8])
}

// DropCopies removes, best effort, the copies that were made for versions before v.
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

// inCluster is the rest of a relation after the cluster.
func inCluster(relation string) string { _, in, _ := strings.Cut(relation, "/"); return in }

// sameRelation reports whether two relations are the same, or may be: an unknown cluster may be any.
func sameRelation(a, b string) bool {
	of, in, _ := strings.Cut(a, "/")
	alsoOf, alsoIn, _ := strings.Cut(b, "/")
	return in == alsoIn && (of == alsoOf || of == unknown || alsoOf == unknown)
}

// unknown stands for a cluster that the role may not know.
const unknown = "?"

func meet(a, b []string) bool {
	return slices.ContainsFunc(a,
		func(r string) bool { return slices.ContainsFunc(b, func(o string) bool { return sameRelation(r, o) }) })
}

func digestOf(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// checkFound refuses findings that contradict the declaration.
func checkFound(t *policy.Table, f Found) error {
	for _, bad := range f.Invalids {
		if c := t.Column(bad.Column); c == nil || c.Invalid != policy.InvalidIsNull || !c.Nullable {
			return fmt.Errorf("column %q: %d values are no %s", bad.Column, bad.Count, c.Type)
		}
	}
	return checkFacts(t, f.Facts)
}

// publishLive writes a live version's file and publishes it.
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
	defer func() { _ = os.Remove(temp) }() // already gone once published
	if err := os.WriteFile(temp, append(text, '\n'), 0o600); err != nil {
		return Version{}, err
	}
	if v, err = s.publish(temp, v, published); err != nil {
		return Version{}, err
	}
	return v, noteState(v, f.State)
}

// stateFile holds the state, beside the version's file and not in it: the state may change though no row does.
func stateFile(v Version) string { return strings.TrimSuffix(v.File, ".json") + ".state" }

func noteState(v Version, state string) error { return replaceFile(stateFile(v), []byte(state)) }

// State is the state in which a live version was last sealed; "" if unknown.
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

// changedFile, beside it, holds the time when the table was first seen to have changed since.
func changedFile(v Version) string { return strings.TrimSuffix(v.File, ".json") + ".changed" }

// NoteChange notes that a live version's table seems to have changed since sealing. The first note stays.
func NoteChange(v Version, at time.Time) error {
	if _, err := os.Stat(changedFile(v)); err == nil {
		return nil
	}
	return replaceFile(changedFile(v), []byte(at.UTC().Format(time.RFC3339)))
}

// Changed is when the newest version of a live table was first seen to have changed since sealing; "" if it was not.
func Changed(home string, t *policy.Table) string {
	v, err := current(home, t)
	if err != nil || !v.Live {
		return ""
	}
	text, _ := os.ReadFile(changedFile(v))
	return string(text)
}
