package enginetest

import "dither/internal/plan"

// aimsAtSums returns aims (databases and questions that reach a bound) at the bounds on sums over one table.
func aimsAtSums() []aim {
	return []aim{
		{
			at:        "bounds per group of units that have one row each",
			rows:      map[string][2]string{"p": {"person=1 i=9; person=2 i=1", "person=2 i=1"}},
			questions: plainly("SELECT SUM(i, contribution_bounds_per_group => (0, 2)) FROM p"),
		},
		{
			at: "a unit of two rows, where no other has as many", sealed: true,
			rows:      map[string][2]string{"p": {"person=1 i=9 *2; person=2 i=1", "person=2 i=1"}},
			questions: append(plainly("SELECT SUM(i) FROM p"), asking("rows", "SELECT i FROM p")),
		},
		{
			at:   "a sum beside an average, at the ends of the range",
			rows: map[string][2]string{"p": {"person=1 i=9 *3; person=2 i=1", "person=2 i=1"}},
			questions: plainly(
				"SELECT SUM(i), AVG(i) FROM p", "SELECT SUM(i) FILTER (WHERE i > 1), AVG(i) FILTER (WHERE i > 1) FROM p",
			),
		},
		{
			at: "a sum beside an average, from one end of the range to the other", change: true,
			rows:      map[string][2]string{"p": {"person=1 i=9 *3; person=2 i=1", "person=1 i=-7 *3; person=2 i=1"}},
			questions: plainly("SELECT COUNT(i), SUM(i), AVG(i) FROM p"),
		},
		{
			at: "the answer of a strategy, from one end of the range to the other", change: true,
			rows:      map[string][2]string{"p": {"person=1 i=9 *3; person=2 i=1", "person=1 i=-7 *3; person=2 i=1"}},
			questions: []question{asking("strategies", "SELECT SUM(i) FROM p")},
		},
		{
			at:        "the number of values that there can be",
			rows:      map[string][2]string{"p": {"person=1 k=-3; person=1 k=0; person=1 k=5", ""}},
			questions: plainly("SELECT COUNT(DISTINCT k) FROM p"),
		},
		{
			at:   "the number of values that there can be, where a unit has others",
			edit: []string{ofPersons, "rows_per_unit: 5"},
			rows: map[string][2]string{
				"p": {
					"person=1 k=1 s=p; person=1 k=2 s=q; person=1 k=3 s=r; person=1 k=4 s=s; person=1 k=-3 s=t; " +
						"person=2 k=5",
					"person=2 k=5",
				},
			},
			questions: plainly("SELECT COUNT(DISTINCT k), COUNT(DISTINCT s) FROM p"),
		},
		{
			at:        "the largest distinct values, of which there are as many as rows",
			rows:      map[string][2]string{"p": {"person=1 i=9; person=1 i=8; person=1 i=7; person=2 i=1", "person=2 i=1"}},
			questions: plainly("SELECT SUM(DISTINCT i) FROM p", "SELECT SUM(DISTINCT -i) FROM p"),
		},
		{
			at: "the largest distinct values, where a unit changes its rows", change: true,
			rows: map[string][2]string{"p": {
				"person=1 i=9; person=1 i=8; person=1 i=7; person=2 i=1", "person=1 i=0; person=2 i=1",
			}},
			questions: plainly("SELECT SUM(DISTINCT i) FROM p", "SELECT SUM(DISTINCT -i) FROM p"),
		},
		{
			at: "one value in several groups, where a unit changes its rows", change: true,
			rows: map[string][2]string{"p": {
				"person=1 k=5 i=9; person=1 k=0 i=9; person=1 k=-3 i=9", "person=1 k=1 i=9; person=1 k=2 i=9; person=1 k=3 i=9",
			}},
			questions: plainly("SELECT k, SUM(DISTINCT i) FROM p GROUP BY k"),
		},
		{
			at: "distinct values of both signs in one group of several, where a unit changes its rows", change: true,
			rows: map[string][2]string{"p": {
				"person=1 k=5 i=9; person=1 k=5 i=8; person=1 k=5 i=7", "person=1 k=5 i=0; person=1 k=5 i=1; person=1 k=5 i=2",
			}},
			questions: plainly("SELECT k, SUM(DISTINCT i - 5) FROM p GROUP BY k"),
		},
		{
			at: "distinct values that may be as large with either sign, where a unit changes its rows", change: true,
			rows: map[string][2]string{"p": {
				"person=1 k=5 i=7; person=1 k=5 i=6; person=1 k=5 i=5", "person=1 k=5 i=-7; person=1 k=5 i=-6; person=1 k=5 i=-5",
			}},
			questions: plainly("SELECT k, SUM(DISTINCT LEAST(i, 7)) FROM p GROUP BY k"),
		},
		{
			at:        "one value in several groups",
			rows:      map[string][2]string{"p": {"person=1 k=5 i=9; person=1 k=0 i=9; person=1 k=-3 i=9", ""}},
			questions: plainly("SELECT k, SUM(DISTINCT i) FROM p GROUP BY k"),
		},
		{
			at:        "coarser groups, which hold as many of a unit's cells as there are",
			rows:      map[string][2]string{"p": {"person=1 k=5 i=9; person=1 k=0 i=9", ""}},
			questions: plainly("SELECT k, SUM(i) FROM p GROUP BY ROLLUP (k)"),
		},
		{
			at: "both ends of what a unit adds to a group",
			rows: map[string][2]string{
				"p": {"person=1 k=5 i=9 *2; person=1 k=0 i=9 *2; person=1 k=-3 i=9 *2; person=2 i=1", "person=2 i=1"},
			},
			questions: plainly("SELECT k, SUM(i) FROM p GROUP BY k", "SELECT k, SUM(-i) FROM p GROUP BY k",
				"SELECT k, COUNT(*) FROM p GROUP BY k", "SELECT k, COUNT(DISTINCT person) FROM p GROUP BY k"),
		},
		{
			at:   "a unit that counts once, however many of its rows meet a condition",
			rows: map[string][2]string{"p": {"person=1 k=5 i=9 *3; person=2 k=5 i=9", "person=2 k=5 i=9"}},
			questions: plainly( // the average is bounded by rows, so nothing else bounds the count of a unit
				"SELECT AVG(i), COUNT(DISTINCT person) FILTER (WHERE i > 1) FROM p",
				"SELECT k, AVG(i), COUNT(DISTINCT person) FILTER (WHERE i > 1) FROM p GROUP BY k"),
		},
		{
			at:        "a unit that counts once in a cell, however many rows it has there",
			edit:      []string{ofPersons, "rows_per_unit: 3, max_groups: 3, max_rows_per_group: 1"},
			rows:      map[string][2]string{"p": {"person=1 b=true *3; person=2 b=true", "person=2 b=true"}},
			questions: plainly("SELECT b, COUNT(DISTINCT person) FROM p GROUP BY b"),
		},
		{
			at: "what a unit adds to a group, where it leaves 0 out", change: true,
			rows: map[string][2]string{"p": {
				"person=1 i=9 y=1000 b=true; person=2 b=true i=1",
				"person=1 i=9 y=1000 b=false; person=2 b=true i=1",
			}},
			questions: plainly("SELECT SUM(i, contribution_bounds_per_group => (2, 4)) FROM p WHERE b",
				"SELECT SUM(y) FROM p WHERE b"),
		},
		{
			at: "sums that doubles round upward", edit: []string{amounts, "bounds: [0, 300000000000000063]"},
			rows: map[string][2]string{"p": {"person=1 k=5 j=300000000000000063; " +
				"person=1 k=0 j=300000000000000063", ""}},
			questions: plainly("SELECT k, SUM(j) FROM p GROUP BY k"),
		},
		{
			at:        "sums that doubles round upward, just above those that they hold",
			edit:      []string{amounts, "bounds: [0, 4503599627370493]"},
			rows:      map[string][2]string{"p": {"person=1 k=5 j=4503599627370493 *3", ""}},
			questions: limited(3, "SELECT k, SUM(j), COUNT(DISTINCT person) FROM p GROUP BY k"),
		},
		{
			at: "the order of another unit's rows", sealed: true, edit: []string{ofPersons, "rows_per_unit: 1"},
			rows: map[string][2]string{"p": {
				"person=2 k=5; person=2 k=0; person=1 k=-3",
				"person=2 k=0; person=2 k=5",
			}},
			questions: plainly("SELECT k, COUNT(*) FROM p GROUP BY k"),
		},
		{
			at: "another unit's rows beyond the cap", sealed: true,
			rows: map[string][2]string{"p": {"person=1 k=5 i=9 *5; person=2 k=0 i=9 *5", "person=2 k=0 i=9 *5"}},
			questions: limited(3, "SELECT k, COUNT(*) FROM p WHERE i > 0 GROUP BY k",
				"SELECT k, COUNT(*) FROM p GROUP BY k"),
		},
		{
			at: "one row more than may count", sealed: true,
			rows:      map[string][2]string{"p": {"person=1 k=5 i=9 *4; person=2 k=0 i=9", "person=2 k=0 i=9"}},
			questions: limited(3, "SELECT k, COUNT(*) FROM p WHERE i > 0 GROUP BY k"),
		},
		{
			at: "values that are above 0", change: true,
			rows: map[string][2]string{"p": {
				"person=1 y=1000 b=true *3; person=2 b=true",
				"person=1 y=1000 b=false *3; person=2 b=true",
			}},
			questions: limited(3, "SELECT SUM(y) FROM p WHERE b"),
		},
		{
			at: "bounds of rows that a search finds", change: true,
			rows: map[string][2]string{"p": {
				"person=1 n=1000 *5; person=2 n=1",
				"person=1 n=-1000 *5; person=2 n=1",
			}},
			questions: plainly("SELECT SUM(n, contribution_bounds_per_row => (-1000, 1000), bounds => auto) FROM p"),
		},
		{
			at: "groups that are not known", change: true,
			rows: map[string][2]string{"p": {
				"person=1 w=a; person=1 w=b; person=2 w=z",
				"person=1 w=c; person=1 w=d; person=2 w=z",
			}},
			questions: plainly("SELECT w, COUNT(*) FROM p GROUP BY w"),
		},
		{
			at: "groups that are not known, and one unit has all of",
			rows: map[string][2]string{"p": {
				"person=1 w=a; person=1 w=b; person=1 w=c; person=2 w=z",
				"person=2 w=z",
			}},
			questions: plainly("SELECT w, COUNT(*) FROM p GROUP BY w",
				"SELECT w, COUNT(DISTINCT person) FROM p GROUP BY w"),
		},
		{
			at:        "a column's bounds, which a coordinate has",
			rows:      map[string][2]string{"p": {"person=1 i=1000 x=1e9 *3; person=2", "person=2"}},
			questions: []question{coordinate("SELECT i FROM p"), coordinate("SELECT x FROM p")},
		},
		{
			at: "a column's bounds, both of which a coordinate has", change: true,
			rows: map[string][2]string{"p": {
				"person=1 i=1000 x=1e9 d=2030-01-01 *3; person=2",
				"person=1 i=-1000 x=-1e9 d=1970-01-01 *3; person=2",
			}},
			questions: []question{coordinate("SELECT i FROM p"), coordinate("SELECT x FROM p")},
		},
		{
			at: "products of two coordinates", change: true,
			rows: map[string][2]string{"p": {
				"person=1 i=9 x=17 *3; person=2",
				"person=1 i=9 x=-2.5 *3; person=2",
			}},
			questions: []question{pairOfCoordinates("SELECT i, x FROM p")},
		},
		{
			at: "one group of each unit",
			rows: map[string][2]string{"p": {
				"person=1 k=-3; person=1 k=0; person=2 k=5; person=3 k=5",
				"person=2 k=5; person=3 k=5",
			}},
			questions: []question{{Request: plan.Request{SQL: "SELECT k, COUNT(*) FROM p GROUP BY k", MaxGroups: 1}}},
		},
		{
			at:        "the groups in which a unit counts, beside its rows",
			rows:      map[string][2]string{"p": {"person=1 k=5; person=1 k=0; person=1 k=-3; person=2", "person=2"}},
			questions: plainly("SELECT k, COUNT(DISTINCT person), AVG(x) FROM p GROUP BY k"),
		},
		{
			at: "a value that several rows have", edit: []string{ofPersons, "rows_per_unit: 5"},
			rows:      map[string][2]string{"p": {"person=1 b=true *2; person=1 b=false *3", ""}},
			questions: plainly("SELECT COUNT(DISTINCT b) FROM p"),
		},
		{
			at: "few values in several groups",
			rows: map[string][2]string{"p": {
				"person=1 s=a b=true; person=1 s=a b=false; person=1 s=B b=true",
				"",
			}},
			questions: plainly("SELECT s, COUNT(DISTINCT b) FROM p GROUP BY s"),
		},
		{
			at:   "groups of which a coarser one holds all but one",
			edit: []string{ofPersons, "rows_per_unit: 3, max_groups: 3, max_rows_per_group: 1"},
			rows: map[string][2]string{"p": {
				"person=1 s=a j=9 i=9; person=1 s=a j=1 i=9; person=1 s=B j=9 i=9",
				"",
			}},
			questions: plainly("SELECT s, j > 5, SUM(i) FROM p GROUP BY ROLLUP (s, j > 5)"),
		},
		{
			at: "sums of both signs", change: true,
			rows: map[string][2]string{"p": {
				"person=1 k=5 i=-7 *2; person=1 k=0 i=-7 *2; person=2",
				"person=1 k=5 i=9 *2; person=1 k=0 i=9 *2; person=2",
			}},
			questions: plainly("SELECT SUM(i) FROM p", "SELECT k, SUM(i) FROM p GROUP BY k"),
		},
		{
			at:        "products of two coordinates, of which both are at their ends",
			rows:      map[string][2]string{"p": {"person=1 i=9 x=17 *3; person=2", "person=2"}},
			questions: []question{pairOfCoordinates("SELECT i, x FROM p")},
		},
		{
			at: "coordinates in groups", change: true,
			rows:      map[string][2]string{"p": {"person=1 k=5 x=17 *3; person=2", "person=1 k=0 x=17 *3; person=2"}},
			questions: []question{coordinate("SELECT x FROM p GROUP BY k")},
		},
		{
			at: "the first part of each unit", parts: true,
			rows: map[string][2]string{"p": {
				"person=1 k=5; person=2 k=0; person=3 k=-3 *2",
				"person=2 k=0; person=3 k=-3 *2",
			}},
			questions: []question{asking("parts", "SELECT COUNT(*) FROM p WHERE k IN (0, 5)")},
		},
		{
			at: "a person's one part, named by NOT", parts: true,
			rows:      map[string][2]string{"p": {"person=1 k=-3; person=2 k=0", "person=2 k=0"}},
			questions: []question{asking("parts", "SELECT COUNT(*) FROM p WHERE k = 5 OR NOT k = 0")},
		},
		{
			at: "a person's one part, named first or last", parts: true,
			rows: map[string][2]string{"p": {"person=1 k=5; person=2 k=0", "person=2 k=0"}},
			questions: []question{
				asking("parts", "SELECT COUNT(*) FROM p WHERE k = 5 OR k = 0"),
				asking("parts", "SELECT COUNT(*) FROM p WHERE k = 0 OR k = 5"),
			},
		},
		{
			at: "how many parts a person is in", parts: true,
			rows: map[string][2]string{"p": {
				"person=1 k=5; person=1 k=0; person=1 k=-3; person=2 k=0",
				"person=2 k=0",
			}},
			questions: []question{
				asking("parts", "SELECT COUNT(*) FROM p WHERE k = 5"),
				asking("parts", "SELECT COUNT(*) FROM p WHERE k IN (0, 5)"),
			},
		},
	}
}
