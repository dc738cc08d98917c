// Package seal turns a table's source into a numbered, private version. Questions read the version, which changes
// only when the owner seals again.
//
// For each table, a curator's home has a folder sealed/<name> (mode 0700). It holds the published versions
// v1.parquet, v2.parquet, … (mode 0600). Only manifest.json decides which of them are published. The file lock
// allows one sealing at a time. Sealing finds every possible fault of a source, reports it to the owner with row
// and column, and then publishes nothing. So questions only read files that were decoded, checked and counted. The
// reports of this package are exact and not private: they are for the owner only.
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

// Options are the settings of [Seal] and [Live].
type Options struct {
	LedgerID string   // the ID of the home's ledger, for the claim on a personal source; "" makes no claim
	After    int      // the newest version ever recorded: the next one gets a higher number
	Recorded string   // the recorded SHA-256 of version After. Its number is never reused for another file
	Shared   bool     // seal even if another home claims the source
	Always   bool     // make a new version even if the newest one was made from the same source
	Copy     string   // for a live source: the schema on its server for a copy
	Values   []string // for a live, public source: the columns whose values the version records
	// Guard may refuse a new version by an error. It is called with a function that does nothing before the work,
	// and with the function that publishes after it. nil refuses nothing.
	Guard    func(publish func() error) error
	Progress func(Progress) // called occasionally, by the goroutine of Seal or of the backend; nil for no reports
	// Sheet opens the sheet of a table's workbook. It is passed in because its library is large, and the kernel, which
	// reads sealed versions by this package, must not depend on it.
	Sheet  func(in io.Reader, t *policy.Table) (Sheet, error)
	Now    func() time.Time    // nil means time.Now
	Getenv func(string) string // finds the folder of claims by XDG_STATE_HOME and HOME; nil means os.Getenv
}

// next returns the number of the next version: higher than every published one, and every one ever recorded.
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

// Progress states how far a sealing has come.
type Progress struct {
	Rows       int64
	Bytes      int64 // bytes read of the source file, before decompression
	TotalBytes int64
}

// Seal makes a new version of t from its source, checks and publishes it, and returns it with a report for the
// owner. If the newest version was made from the same bytes under the same declaration, Seal publishes nothing and
// returns that version with Report.Unchanged set. With Options.Always it makes another version even then, because the
// number would otherwise state whether the source has changed. On an error it publishes nothing and leaves no file,
// with one exception: if only the folder's last fsync failed, the complete version may be published, and sealing again
// finds it, unless Options.Always is set. A second sealing of the same table waits for the first.
//
// Errors are for the owner: a *SourceError, perhaps with a *csvtable.Error inside, a *ClaimedError, or an error of
// the file system.
func Seal(ctx context.Context, home string, t *policy.Table, b Backend, opt Options) (Version, Report, error) {
	v, r, err := sealTable(ctx, home, t, b, opt)
	if err != nil {
		return Version{}, Report{}, fmt.Errorf("table %q: %w", t.Name, err)
	}
	return v, r, nil
}

func sealTable(ctx context.Context, home string, t *policy.Table, b Backend, opt Options) (Version, Report, error) {
	report := Report{Table: t.Name}
	// the time before the source is read, and before waiting for another sealing: it depends on no row, and a stream
	// counts rows by it
	begun := now(opt).UTC().Truncate(time.Second)
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

	if newest, ok := shelf.reusable(published, t, src); ok && !opt.Always &&
		(newest.Number > opt.After || newest.Number == opt.After && newest.SHA256 == opt.Recorded) {
		digest, contents, err := src.digest(ctx)
		if err != nil {
			return Version{}, report, err
		}
		if digest == newest.SourceSHA256 {
			report.Unchanged, report.Version = true, newest.Number
			if report.Facts, err = b.Inspect(ctx, newest.File, t); err != nil {
				// inspected again, because the policy's bounds and limits may have changed
				return Version{}, report, fmt.Errorf("inspecting the sealed file: %w", err)
			}
			err := claim.hold(ctx, src.paths, contents, newest.Rows, func() error { return nil })
			return newest, report, err
		}
	}
	if err := opt.guarded(func() error { return nil }); err != nil {
		return Version{}, report, err
	}
	// checked before the work, and again with the content before publishing
	if err := claim.check(src.paths); err != nil {
		return Version{}, report, err
	}
	temp, err := shelf.temp()
	if err != nil {
		return Version{}, report, err
	}
	defer func() { _ = os.Remove(temp) }() // fails harmlessly after publication, when the file has another name

	held, err := newHoldout(home, t)
	if err != nil {
		return Version{}, report, err
	}
	digest, contents, err := fill(ctx, temp, src, &filling{t, held}, b, opt, &report)
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
		Sealed: begun,
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

// filling is a table with what sealing adds to its source.
type filling struct {
	*policy.Table
	holdout *holdout // nil: none
}

// held returns the function that decides who is held out; nil if nobody is.
func (f *filling) held() Held {
	if f.holdout == nil {
		return nil
	}
	return f.holdout.held
}

// fill writes the sealed file from the source, and returns the digests of the source's bytes: of all files
// together, and of each.
func fill(
	ctx context.Context, temp string, src *source, t *filling, b Backend, opt Options, report *Report,
) (whole string, contents []string, err error) {
	if t.Source.Format == policy.CSV || t.Source.Format == policy.JSONLines {
		whole, err = fillDecoded(ctx, temp, src, t, b, opt, report)
		return whole, []string{whole}, err
	}
	before, _, err := src.digest(ctx)
	if err != nil {
		return "", nil, err
	}
	if t.Source.Format == policy.XLSX {
		err = fillSheet(ctx, temp, src, t, b, opt, report)
	} else if report.Invalids, err = b.Import(ctx, temp, t.Table, src.paths, t.held()); err != nil {
		err = src.fault(err)
	}
	if err != nil {
		return "", nil, err
	}
	after, contents, err := src.digest(ctx)
	if err == nil && before != after {
		err = &SourceError{Path: t.Source.Path, Message: "the file changed while it was being sealed"}
	}
	return after, contents, err
}

// fillDecoded writes the sealed file from one text file.
func fillDecoded(
	ctx context.Context, temp string, src *source, t *filling, b Backend, opt Options, report *Report,
) (string, error) {
	hash := sha256.New()
	raw := &meter{in: io.TeeReader(src.files[0], hash), ctx: ctx}
	text, err := src.text(raw)
	if err != nil {
		return "", err
	}
	in, err := decoder(text, t.Table)
	if err != nil {
		return "", src.fault(err)
	}
	if err := write(ctx, temp, src, t, b, opt, in, func() int64 { return raw.bytes }); err != nil {
		return "", err
	}
	report.Ignored, report.Invalids = in.Ignored(), in.Invalids()
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// write writes the sealed file from the rows of in. The function read returns the number of bytes read so far.
func write(
	ctx context.Context, temp string, src *source, t *filling, b Backend, opt Options, in decoding,
	read func() int64,
) error {
	next := func(row []value.Value) error {
		get := in.Read
		if t.holdout != nil {
			get = func(row []value.Value) error { return t.holdout.read(in, row) }
		}
		if err := get(row); err != nil {
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
				opt.Progress(Progress{Rows: n, Bytes: read(), TotalBytes: src.size})
			}
		}
		return nil
	}
	if err := b.Write(ctx, temp, t.Table, next); err != nil {
		if errors.As(err, new(*csvtable.Error)) {
			return src.fault(err)
		}
		return fmt.Errorf("writing the sealed file: %w", err)
	}
	if opt.Progress != nil {
		opt.Progress(Progress{Rows: in.Row(), Bytes: read(), TotalBytes: src.size})
	}
	return nil
}

// fillSheet writes the sealed file from a sheet of a workbook.
func fillSheet(
	ctx context.Context, temp string, src *source, t *filling, b Backend, opt Options, report *Report,
) error {
	if opt.Sheet == nil {
		return src.fault(errors.New("workbooks cannot be read here"))
	}
	sheet := *t.Table
	sheet.Columns = t.SourceColumns()
	in, err := opt.Sheet(&meter{in: src.files[0], ctx: ctx}, &sheet)
	if err != nil {
		return src.fault(err)
	}
	if err := write(ctx, temp, src, t, b, opt, in, func() int64 { return src.size }); err != nil {
		return err
	}
	report.Ignored, report.Invalids = in.Ignored(), in.Invalids()
	for _, text := range in.Warnings() {
		report.warn(text)
	}
	return nil
}

// Sheet reads the rows of a sheet.
type Sheet interface {
	decoding
	Warnings() []string
}

// decoding reads the rows of a text source or a sheet.
type decoding interface {
	Read(row []value.Value) error
	Row() int64
	Ignored() []string
	Invalids() []csvtable.Invalid
}

func decoder(text io.Reader, t *policy.Table) (decoding, error) {
	if t.Source.Format == policy.JSONLines {
		return jsonlines.New(text, t.SourceColumns())
	}
	return csvtable.New(text, t.Source.Dialect, t.SourceColumns())
}

func tooManyRows() error {
	return errors.New("the source has more than 2^32 rows, the most that a table may have")
}

// checkFacts returns an error for a file that contradicts declarations of t on which an answer relies.
func checkFacts(t *policy.Table, f Facts) error {
	if f.Rows > MaxRows {
		return tooManyRows()
	}
	for i, c := range t.Columns {
		if i < len(f.Columns) && f.Columns[i].Nulls > 0 && !c.Nullable {
			return fmt.Errorf("column %q has %d NULLs, but is not declared nullable", c.Name, f.Columns[i].Nulls)
		}
	}
	if t.Units > 0 {
		return checkUnits(t, f)
	}
	return nil
}

// checkUnits returns an error unless a file has the declared number of units, and a value of each column that is not
// nullable for each of them. The schema digest has these declarations, so no question reads a version that was sealed under
// others.
//
// The number is the same in all neighbours (policy.Table.Units), so this outcome depends on no unit's rows. A row without
// a value would count in an average as the middle of the bounds, which is as private, but is no average.
func checkUnits(t *policy.Table, f Facts) error {
	if f.Units != t.Units {
		return fmt.Errorf("units: the policy declares %d units, and there are %d: correct the declaration, or the source", t.Units, f.Units)
	}
	for i, c := range t.Columns {
		if c.Nullable || i >= len(f.Columns) {
			continue
		}
		missing := f.Columns[i].Special
		if c.Values != nil {
			missing += f.Columns[i].Outside
		}
		if missing > 0 {
			return fmt.Errorf("column %q is not declared nullable, and has %d values that questions read as NULL: with units, declare "+
				"nullable: true", c.Name, missing)
		}
	}
	return nil
}
