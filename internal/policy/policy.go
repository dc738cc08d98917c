// Package policy is the data owner's declaration: a population and its budget, the tables with their privacy units, and
// for each column a type and public bounds or values. Nothing in a policy is read from rows.
package policy

import (
	"math/big"
	"strings"

	"dither/internal/value"
	"dither/privacy"
)

// FileName is the policy's name in a curator's home.
const FileName = "policy.yaml"

// MaxKeys is the largest number of values that a column may have and still be a set of known keys.
const MaxKeys = 10_000

// Policy is one decoded and checked policy file.
type Policy struct {
	Population Population
	Budget     Budget
	Price      Price
	Limits     Limits
	// who may ask, and how much of the budget each may spend; nil if anybody may
	Analysts map[string]privacy.Loss
	Delay    *Delay   // when answers leave; nil if at once
	Tables   []*Table // in the file's order

	digest string // set by Fix
}

// Population is the set of people (or rows) that the budget belongs to.
type Population struct {
	Name       string
	Neighbours privacy.Neighbours
}

// Table is one table: personal (with a unit) or public.
type Table struct {
	Name        string
	Description string
	Public      bool
	Source      Source
	Unit        Unit
	Part        *Part // what divides its units; nil if nothing
	// set for a table that is read in place: which rows of a unit count depends on what a question reads; no policy
	// declares it
	Unranked     bool
	ExpectedRows int64 // the owner's public guess of the size, 0 if not declared
	StoredRows   int64 // the declared bound on sealed rows of one unit; 0 if not declared (see Stored)
	// an unknown group of this many units or fewer is released with probability at most δ; 0 if not declared
	MinUnits     int64
	Columns      []*Column
	References   map[string]Reference // by column; nil if none is declared
	RowsPerValue map[string]int64     // for a public table, by column: the most rows of one value in a join
}

// Unit says whose rows the table holds.
type Unit struct {
	Column      string // the column that identifies the unit; "" if each row is a unit, or if Through is set
	Through     string // the reference through which a row belongs to a unit of another table; else ""
	RowsPerUnit int64  // the most rows of one unit that count in an answer; 1 for a row unit
	// RowsPerGroup bounds what one unit adds to one group, when an answer is bounded by groups: the amount of this many
	// rows.
	RowsPerGroup int64 // ≤ RowsPerUnit; 1 for a row unit
	// the most groups of one answer that may hold rows of one unit; ≤ RowsPerUnit; 1 for a row unit
	MaxGroups int64
	// if a person has many rows and each row is a unit: the declared rows per person; else 0
	PersonRows int64
}

// IsRow reports that each row is a unit of its own.
func (u Unit) IsRow() bool { return u.Column == "" && u.Through == "" }

// Format is a source file's format.
type Format string

// The formats that sealing reads, and the server whose tables are read in place.
const (
	CSV       Format = "csv"
	JSONLines Format = "jsonl"
	Parquet   Format = "parquet"
	DuckDB    Format = "duckdb"
	Postgres  Format = "postgres"
)

// Typed reports a format with typed values, which an engine reads. The other formats are texts, which are decoded
// against the declaration.
func (f Format) Typed() bool { return f == Parquet || f == DuckDB }

// Source is where a table's rows are sealed from.
type Source struct {
	Format  Format
	Path    string // as written in the policy
	File    string // Path, resolved against the policy's folder
	Local   string // Path, cleaned, and relative to the policy's folder if that is known: one spelling for each file
	Table   string // the table inside a .duckdb file, or on a server
	Dialect Dialect

	// The following fields describe a server, which one of the first two names, without a password. Path and File are
	// empty, and Local is "service=…" or "url_env=…".
	Service string // in pg_service.conf
	URLEnv  string // the environment variable that holds its URL
	Schema  string // of Table
}

// Live reports a source that questions read in place: sealing makes no file of it.
func (s Source) Live() bool { return s.Format == Postgres }

// IsPattern reports that the path names several Parquet files, by * and ?.
func (s Source) IsPattern() bool { return s.Format == Parquet && strings.ContainsAny(s.Path, "*?") }

// Dialect is how a CSV file is written. Nothing of it is guessed.
type Dialect struct {
	Delimiter rune   // default ','
	Quote     rune   // default '"'; doubled inside a quoted field
	Header    bool   // default true: the first record names the columns
	Null      string // an unquoted field with this text is NULL; default: the empty field
	Gzip      bool   // of JSON lines too; default: the file's name ends in .gz
}

// Column is one declared column. In questions a column stands for its cleaned value.
type Column struct {
	Name        string
	Description string
	Type        value.Type
	Lower       *big.Rat      // Integer, Real, Date (day number); nil if not declared; both or neither
	Upper       *big.Rat      // ≥ Lower
	Values      []value.Value // the declared public values, distinct, in the owner's order; nil if not declared
	ValuesFrom  *Origin       // set if the values are those of a public table's column
	Nullable    bool          // NULL may occur, and is a group of its own
	Invalid     Invalid       // what sealing does with a value that it cannot read
}

// Invalid is the treatment of a source value that cannot be read as the column's type.
type Invalid string

// The two treatments of an unreadable value.
const (
	InvalidRefused Invalid = "refuse" // sealing stops and names the row, to the owner (the default)
	InvalidIsNull  Invalid = "null"   // it becomes NULL, and the owner gets a count; needs Nullable
)

// Table returns the table of that name, or nil.
func (p *Policy) Table(name string) *Table {
	for _, t := range p.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Column returns the column of that name, or nil.
func (t *Table) Column(name string) *Column {
	for _, c := range t.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}
