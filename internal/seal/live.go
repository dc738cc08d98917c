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

// Server looks at a live source: a table that questions read where it is.
type Server interface {
	// Look reads the whole of t once, in one snapshot, and changes nothing. It refuses a table that t does not declare.
	// Of a public table it gives the distinct values of some columns, too.
	Look(ctx context.Context, t *policy.Table, values ...string) (Found, error)
	// Copy is Look, and makes a copy of the rows that it looks at: a table of this name in a schema of the owner's.
	Copy(ctx context.Context, t *policy.Table, schema, table string) (Found, error)
	// Drop removes a copy.
	Drop(ctx context.Context, t *policy.Table, c Copy) error
}

// Copy is a table on the server that holds what a version was sealed from, and which nobody may write to.
type Copy struct {
	Schema   string `json:"schema"`
	Table    string `json:"table"`
	Relation string `json:"relation"` // what the server knows it by, with the file that it is in
	Rows     int64  `json:"rows"`     // exact: the owner's
}

// Found is what a live table holds at one moment: exact, for its owner.
type Found struct {
	Facts    Facts
	Invalids []csvtable.Invalid // values that are none of the declared type, which questions take for NULL
	// what the server knows the table by, whatever name led there: CLUSTER/…, where "?" is a cluster that is not told
	Relation string
	// the topmost tables that its rows may stand in, in the same form: partitions of one are one source
	Family  []string
	Shows   []string // of a view, the topmost tables that it shows
	Content string   // a digest of the declared columns' rows, whatever their order
	// told without reading rows, and another once they change; "" where the server cannot tell
	State    string
	Copy     *Copy    // if one was made
	Ignored  []string // columns that are not declared
	Warnings []string
	// the distinct values of the public columns that were asked for, in their order; MaxKeys + 1 at most
	Values map[string][]string
}

// liveJSON is the file of a live version: what was found, without rows.
type liveJSON struct {
	Source   string    `json:"source"` // as the policy writes it
	Relation string    `json:"relation"`
	Content  string    `json:"content"`
	Rows     int64     `json:"rows"`
	Sealed   time.Time `json:"sealed"`
	// Values are those of public columns that other tables' columns take theirs from: as public as the policy.
	Values   map[string][]string `json:"values,omitempty"`
	Declared map[string]string   `json:"declared,omitempty"` // of these columns, a digest of what they were cleaned by
}

// Live seals a live source by reference: it looks at the table, checks it against the declaration, and publishes a
// version that says what was found. Rows are not copied: questions read the table as it is then.
//
// A version is published though the rows are those of the newest: analysts see its number, and live tables are sealed
// again and again. A number that rose only with a change would tell, without noise, whether anybody's rows changed.
// Errors are as Seal's.
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

// looked looks at a live source, and copies it if it is to be copied.
func looked(ctx context.Context, home string, t *policy.Table, server Server, opt Options, number int) (Found, error) {
	if opt.Copy == "" {
		return server.Look(ctx, t, opt.Values...)
	}
	return server.Copy(ctx, t, opt.Copy, copyName(home, t.Name, opt.LedgerID, number))
}

// copyName is the table's plain letters, the version, and what tells it from copies of other homes: at most 63 bytes.
func copyName(home, table, ledger string, number int) string {
	plain, _, _ := strings.Cut(filepath.Base(folderOf(home, table)), "-")
	return fmt.Sprintf("%s_v%d_%s", plain, number, digestOf(home, table, ledger)[:8])
}

// DropCopies removes the copies that were made for versions before v, as far as they can be.
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

// inCluster is what follows the cluster in a relation.
func inCluster(relation string) string { _, in, _ := strings.Cut(relation, "/"); return in }

// sameRelation holds where two are one, or may be: a cluster that is not told may be any.
func sameRelation(a, b string) bool {
	of, in, _ := strings.Cut(a, "/")
	alsoOf, alsoIn, _ := strings.Cut(b, "/")
	return in == alsoIn && (of == alsoOf || of == unknown || alsoOf == unknown)
}

// unknown stands for a cluster that is not told to the role that asked.
const unknown = "?"

func meet(a, b []string) bool {
	return slices.ContainsFunc(a,
		func(r string) bool { return slices.ContainsFunc(b, func(o string) bool { return sameRelation(r, o) }) })
}

func digestOf(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// checkFound refuses what contradicts the declaration.
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
	defer func() { _ = os.Remove(temp) }() // gone already once published
	if err := os.WriteFile(temp, append(text, '\n'), 0o600); err != nil {
		return Version{}, err
	}
	if v, err = s.publish(temp, v, published); err != nil {
		return Version{}, err
	}
	return v, noteState(v, f.State)
}

// The state stands beside the version's file, and not in it: it may change though no row does.
func stateFile(v Version) string { return strings.TrimSuffix(v.File, ".json") + ".state" }

func noteState(v Version, state string) error { return replaceFile(stateFile(v), []byte(state)) }

// State is the state in which a live version was sealed last; "" if that is not known.
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

// Beside it stands when the table was first seen to have changed since.
func changedFile(v Version) string { return strings.TrimSuffix(v.File, ".json") + ".changed" }

// NoteChange notes that a live version's table seems to have changed since it was sealed. The first note stays.
func NoteChange(v Version, at time.Time) error {
	if _, err := os.Stat(changedFile(v)); err == nil {
		return nil
	}
	return replaceFile(changedFile(v), []byte(at.UTC().Format(time.RFC3339)))
}

// Changed is when the newest version of a live table was first seen to have changed since it was sealed; "" if it was
// not.
func Changed(home string, t *policy.Table) string {
	v, err := current(home, t)
	if err != nil || !v.Live {
		return ""
	}
	text, _ := os.ReadFile(changedFile(v))
	return string(text)
}
