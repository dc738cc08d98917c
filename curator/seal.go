package curator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dither/internal/draft"
	"dither/internal/ledger"
	"dither/internal/policy"
	"dither/internal/release"
	"dither/internal/seal"
	"dither/internal/sealing"
)

// Only an owner may seal: these methods belong to [Owner], and a server must not offer them to analysts.

// SealReport describes a sealing, with exact counts. It is for the owner only, and is not private.
type SealReport struct {
	Table     string
	Version   int
	Unchanged bool // the source had not changed, so no new version was made
	Text      string
}

// SealOptions are the options of [Owner.Seal].
type SealOptions struct {
	Shared bool // seal even if another home's budget covers the same source
	// seal even if unfinished trainings depend on the newest version. The sealing ends them, and their prices stay
	// spent
	Abandon bool
	// Copy names a schema on the server of a live table. Sealing copies the rows into it, and questions read the
	// copy. A copy does not change with the table, and is faster if persons are the units.
	Copy     string
	Progress func(rows, bytes, totalBytes int64)
	// StateHome replaces the user's $XDG_STATE_HOME, where dither records which home sealed which source. It is for
	// temporary homes, which should leave no such record.
	StateHome string
}

// Seal makes a new version of a table from its source. It decodes the source strictly by the policy's declaration,
// checks it, and publishes it under the next number. Questions read the newest version, never the source. An *Error
// quotes no cell.
func (c *Owner) Seal(ctx context.Context, table string, options SealOptions) (*SealReport, error) {
	t := c.policy.Table(table)
	if t == nil {
		return nil, &Error{Code: CodeUsage, Message: "there is no table " + table + " in the policy"}
	}
	begun := time.Now() // before waiting for another sealing, whose running time depends on rows
	done, err := c.kernel.Sealing(ctx, t.Name)
	if err != nil {
		return nil, c.public(err)
	}
	defer done()
	before, err := c.ledger.State()
	if err != nil {
		return nil, toOwner(err)
	}
	if err := c.inForce(before); err != nil {
		return nil, toOwner(err)
	}
	if options.Copy != "" && !t.Source.Live() {
		return nil, &Error{
			Code:    CodeUsage,
			Message: "table " + table + " is sealed from a file, which is copied anyway",
			Hint:    "leave --copy out",
		}
	}
	tmp := filepath.Join(c.home, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return nil, homeError(err)
	}
	streamed, err := c.kernel.ContinualOn(t.Name)
	if err != nil {
		return nil, toOwner(err)
	}
	o := seal.Options{
		Always:   streamed,
		LedgerID: before.ID,
		Shared:   options.Shared,
		Copy:     options.Copy,
		Values:   taken(c.policy, table),
		After:    before.Sealed[table].Version,
		Recorded: before.Sealed[table].SHA256,
	}
	if options.Progress != nil {
		o.Progress = func(p seal.Progress) { options.Progress(p.Rows, p.Bytes, p.TotalBytes) }
	}
	if options.StateHome != "" {
		o.Getenv = func(name string) string {
			if name == "XDG_STATE_HOME" {
				return options.StateHome
			}
			return os.Getenv(name)
		}
	}
	var trainings []release.UnfinishedTraining
	o.Sheet = sealing.Sheet
	o.Guard = c.sealing(table, options.Abandon, &trainings)
	var version seal.Version
	var report seal.Report
	if t.Source.Live() {
		version, report, err = seal.Live(ctx, c.home, t, sealing.Server(), o)
	} else {
		o.Now = func() time.Time { return begun }
		version, report, err = seal.Seal(ctx, c.home, t, sealing.Files(tmp), o)
	}
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		c.tellOwner(err)
		return nil, &Error{
			Code:    CodeCancelled,
			Message: "sealing table " + t.Name + " was cancelled",
			Hint:    "seal it again",
			Table:   t.Name,
			Retry:   true,
		}
	}
	var lost *Error
	if errors.As(err, &lost) {
		return nil, lost
	}
	if err != nil {
		e := &Error{Code: CodeSource, Message: err.Error(), Hint: draft.Doubt(t), cause: err}
		if text := draft.PatternHint(c.policy, t.Name); text != "" {
			e.Hint = text
		}
		if errors.As(err, new(*seal.ClaimedError)) {
			e.Hint = "run `dither seal --shared " + t.Name + "` to share the source on purpose: the losses of both " +
				"homes then add up, and nothing bounds the sum"
		}
		return nil, e
	}
	if text := draft.Doubt(t); text != "" {
		report.Warnings = append(report.Warnings, text)
	}
	report.Warnings = append(report.Warnings, barren(t, report.Facts)...)
	doubts, err := c.sameContent(before.Terms, t, version)
	if err != nil {
		return nil, err
	}
	report.Warnings = append(report.Warnings, doubts...)
	if err := c.record(version); err != nil {
		return nil, toOwner(err)
	}
	if err := c.kernel.Abandon(trainings); err != nil {
		return nil, toOwner(err)
	}
	if len(trainings) > 0 {
		report.Warnings = append(
			report.Warnings,
			"abandoned, because the version that they use is no longer the newest: training "+strings.Join(
				namesOf(trainings),
				", ",
			),
		)
	}
	if t.Source.Live() {
		if err := seal.DropCopies(ctx, c.home, t, sealing.Server(), version); err != nil {
			report.Warnings = append(report.Warnings, "a copy of an earlier version could not be removed from the "+
				"server: "+err.Error())
		}
	}
	return &SealReport{Table: table, Version: version.Number, Unchanged: report.Unchanged, Text: report.String()}, nil
}

// barren warns about columns in which every value is NULL to questions. Such a column is probably declared wrongly.
func barren(t *policy.Table, f seal.Facts) (warnings []string) {
	for i, c := range f.Columns {
		if i >= len(t.Columns) || f.Rows == 0 {
			break
		}
		lost := c.Nulls + c.Special
		if t.Columns[i].Values != nil { // outside bounds a value is clamped; outside declared values it is NULL
			lost += c.Outside
		}
		if lost >= f.Rows {
			warnings = append(
				warnings,
				fmt.Sprintf(
					"column %q: questions see NULL in every row: check its type, values and null text",
					c.Name,
				),
			)
		}
	}
	return warnings
}

// sameContent refuses a version with the rows of another table whose unit differs. That is so if both were sealed
// from the same bytes, or from the same server table or a partition of it. One person's loss through both tables
// would not follow from the units. For a view that may show the same rows, it only warns, because the view may show
// a list that many tables share. It does not check .duckdb files and named sheets of workbooks, since one file holds many
// tables.
func (c *Session) sameContent(terms ledger.Terms, t *policy.Table, v seal.Version) (warnings []string, _ error) {
	if t.Source.Format == policy.DuckDB {
		return nil, nil
	}
	for name, unit := range terms.Units {
		if name == t.Name || unit == terms.Units[t.Name] || otherSheets(terms.Sources[name], terms.Sources[t.Name]) {
			continue
		}
		like, err := seal.Compare(c.home, name, v)
		if err != nil {
			return nil, homeError(err)
		}
		switch like {
		case seal.Same:
			return nil, &Error{
				Code:    CodeSource,
				Message: fmt.Sprintf("table %s has the same source as table %s, which has a different unit", t.Name, name),
				Hint:    "declare only one table for the source, and change its unit if necessary",
			}
		case seal.MayMeet:
			warnings = append(
				warnings,
				fmt.Sprintf(
					"it may show rows of table %s, which has a different unit: if it does, a person's loss exceeds the budget",
					name,
				),
			)
		case seal.Apart:
		}
	}
	return warnings, nil
}

// otherSheets reports whether two sources, in the words of policy.Terms, are workbooks and name different sheets. Two
// sheets of one workbook have the same bytes and different rows.
func otherSheets(a, b string) bool {
	sheet, other := sheetOf(a), sheetOf(b)
	return sheet != "" && other != "" && sheet != other
}

// sheetOf returns the sheet that a source names, in quotes, or "" if it names none or is no workbook.
func sheetOf(source string) string {
	at := strings.LastIndex(source, `#"`) // a quote inside the name is written with a backslash
	if at < 0 || !strings.HasPrefix(source, string(policy.XLSX)+":") || !strings.HasSuffix(source, `"`) {
		return ""
	}
	return source[at:]
}

// record writes a published version into the ledger, unless another process or an earlier run has recorded it.
func (c *Session) record(v seal.Version) error {
	s, err := c.ledger.State()
	if err != nil || s.Sealed[v.Table].Version >= v.Number {
		return err
	}
	err = c.ledger.Sealed(v.Table, v.Number, v.SHA256)
	if errors.Is(err, ledger.ErrInvalid) { // perhaps another process has recorded it since
		if s, again := c.ledger.State(); again == nil && s.Sealed[v.Table].Version >= v.Number {
			return nil
		}
	}
	return err
}

// RemoveVersions deletes the files of old sealed versions, and returns their numbers. Without numbers it deletes
// all versions but the newest. Releases about the versions stay, and so do the versions' numbers and digests. A
// later policy that depends on how many rows a person had in them can no longer be checked.
func (c *Owner) RemoveVersions(ctx context.Context, table string, numbers ...int) (removed []int, err error) {
	if c.policy.Table(table) == nil {
		return nil, &Error{Code: CodeUsage, Message: "there is no table " + table + " in the policy"}
	}
	s, err := c.ledger.State()
	if err != nil {
		return nil, toOwner(err)
	}
	newest := s.Sealed[table].Version
	if len(numbers) == 0 {
		if numbers, err = seal.Numbers(c.home, table); err != nil {
			return nil, homeError(err)
		}
		numbers = slices.DeleteFunc(numbers, func(n int) bool { return n >= newest })
	}
	for _, n := range numbers {
		if n >= newest {
			return removed, &Error{
				Code: CodeUsage,
				Message: fmt.Sprintf(
					"table %s: version %d is not an old one: the newest is %d, which questions read",
					table,
					n,
					newest,
				),
				Table: table,
			}
		}
		if err := seal.Remove(ctx, c.home, table, n); err != nil {
			return removed, homeError(err)
		}
		removed = append(removed, n)
	}
	return removed, nil
}

// taken returns the columns of a public table from which other tables' columns take their values.
func taken(p *policy.Policy, table string) (out []string) {
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if c.ValuesFrom != nil && c.ValuesFrom.Table == table {
				out = append(out, c.ValuesFrom.Column)
			}
		}
	}
	return out
}
