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

// Terms is the part of a policy that fixes the promise, and to whom it is made. Only an act of the owner changes it,
// and the ledger records it. A policy with other Terms than the recorded ones is not used before Reread has computed
// the effect on past losses. Bounds, values, keys, default prices and descriptions may change freely: they change the
// Digest, and so which questions are replays, but not what past answers promised.
type Terms struct {
	Population string             `json:"population"`
	Neighbours privacy.Neighbours `json:"neighbours"`
	Budget     privacy.Loss       `json:"budget"`
	Maximum    privacy.Loss       `json:"maximum_price"`
	// by table: "row", "public", or for example "person_id integer≤12"
	Units   map[string]string `json:"units"`
	Sources map[string]string `json:"sources"` // by table: "csv:visits.csv", `duckdb:h.duckdb#"visits"`
	// by source of any adopted policy: the table that has it now, or had it last
	Held    map[string]string `json:"held,omitempty"`
	Removed []string          `json:"removed,omitempty"` // tables of Units that the policy no longer has, sorted

	Parts    map[string]Parting      `json:"parts,omitempty"`    // by table, if it is divided
	Per      string                  `json:"per,omitempty"`      // the period of Grant
	Grant    privacy.Loss            `json:"grant"`              // of each period; none if Per is ""
	Analysts map[string]privacy.Loss `json:"analysts,omitempty"` // limits by analyst
}

const publicUnit = "public"

// Terms returns the policy's terms, with nothing removed.
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

// After is what the ledger records when a policy with terms t replaces old: t, the tables that old had and t lacks, and
// the sources that only old knows. Their charges stay, and so do their units: a table or a source that returns later is
// compared with what it was.
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

// has reports a table of the policy, as opposed to one that is only remembered.
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
		kind = c.Type.String()
		if t.Source.Format == CSV && !t.Source.Dialect.Header { // the position identifies the column in the file
			kind += fmt.Sprintf("@%d", i+1)
		}
		if c.Invalid == InvalidIsNull { // an unreadable unit is nobody's
			kind += "?"
		}
	}
	return fmt.Sprintf("%s %s≤%d", t.Unit.Column, kind, t.Unit.RowsPerUnit)
}

// unit is a parsed unit term. The column's type matters: 07 and 7 are one person as integers, and two as texts.
type unit struct {
	kind         string // rowUnit, publicUnit or columnUnit
	column, kept string // the column's name, and its name and type
	of           value.Type
	through      bool // the unit is another table's
	placed       bool // the column is named by its place: the source has no header
	rows         int64
}

const columnUnit = "column"

// parseUnit parses the output of unitTerm.
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
	of, known := value.ParseType(kind)
	if !known {
		return unit{}, fmt.Errorf("not the term of a unit: %q", term)
	}
	return unit{kind: columnUnit, column: term[:space], kept: term[:at], of: of, placed: placed, rows: rows}, nil
}
