package enginetest

import "fmt"

// aimsAtStored returns aims (databases and questions that reach a bound) at the number of rows of a unit that are
// stored, and at everything that depends on this number.
func aimsAtStored() []aim {
	stored := []question{asking("stored", storedRows)}
	further := []string{
		ofLines,
		"rows_per_unit: 4, stored_rows_per_unit: 5, columns: {parent",
		ofFurther,
		"rows_per_unit: 2, stored_rows_per_unit: 4, columns: {up",
	}
	withoutGroup := []string{
		ofPersons, "rows_per_unit: 2, stored_rows_per_unit: 30",
		`values: [a, B, "it's", ""], nullable: true`, `values: [a, B, "it's", ""]`,
	}
	others := numberedRows("person=2 s=none", 25) + numberedRows("person=2 s=B", 2)
	byGroup := plainly("SELECT s, COUNT(*) FROM p GROUP BY s", "SELECT s, COUNT(i), SUM(i) FROM p GROUP BY s")
	return []aim{
		{
			at: "rows in the place of a unit's rows without a group", edit: withoutGroup, questions: byGroup,
			rows: map[string][2]string{
				"p": {numberedRows("person=1 s=none", 26) + numberedRows("person=1 s=a", 4) + "person=2 s=a", "person=2 s=a"},
			},
		},
		{
			at: "rows in the place of some of a unit's rows", edit: withoutGroup, questions: byGroup,
			rows: map[string][2]string{
				"p": {numberedRows("person=1 s=none", 12) + numberedRows("person=1 s=a", 8) + "person=2 s=a", "person=2 s=a"},
			},
		},
		{
			at: "rows in the place of each unit's rows without a group", edit: withoutGroup, questions: byGroup,
			rows: map[string][2]string{
				"p": {numberedRows("person=1 s=none", 12) + numberedRows("person=1 s=a", 14) + others, others},
			},
		},
		{
			at:     "the rows of a unit that sealing keeps",
			sealed: true,
			edit:   []string{ofPersons, "rows_per_unit: 2, stored_rows_per_unit: 3"},
			rows: map[string][2]string{
				"p": {"person=1 i=1; person=1 i=2; person=1 i=3; person=1 i=4; person=2", "person=2"},
			},
			questions: stored,
		},
		{
			at:     "the rows of a unit that sealing kept",
			sealed: true,
			older:  true,
			edit:   []string{ofPersons, "rows_per_unit: 2, stored_rows_per_unit: 3"},
			rows: map[string][2]string{
				"p": {"person=1 i=1; person=1 i=2; person=1 i=3; person=1 i=4; person=2", "person=2"},
			},
			questions: stored,
		},
		{
			at: "rows that refer to one row of a person", sealed: true, relation: true, edit: further,
			rows: map[string][2]string{
				"p": {"person=1 id=1; person=2 id=2", "person=2 id=2"},
				"l": {"parent=1 line=1; parent=1 line=2; parent=1 line=3; parent=1 line=4; parent=1 line=5; " +
					"parent=1 line=6", ""},
			},
			questions: []question{asking("stored", "SELECT COUNT(*) FROM l b"), asking("", "SELECT COUNT(*) FROM l b")},
		},
		{
			at: "rows that refer to several rows of a person", sealed: true, relation: true, edit: further,
			rows: map[string][2]string{
				"p": {"person=1 id=1; person=1 id=3; person=2 id=2", "person=2 id=2"},
				"l": {"parent=1 line=1; parent=1 line=2; parent=1 line=3; parent=3 line=4; parent=3 line=5; " +
					"parent=3 line=6", ""},
			},
			questions: []question{asking("stored", "SELECT COUNT(*) FROM l b")},
		},
		{
			at: "rows that refer to rows that refer to a person's", sealed: true, relation: true, edit: further,
			rows: map[string][2]string{
				"p": {"person=1 id=1; person=2 id=2", "person=2 id=2"},
				"l": {"parent=1 line=1; parent=1 line=2; parent=1 line=3; parent=1 line=4; parent=1 line=5; " +
					"parent=1 line=6", ""},
				"m": {"up=1; up=2; up=3; up=4; up=5; up=6", ""},
			},
			questions: []question{asking("stored", "SELECT COUNT(*) FROM m c")},
		},
		{
			at: "rows that refer to those that an older version kept of a person", sealed: true, relation: true,
			older: true,
			edit:  append([]string{ofPersons, "rows_per_unit: 3, stored_rows_per_unit: 5"}, further...),
			rows: map[string][2]string{
				"p": {
					"person=1 id=1; person=1 id=2; person=1 id=3; person=1 id=4; person=1 id=5; person=1 id=6; " +
						"person=2 id=9",
					"person=2 id=9",
				},
				"l": {"parent=1 line=1; parent=2 line=2; parent=3 line=3; parent=4 line=4; parent=5 line=5; " +
					"parent=6 line=6", ""},
			},
			questions: []question{asking("stored", "SELECT COUNT(*) FROM l b")},
		},
	}
}

// numberedRows returns n rows that differ in i.
func numberedRows(row string, n int) (out string) {
	for i := range n {
		out += fmt.Sprintf("%s i=%d; ", row, i+1)
	}
	return out
}
