package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"dither/internal/exact"
	"dither/internal/value"
)

// digestFormat names the encoding of policies below. Any change to the encoding must change this name, and so every
// digest.
const digestFormat = "dither policy 2"

// The canonical encoding contains every part of a policy that affects the meaning or the price of an answer.
// Defaults are written out, and lists whose order has no meaning are sorted. The encoding omits descriptions,
// comments, and the folder that paths are relative to. Each path has one spelling.
type (
	canonicalPolicy struct {
		Format, Population, Neighbours, Epsilon, Rho, Delta, Conversion, Default, Minimum, Maximum string

		// Newer fields are omitted if they are unset, so that the digests of older policies stay the same.

		SelectionDelta string   `json:",omitempty"` // default δ of one answer with unknown keys
		Per            string   `json:",omitempty"`
		Grant          string   `json:",omitempty"`
		Analysts       []string `json:",omitempty"`
		Truncation     string   `json:",omitempty"` // the share of each price for an estimate of what the bounds cut
		Zone           string   `json:",omitempty"`
		ClockGrain     string   `json:",omitempty"` // the unit to which the current time is truncated

		Tables []canonicalTable // sorted by name
	}
	canonicalTable struct {
		Name                                                       string
		Public                                                     bool
		Source                                                     canonicalSource
		Unit                                                       string
		RowsPerUnit, MaxGroups, RowsPerGroup, PersonRows, Expected int64
		MinUnits, StoredRows, Units                                int64 `json:",omitempty"`

		Part *Parting `json:",omitempty"`

		Through                  string   `json:",omitempty"`
		References, RowsPerValue []string `json:",omitempty"` // sorted by column

		// sorted by name, except if the source has no header: then the order assigns the columns
		Columns []canonicalColumn
	}
	canonicalSource struct {
		Format, Path, Table, Delimiter, Quote, Null string

		Header, Gzip bool

		Schema string `json:",omitempty"` // for a table on a server

		Spelling *Spelling `json:",omitempty"`
	}
	canonicalColumn struct {
		Name, Type, Lower, Upper string
		Values                   []string // sorted; null if no values are declared
		From                     *Origin  `json:",omitempty"`
		Nullable                 bool
		Invalid                  string
		Trim                     bool   `json:",omitempty"`
		Case                     string `json:",omitempty"`
		Holdout                  string `json:",omitempty"`
		HoldoutPrice             string `json:",omitempty"`
	}
)

// Digest returns the SHA-256 of the policy's meaning, in hexadecimal. Policies with the same meaning have the same
// digest. It does not depend on descriptions, comments, quoting, the spelling of numbers, the order of keys,
// tables, columns and values, or on whether a default is written out. Any change of meaning changes it. The ledger
// records the digest with every charge.
func (p *Policy) Digest() string {
	if p.digest != "" {
		return p.digest
	}
	return p.digestNow()
}

// Fix computes the digest and keeps it. Call it once the policy does not change any more. With thousands of values,
// the digest takes milliseconds, and each question needs it several times. Filled copies the kept digest.
func (p *Policy) Fix() { p.digest = p.digestNow() }

func (p *Policy) digestNow() string {
	c := canonicalPolicy{
		Format: digestFormat, Population: p.Population.Name, Neighbours: p.Population.Neighbours.String(),
		Epsilon: p.Budget.Epsilon.String(), Delta: p.Budget.Delta.String(), Conversion: p.Budget.Conversion.String(),
		Default: p.Price.Default.String(),
		Minimum: p.Price.Minimum.String(), Maximum: p.Price.Maximum.String(),
	}
	if p.Budget.Epsilon.IsZero() { // if ε is declared, ρ follows from it
		c.Rho = p.Budget.Loss.String()
	}
	if !p.Price.Delta.IsZero() {
		c.SelectionDelta = p.Price.Delta.String()
	}
	c.Per = p.Budget.Grant.Per
	switch g := p.Budget.Grant; {
	case !g.Epsilon.IsZero():
		c.Grant = g.Epsilon.String()
	case !g.Loss.IsZero():
		c.Grant = g.Loss.String()
	}
	c.Analysts = limitsText(p.Analysts)
	if share := p.Price.Truncation; share != nil {
		c.Truncation = share.RatString()
	}
	if p.Clock.Zone != nil {
		c.Zone = p.Clock.ZoneName()
	}
	c.ClockGrain = p.Clock.Grain
	for _, t := range p.Tables {
		c.Tables = append(c.Tables, canonicalTableOf(t))
	}
	slices.SortFunc(c.Tables, func(a, b canonicalTable) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.Marshal(c)
	if err != nil {
		panic("policy: strings, integers and booleans always encode: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func canonicalTableOf(t *Table) canonicalTable {
	d := t.Source.Dialect
	c := canonicalTable{
		Name: t.Name, Public: t.Public,
		Source: canonicalSource{
			Format: string(t.Source.Format), Path: t.Source.Local, Table: t.Source.Table,
			Delimiter: string(d.Delimiter), Quote: string(d.Quote), Null: d.Null, Header: d.Header, Gzip: d.Gzip,
			Schema: t.Source.Schema, Spelling: d.Spelling,
		},
		Unit: t.Unit.Column, RowsPerUnit: t.Unit.RowsPerUnit, MaxGroups: t.Unit.MaxGroups,
		RowsPerGroup: t.Unit.RowsPerGroup,
		PersonRows:   t.Unit.PersonRows,
		Expected:     t.ExpectedRows,
		MinUnits:     t.MinUnits,
		Units:        t.Units,
		StoredRows:   t.storedTerm(),
		Through:      t.Unit.Through, References: canonicalReferences(t), RowsPerValue: canonicalRows(t),
	}
	if parting, divided := t.parting(); divided {
		c.Part = &parting
	}
	for _, col := range t.Columns {
		c.Columns = append(c.Columns, canonicalColumnOf(col))
	}
	if !t.Source.Placed() {
		slices.SortFunc(c.Columns, func(a, b canonicalColumn) int { return strings.Compare(a.Name, b.Name) })
	}
	return c
}

func canonicalColumnOf(col *Column) canonicalColumn {
	c := canonicalColumn{
		Name: col.Name, Type: col.Type.String(), Lower: ratText(col.Lower), Upper: ratText(col.Upper),
		Nullable: col.Nullable, Invalid: string(col.Invalid), Trim: col.Trim, Case: col.Case,
	}
	if col.Holdout != nil {
		c.Holdout = col.Holdout.RatString()
	}
	if !col.HoldoutPrice.IsZero() {
		c.HoldoutPrice = col.HoldoutPrice.String()
	}
	if o := col.ValuesFrom; o != nil {
		c.From = &Origin{Table: o.Table, Column: o.Column}
		return c // the values themselves are not encoded, because they may change
	}
	values := slices.Clone(col.Values)
	slices.SortFunc(values, value.Compare)
	for _, v := range values {
		c.Values = append(c.Values, v.String())
	}
	return c
}

func ratText(r *big.Rat) string {
	if r == nil {
		return ""
	}
	return exact.FormatRat(r)
}
