// Package policy reads and checks a policy, the data owner's declaration. It declares a population and its budget,
// the tables with their privacy units, and for each column a type and public bounds or values. Nothing in a policy
// is read from rows.
package policy

import (
	"math/big"
	"strings"
	"time"

	"dither/internal/value"
	"dither/privacy"
)

// FileName is the name of the policy file in a curator's home.
const FileName = "policy.yaml"

// MaxKeys is the largest number of known keys: declared values of a column, or integers or dates within its bounds.
const MaxKeys = 10_000

// Policy is one decoded and checked policy file.
type Policy struct {
	Population Population
	Budget     Budget
	Price      Price
	Limits     Limits
	// authorised analyst → the largest loss that the analyst may spend; nil if any analyst may ask
	Analysts map[string]privacy.Loss
	Delay    *Delay   // when answers are returned; nil means as soon as possible
	Tables   []*Table // in the file's order
	Clock    Clock    // how questions and sources understand time

	digest string                                              // kept by Fix; "" before
	public func(Origin) (values []value.Value, trouble string) // see WithPublic
}

// Population is the people (or rows) who share one budget.
type Population struct {
	Name       string
	Neighbours privacy.Neighbours
}

// Table is one table: private, with units, or public.
type Table struct {
	Name        string
	Description string
	Public      bool
	Source      Source
	Unit        Unit
	Part        *Part // how units are divided into parts, for parallel composition; nil if they are not
	// whether the table is read in place on a server, so that the rows of a unit that count depend on the columns
	// that a question reads; never set by a policy file
	Unranked     bool
	ExpectedRows int64 // the owner's public estimate of the number of rows; 0 if not declared
	StoredRows   int64 // the declared largest number of sealed rows of one unit; 0 if not declared (see Stored)
	// an unknown key with this many units or fewer is released with probability at most δ; 0 if not declared
	MinUnits     int64
	Columns      []*Column
	References   map[string]Reference // column → reference; nil if none is declared
	Totals       []Total              // declared numbers of rows
	Units        int64                // the declared number of units, a public constant; 0 if not declared. units.go has the proof
	RowsPerValue map[string]int64     // for a public table, column → the most rows with one value in a join
}

// Unit describes the privacy unit of a table: which unit each row belongs to, and how much a unit may contribute.
type Unit struct {
	Column      string // the column that identifies the unit; "" if each row is a unit or Through is set
	Through     string // the referring column through which a row belongs to a unit of another table; "" if none
	RowsPerUnit int64  // the most rows of one unit that count in an answer; 1 if each row is a unit
	// If an answer bounds the groups of a unit, a unit contributes to each group at most the amount of RowsPerGroup
	// rows.
	RowsPerGroup int64 // ≤ RowsPerUnit; 1 if each row is a unit
	// the most groups of one answer to which a unit contributes; ≤ RowsPerUnit; 1 if each row is a unit
	MaxGroups int64
	// if each row is a unit, the declared largest number of rows of one person; 0 if not declared
	PersonRows int64
}

// IsRow reports whether each row is a unit of its own.
func (u Unit) IsRow() bool { return u.Column == "" && u.Through == "" }

// Format is the format of a table's source.
type Format string

// The formats of files that sealing reads, and of server tables, which are read in place.
const (
	CSV       Format = "csv"
	JSONLines Format = "jsonl"
	XLSX      Format = "xlsx" // one sheet of an Excel workbook
	Parquet   Format = "parquet"
	DuckDB    Format = "duckdb"
	Postgres  Format = "postgres"
)

// Typed reports whether files of the format have typed values, which an engine reads. The values of the other
// formats are decoded as the column's declared type.
func (f Format) Typed() bool { return f == Parquet || f == DuckDB }

// Source is the file or the server table from which a table is sealed.
type Source struct {
	Format  Format
	Path    string // as written in the policy; for a server, a description for messages
	File    string // Path, resolved against the policy's folder
	Local   string // one spelling for each file: Path, cleaned, and relative to the policy's folder if that is possible
	Table   string // the table in a .duckdb file or on a server; the sheet of a workbook, or "" for its only visible one
	Dialect Dialect

	// The following fields describe a server table. Service or URLEnv names the server. A policy holds no password.
	// File is empty, and Local is "service=…" or "url_env=…".
	Service string // name of a service in pg_service.conf
	URLEnv  string // name of the environment variable that holds the server's URL
	Schema  string // the schema of Table
}

// Live reports whether questions read the source in place. Sealing then makes no copy.
func (s Source) Live() bool { return s.Format == Postgres }

// IsPattern reports whether the path may name several Parquet files, because it contains * or ?.
func (s Source) IsPattern() bool { return s.Format == Parquet && strings.ContainsAny(s.Path, "*?") }

// Placed reports whether a column is identified by its place, because the source has no header.
func (s Source) Placed() bool { return (s.Format == CSV || s.Format == XLSX) && !s.Dialect.Header }

// Dialect is the syntax of a CSV file. Of a workbook, it is whether there is a header, and the spelling of texts. Only
// the policy declares it: dither does not guess it from the file.
type Dialect struct {
	Delimiter rune   // default ','
	Quote     rune   // default '"'; doubled inside a quoted field
	Header    bool   // default true: the first record names the columns
	Null      string // an unquoted field with this text is NULL; default: the empty field
	Gzip      bool   // whether the file is compressed, also for JSON lines; default: whether its name ends in .gz

	Spelling *Spelling `json:",omitempty"` // nil if the policy declares nothing beyond the fields above
}

// Column is a declared column. In questions, a column's name stands for its cleaned value.
type Column struct {
	Name        string
	Description string
	Type        value.Type
	// for numbers, dates (as a day number) and times (as microseconds); nil if not declared; both bounds are declared
	// or neither
	Lower      *big.Rat
	Upper      *big.Rat      // ≥ Lower
	Values     []value.Value // declared public values, distinct, in the policy's order; nil if not declared
	ValuesFrom *Origin       // set if a column of a public table provides the values
	// Holdout, if not nil, is the share of units that a boolean column holds out. Sealing sets its values, which no
	// source has
	Holdout *big.Rat
	// HoldoutPrice is the default price of a test of a synthetic table on the held-out units, and the largest; zero if the
	// file has none
	HoldoutPrice privacy.Loss
	Nullable     bool    // whether NULL may occur; NULL is then a group of its own
	Invalid      Invalid // the treatment at sealing of a value that is not of the type
	Trim         bool    // whether sealing removes blanks around a text file's fields
	Case         string  // Lower or Upper if sealing changes the case of texts, else ""
	// Zone is the zone of a timestamp column, in whose time moments with an offset from UTC are read; nil means UTC
	Zone *time.Location
}

// Invalid is the treatment of a source value that cannot be read as the column's type.
type Invalid string

// The two treatments of an unreadable value.
const (
	InvalidRefused Invalid = "refuse" // sealing stops, and names the row to the owner (default)
	// the value becomes NULL, and the owner sees the number of such values; requires Nullable
	InvalidIsNull Invalid = "null"
)

// Table returns the table with the given name, or nil.
func (p *Policy) Table(name string) *Table {
	for _, t := range p.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Column returns the column with the given name, or nil.
func (t *Table) Column(name string) *Column {
	for _, c := range t.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}
