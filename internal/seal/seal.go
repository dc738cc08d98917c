// Package seal turns a table's source into a numbered, private version, which questions read and which changes only
// when the owner seals again.
//
// For each table, a curator's home holds a folder sealed/<name> (0700) with the published versions v1.parquet,
// v2.parquet, … (0600); manifest.json, which alone says which of them are published; and lock, which one sealing at a
// time holds. Every possible fault of a source shows up here, is reported to its owner with row and column, and
// publishes nothing. A question meets only files that were decoded, checked and counted. The reports of this package
// are exact, for the owner alone, and not private.
package seal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"dither/internal/csvtable"
	"dither/internal/jsonlines"
	"dither/internal/policy"
	"dither/internal/value"
)

// Options are what Seal needs besides the table.
type Options struct {
	LedgerID string   // the home's ledger, for the claim on a personal source; "" makes none
	After    int      // the newest version ever recorded: the next one is above it
	Recorded string   // that version's recorded SHA-256: its number is reused for no other file
	Shared   bool     // seal although another home claims the source
	Copy     string   // for a live source: the schema on its server for a copy
	Values   []string // for a live, public source: the columns whose values the version records
	// Guard may refuse a new version. It is called before the work with a function that does nothing, and again with
	// the function that publishes. nil refuses nothing.
	Guard    func(publish func() error) error
	Progress func(Progress)      // called occasionally, from Seal's goroutine or the backend's; nil: never
	Now      func() time.Time    // nil: time.Now
	Getenv   func(string) string // finds the folder of claims (XDG_STATE_HOME, HOME); nil: os.Getenv
}

// next is the number of the next version: above every published one, and every one ever recorded.
func (o Options) next(published []Version) int {
	number := o.After + 1
	if n := len(published); n > 0 {
		number = max(number, published[n-1].Number+1)
	}
	return number
}

func (o Options) guarded(publish func() error) error {
	if o.Guard == nil {
		return publish()
	}
	return o.Guard(publish)
}

// Progress is how far a sealing has come.
type Progress struct {
	Rows       int64
	Bytes      int64 // of the source file, as it is stored
	TotalBytes int64
}

// Seal makes a new version of t from its source, checks and publishes it, and returns it with a report for the owner.
// If the newest version was made from the same bytes under the same declaration, Seal publishes nothing and returns
// that version (Report.Unchanged). On an error it publishes nothing and leaves no file, with one exception: if only the
// folder's last fsync failed, the complete version may stand, and sealing again finds it. Two sealings of one table
// wait for each other.
//
// Errors are for the owner: *SourceError for the source, *csvtable.Error inside it, *ClaimedError, or the file
// system's.
func Seal(ctx context.Context, home string, t *policy.Table, b Backend, opt Options) (Version, Report, error) {
	v, r, err := sealTable(ctx, home, t, b, opt)
	if err != nil {
		return Version{}, Report{}, fmt.Errorf("table %q: %w", t.Name, err)
	}
	return v, r, nil
}

func sealTable(ctx context.Context, home string, t *policy.Table, b Backend, opt Options) (Version, Report, error) {
	report := Report{Table: t.Name}
	home, err := filepath.Abs(home)
	if err != nil {
		return Version{}, report, err
	}
	src, err := openSource(t)
	if err != nil {
		return Version{}, report, err
	}
	defer func() { _ = src.Close() }()
	shelf, err := lockShelf(ctx, home, t.Name)
	if err != nil {
		return Version{}, report, err
	}
	defer shelf.unlock()
	published, err := shelf.read()
	if err != nil {
		return Version{}, report, err
	}
	claim := newClaims(home, t, opt, &report)

	if newest, ok := shelf.reusable(published, t, src); ok &&
		(newest.Number > opt.After || newest.Number == opt.After && newest.SHA256 == opt.Recorded) {
		digest, contents, err := src.digest(ctx)
		if err != nil {
			return Version{}, report, err
		}
		if digest == newest.SourceSHA256 {
			report.Unchanged, report.Version = true, newest.Number
			if report.Facts, err = b.Inspect(ctx, newest.File, t); err != nil {
				// the policy's bounds and caps may have changed since
				return Version{}, report, fmt.Errorf("inspecting the sealed file: %w", err)
			}
			err := claim.hold(ctx, src.paths, contents, newest.Rows, func() error { return nil })
			return newest, report, err
		}
	}
	if err := opt.guarded(func() error { return nil }); err != nil {
		return Version{}, report, err
	}
	if err := claim.check(src.paths); err != nil { // once before the work, and again with the content before publishing
		return Version{}, report, err
	}
	temp, err := shelf.temp()
	if err != nil {
		return Version{}, report, err
	}
	defer func() { _ = os.Remove(temp) }() // already gone once published

	digest, contents, err := fill(ctx, temp, src, t, b, opt, &report)
	if err != nil {
		return Version{}, report, err
	}
	if report.Facts, err = b.Inspect(ctx, temp, t); err != nil {
		return Version{}, report, fmt.Errorf("inspecting the sealed file: %w", err)
	}
	if err := checkFacts(t, report.Facts); err != nil {
		return Version{}, report, err
	}
	v := Version{
		Table: t.Name, Number: opt.next(published), Rows: report.Facts.Rows,
		Sealed: now(opt).UTC().Truncate(time.Second),
		Schema: schemaDigest(t), SourceSHA256: digest, SourceBytes: src.size, Facts: report.Facts, Stored: storedOf(t),
	}
	if len(contents) > 1 {
		v.SourceFiles = contents
	}
	err = claim.hold(ctx, src.paths, contents, v.Rows, func() error {
		return opt.guarded(func() (err error) { v, err = shelf.publish(temp, v, published); return err })
	})
	report.Version = v.Number
	return v, report, err
}

func now(opt Options) time.Time {
	if opt.Now != nil {
		return opt.Now()
	}
	return time.Now()
}

// fill writes the sealed file from the source and returns the digests of the source's bytes.
func fill(
	ctx context.Context, temp string, src *source, t *policy.Table, b Backend, opt Options, report *Report,
) (whole string, contents []string, err error) {
	if !t.Source.Format.Typed() {
		whole, err = fillDecoded(ctx, temp, src, t, b, opt, report)
		return whole, []string{whole}, err
	}
	before, _, err := src.digest(ctx)
	if err != nil {
		return "", nil, err
	}
	if report.Invalids, err = b.Import(ctx, temp, t, src.paths); err != nil {
		return "", nil, src.fault(err)
	}
	after, contents, err := src.digest(ctx)
	if err == nil && before != after {
		err = &SourceError{Path: t.Source.Path, Message: "the file changed while it was being sealed"}
	}
	return after, contents, err
}

// fillDecoded writes the sealed file from one text file.
func fillDecoded(
	ctx context.Context, temp string, src *source, t *policy.Table, b Backend, opt Options, report *Report,
) (string, error) {
	hash := sha256.New()
	raw := &meter{in: io.TeeReader(src.files[0], hash)}
	text, err := src.text(raw)
	if err != nil {
		return "", err
	}
	in, err := decoder(text, t)
	if err != nil {
		return "", src.fault(err)
	}
	next := func(row []value.Value) error {
		if err := in.Read(row); err != nil {
			return err
		}
		n := in.Row()
		if n > MaxRows {
			return tooManyRows()
		}
		if n%(1<<14) == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if opt.Progress != nil {
				opt.Progress(Progress{Rows: n, Bytes: raw.bytes, TotalBytes: src.size})
			}
		}
		return nil
	}
	if err := b.Write(ctx, temp, t, next); err != nil {
		if errors.As(err, new(*csvtable.Error)) {
			return "", src.fault(err)
		}
		return "", fmt.Errorf("writing the sealed file: %w", err)
	}
	if opt.Progress != nil {
		opt.Progress(Progress{Rows: in.Row(), Bytes: raw.bytes, TotalBytes: src.size})
	}
	report.Ignored, report.Invalids = in.Ignored(), in.Invalids()
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// decoding reads the rows of a text file.
type decoding interface {
	Read(row []value.Value) error
	Row() int64
	Ignored() []string
	Invalids() []csvtable.Invalid
}

func decoder(text io.Reader, t *policy.Table) (decoding, error) {
	if t.Source.Format == policy.JSONLines {
		return jsonlines.New(text, t.Columns)
	}
	return csvtable.New(text, t.Source.Dialect, t.Columns)
}

func tooManyRows() error {
	return errors.New("the source has more than 2^32 rows, the most that a table may have")
}

// checkFacts refuses a file that contradicts t's declarations on which a sensitivity relies.
func checkFacts(t *policy.Table, f Facts) error {
	if f.Rows > MaxRows {
		return tooManyRows()
	}
	for i, c := range t.Columns {
		if i < len(f.Columns) && f.Columns[i].Nulls > 0 && !c.Nullable {
			return fmt.Errorf("column %q has %d NULLs, but is not declared nullable", c.Name, f.Columns[i].Nulls)
		}
	}
	return nil
}
