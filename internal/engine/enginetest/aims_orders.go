package enginetest

import (
	"math/big"

	"dither/internal/plan"
)

// aimsAtOrders returns aims (databases and questions that reach a bound) at the bounds on scores and on ordered rows.
func aimsAtOrders() []aim {
	return []aim{
		{
			at: "scores of both signs", change: true,
			rows:      map[string][2]string{"p": {"person=1 i=-7; person=2", "person=1 i=9; person=2"}},
			questions: []question{asking("scores", "SELECT SUM(i) FROM p")},
		},
		{
			at: "scores that are bounded by rows", edit: []string{ofPersons, "rows_per_unit: 3"},
			rows:      map[string][2]string{"p": {"person=1 i=9 *4; person=2", "person=2"}},
			questions: []question{asking("scores", "SELECT SUM(i) FROM p")},
		},
		{
			at:        "the groups in which a unit's rows are in order",
			rows:      map[string][2]string{"p": {"person=1 s=a; person=1 s=B; person=1 s=; person=2", "person=2"}},
			questions: plainly("SELECT s, MEDIAN(i) FROM p GROUP BY s"),
		},
		{
			at:        "scores that move both ways",
			rows:      map[string][2]string{"p": {"person=1 k=5 i=9; person=1 k=0 i=-7; person=2", "person=2"}},
			questions: []question{asking("scores", "SELECT k, SUM(i) FROM p GROUP BY k")},
		},
		{
			at:        "scores that are bounded by groups",
			edit:      []string{ofPersons, "rows_per_unit: 3, max_groups: 2, max_rows_per_group: 2"},
			rows:      map[string][2]string{"p": {"person=1 i=9 *3; person=2", "person=2"}},
			questions: []question{asking("scores", "SELECT SUM(i) FROM p")},
		},
		{
			at:   "rows in order, of which one unit has all that count",
			rows: map[string][2]string{"p": {"person=1 i=9 *4; person=2", "person=2"}},
			questions: []question{
				asking("values", "SELECT i FROM p"),
				asking("", "SELECT PERCENTILE_DISC(0.9999) WITHIN GROUP (ORDER BY i) FROM p"),
			},
		},
		{
			at: "rows in order, in groups that change", change: true,
			rows: map[string][2]string{"p": {
				"person=1 s=a i=9 *2; person=1 s=B i=9 *2; person=2 s=a",
				"person=1 s=it's i=9 *2; person=1 s= i=9 *2; person=2 s=a",
			}},
			questions: plainly("SELECT s, PERCENTILE_DISC(0.9999) WITHIN GROUP (ORDER BY i) FROM p GROUP BY s",
				"SELECT MODE() WITHIN GROUP (ORDER BY s) FROM p"),
		},
		{
			at: "the first row in a group of each unit",
			rows: map[string][2]string{"p": {
				"person=1 i=9; person=2 i=1; person=3 i=2",
				"person=2 i=1; person=3 i=2",
			}},
			questions: plainly("SELECT s, MEDIAN(i) FROM p GROUP BY s"),
		},
		{
			at:     "distinct values, in groups that change",
			change: true,
			rows: map[string][2]string{
				"p": {
					"person=1 s=a k=5; person=1 s=a k=0; person=1 s=a k=-3; person=2 s=B k=5",
					"person=1 s=it's k=5; person=1 s=it's k=0; person=1 s=it's k=-3; person=2 s=B k=5",
				},
			},
			questions: plainly("SELECT s, COUNT(DISTINCT k) FROM p GROUP BY s"),
		},
		{
			at:   "how many rows a unit has",
			rows: map[string][2]string{"p": {"person=1 *5; person=2", "person=2"}},
			questions: append(plainly("SELECT COUNT(DISTINCT person) FROM p"),
				question{Request: plan.Request{SQL: "SELECT SUM(i) FROM p", AutoRows: true}}),
		},
		{
			at: "how many rows a unit has, which change", change: true,
			rows: map[string][2]string{"p": {
				"person=1; person=2 *3; person=3 *3",
				"person=1 *3; person=2 *3; person=3 *3",
			}},
			questions: []question{{Request: plan.Request{SQL: "SELECT SUM(i) FROM p", AutoRows: true}}},
		},
		{
			at:        "units that are cut, and their lost rows",
			rows:      map[string][2]string{"p": {"person=1 *9; person=2 *4", "person=2 *4"}},
			questions: []question{{Request: plan.Request{SQL: "SELECT AVG(i) FROM p", Truncation: lostRows(8)}}},
		},
		{
			at: "units that are cut, and their lost rows, which change", change: true,
			rows: map[string][2]string{"p": {
				"person=1; person=2 *3; person=3 *3",
				"person=1 *9; person=2 *3; person=3 *3",
			}},
			questions: []question{{Request: plan.Request{SQL: "SELECT AVG(i) FROM p", Truncation: lostRows(8)}}},
		},
		{
			at: "rows for a training that are in several pages", sealed: true,
			rows: map[string][2]string{"p": {
				manyPersons + "person=1 i=9; person=1 i=8; person=1 i=7",
				manyPersons,
			}},
			questions: []question{asking("rows", "SELECT i FROM p")},
		},
	}
}

// lostRows asks for an estimate of what bounds cut, with the rows that are left out of the first most of each unit.
func lostRows(most int64) plan.Estimate { return plan.Estimate{Share: big.NewRat(1, 20), Rows: most} }
