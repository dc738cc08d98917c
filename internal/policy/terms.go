package policy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dither/internal/value"
	"dither/privacy"
)

// Terms is the part of a policy that determines the privacy promise and whom it protects. Only the owner changes
// it, and the ledger records each change. A policy with other Terms than the recorded ones is used only after
// Reread has determined how past losses count. Bounds, values, keys, default prices and descriptions are not part
// of Terms. They may change freely: they change the Digest, and so which questions are replays, but not what past
// answers promised.
type Terms struct {
	Population string             `json:"population"`
	Neighbours privacy.Neighbours `json:"neighbours"`
	Budget     privacy.Loss       `json:"budget"`
	Maximum    privacy.Loss       `json:"maximum_price"`
	// table → "row", "public", or for example "person_id integer≤12"
	Units map[string]string `json:"units"`
	// table → source, for example "csv:visits.csv" or `duckdb:h.duckdb#"visits"`
	Sources map[string]string `json:"sources"`
	// source, of this or any earlier policy → the table that has it, or had it last
	Held    map[string]string `json:"held,omitempty"`
	Removed []string          `json:"removed,omitempty"` // tables in Units that the policy no longer contains, sorted

	Parts    map[string]Parting      `json:"parts,omitempty"`    // table → its division into parts, if it has one
	Per      string                  `json:"per,omitempty"`      // the period of Grant; "" without grants
	Grant    privacy.Loss            `json:"grant"`              // amount for each period; zero if Per is ""
	Analysts map[string]privacy.Loss `json:"analysts,omitempty"` // analyst → limit
}

const publicUnit = "public"

// Terms returns the policy's terms, without tables of earlier policies.
func (p *Policy) Terms() Terms {
	t := Terms{
		Population: p.Population.Name, Neighbours: p.Population.Neighbours, Budget: p.Budget.Loss,
		Maximum: p.Price.Maximum,
		Units:   make(map[string]string, len(p.Tables)), Sources: make(map[string]string, len(p.Tables)),
		Held: make(map[string]string, len(p.Tables)),
	}
	t.Per, t.Grant, t.Analysts = p.Budget.Grant.Per, p.Budget.Grant.Loss, p.Analysts
	for _, table := range p.Tables {
		if parting, divided := table.parting(); divided {
			if t.Parts == nil {
				t.Parts = map[string]Parting{}
			}
			t.Parts[table.Name] = parting
		}
		t.Units[table.Name] = unitTerm(table)
		t.Sources[table.Name] = sourceTerm(table.Source)
		t.Held[sourceTerm(table.Source)] = table.Name
	}
	return t
}

// After returns the terms that the ledger records when a policy with terms t replaces a policy with the old terms.
// These are t, with the tables and the sources of the old terms that t lacks. Their charges stay. Their units stay too,
// so a table or a source that returns later is compared with its former unit.
func (t Terms) After(old Terms) Terms {
	units, sources, held, removed := maps.Clone(t.Units), maps.Clone(t.Sources), maps.Clone(old.Held),
		slices.Clone(t.Removed)
	if held == nil {
		held = map[string]string{}
	}
	maps.Copy(held, t.Held)
	for name, unit := range old.Units {
		if _, kept := t.Units[name]; !kept {
			units[name], sources[name] = unit, old.Sources[name]
			removed = append(removed, name)
		}
	}
	slices.Sort(removed)
	t.Units, t.Sources, t.Held, t.Removed = units, sources, held, removed
	return t
}

// has reports whether the policy contains the table. Units also has tables that the policy no longer contains.
func (t Terms) has(name string) bool {
	_, known := t.Units[name]
	return known && !slices.Contains(t.Removed, name)
}

func sourceTerm(s Source) string {
	text := string(s.Format) + ":" + s.Local
	if s.Live() {
		return text + "#" + strconv.Quote(s.Schema) + "." + strconv.Quote(s.Table)
	}
	if s.Table != "" {
		text += "#" + strconv.Quote(s.Table)
	}
	return text
}

func unitTerm(t *Table) string {
	switch {
	case t.Public:
		return publicUnit
	case t.Unit.IsRow():
		return rowUnit
	case t.Unit.Through != "":
		return throughTerm(t)
	}
	kind := "?"
	for i, c := range t.Columns {
		if c.Name != t.Unit.Column {
			continue
		}
		kind = c.Type.String() + c.tidyTerm()
		if d := t.Source.Dialect; tidied(c) && d.Spelling != nil && d.Spelling.Encoding == Windows1252 {
			kind += "~" + Windows1252 // which texts are equal in lower case depends on how bytes become characters
		}
		if t.Source.Placed() { // the position identifies the column in the file
			kind += fmt.Sprintf("@%d", i+1)
		}
		if c.Invalid == InvalidIsNull { // a row with an unreadable unit belongs to nobody
			kind += "?"
		}
	}
	return fmt.Sprintf("%s %s≤%d", t.Unit.Column, kind, t.Unit.RowsPerUnit)
}

// tidyTerm returns how sealing changes a column's texts, because that merges units: A7 and a7 are one person in lower
// case. It returns "" if sealing changes nothing.
func (c *Column) tidyTerm() (term string) {
	if c.Type != value.Text {
		return ""
	}
	if c.Trim {
		term = "~trim"
	}
	if c.Case != "" {
		term += "~" + c.Case
	}
	return term
}

// unit is a parsed unit of Terms.Units. It includes the column's type, because 07 and 7 are one person as integers
// and two as texts.
type unit struct {
	kind         string // rowUnit, publicUnit or columnUnit
	column, kept string // column is the column's name; kept is its name and type, which must not change
	of           value.Type
	through      bool // whether the unit column is in another table
	placed       bool // whether the column is identified by its position, because the source has no header
	rows         int64
}

const columnUnit = "column"

// parseUnit parses an entry of Terms.Units, which unitTerm writes, such as "person_id integer≤12".
func parseUnit(term string) (unit, error) {
	if term == rowUnit || term == publicUnit {
		return unit{kind: term}, nil
	}
	at := strings.LastIndex(term, "≤")
	if at > 0 && isThrough(term) {
		rows, err := strconv.ParseInt(term[at+len("≤"):], 10, 64)
		if err != nil || rows < 1 {
			return unit{}, fmt.Errorf("not the term of a unit: %q", term)
		}
		return unit{kind: columnUnit, through: true, column: term[:at], kept: term[:at], rows: rows}, nil
	}
	if at < 0 {
		return unit{}, fmt.Errorf("not the term of a unit: %q", term)
	}
	rows, err := strconv.ParseInt(term[at+len("≤"):], 10, 64)
	space := strings.LastIndexByte(term[:at], ' ')
	if err != nil || rows < 1 || space < 1 {
		return unit{}, fmt.Errorf("not the term of a unit: %q", term)
	}
	kind, _, placed := strings.Cut(strings.TrimSuffix(term[space+1:at], "?"), "@")
	kind, _, _ = strings.Cut(kind, "~")
	of, known := value.ParseType(kind)
	if !known {
		return unit{}, fmt.Errorf("not the term of a unit: %q", term)
	}
	return unit{kind: columnUnit, column: term[:space], kept: term[:at], of: of, placed: placed, rows: rows}, nil
}
