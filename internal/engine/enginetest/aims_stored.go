package enginetest

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
	return []aim{
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
