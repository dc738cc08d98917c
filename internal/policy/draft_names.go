package policy

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/value"
)

// What a draft proposes is judged by names and types alone. Anything more, such as whether a column's values are
// distinct, would be a fact read off the rows.

// people are words for whom a row may belong to.
var people = []string{
	"person", "patient", "user", "customer", "client", "member", "subject", "participant", "respondent", "student", "pupil",
	"employee", "citizen", "household", "account", "subscriber", "passenger", "worker", "visitor", "individual", "resident",
	"tenant", "borrower", "donor",
}

// identifierEndings are the endings of names of columns that identify something.
var identifierEndings = []string{"_id", "id", "_no", "_nr", "number", "_key", "_uuid", "uuid", "_code"}

// stem returns a column's name without an ending that says that it identifies something, and whether it has one.
func stem(name string) (string, bool) {
	name = strings.ToLower(name)
	for _, ending := range identifierEndings {
		if rest, cut := strings.CutSuffix(name, ending); cut {
			return strings.TrimRight(rest, "_- "), true
		}
	}
	return name, false
}

// Candidates returns the names of columns that may identify a person, the likely ones first.
func (s Sketch) Candidates() []string {
	var likely, possible []string
	for _, c := range s.Columns {
		name, ends := stem(c.Name)
		switch of := singular(name); {
		case !identifies(c.Type) || c.Type == value.Date:
		case slices.Contains(people, of), of == "" && slices.Contains(people, singular(s.Table)):
			likely = append(likely, c.Name)
		case ends:
			possible = append(possible, c.Name)
		}
	}
	all := append(likely, possible...)
	return all[:min(len(all), maxProposed)]
}

// proposeUnit writes a comment with the candidates for the unit.
func (s Sketch) proposeUnit(b *strings.Builder) {
	var names []string
	for _, name := range s.Candidates() {
		names = append(names, scalar(name))
	}
	if len(names) > 0 {
		fmt.Fprintf(b, "    # ? columns that may identify a person, by their names: %s\n", strings.Join(names, ", "))
	}
}

// maxProposed is the largest number of columns that one proposal names.
const maxProposed = 5

// proposeReferences writes, for each column that may name a row of another table, a line that the owner can use.
func (s Sketch) proposeReferences(b *strings.Builder, all []Sketch) {
	written := 0
	for _, c := range s.Columns {
		of, ends := stem(c.Name)
		if !ends || of == "" || c.Name == s.Unit || !identifies(c.Type) || written == maxProposed {
			continue
		}
		for _, other := range all {
			if other.Table == s.Table || singular(other.Table) != singular(of) {
				continue
			}
			for _, d := range other.Columns {
				left, also := stem(d.Name)
				if d.Type != c.Type || !also || left != "" && singular(left) != singular(of) {
					continue
				}
				fmt.Fprintf(b, "    # references: {%s: %s}   # ? if each %s is that of one row of %s\n",
					scalar(c.Name), scalar(other.Table+"."+d.Name), scalar(c.Name), scalar(other.Table))
				if written++; s.Unit == "" {
					fmt.Fprintf(b, "    # through: %s   # ? in place of unit, if a row belongs to the person of that row; then also "+
						"rows_per_unit\n", scalar(c.Name))
				}
				break
			}
		}
	}
}

// singular returns an English word without the ending of its plural, in lower case.
func singular(word string) string {
	word = strings.ToLower(word)
	switch {
	case word == "people":
		return "person"
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && len(word) > 3:
		return word[:len(word)-1]
	}
	return word
}
