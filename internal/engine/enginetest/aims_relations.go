package enginetest

import (
	"strings"

	"dither/internal/plan"
)

// aimsAtRelations returns aims (databases and questions that reach a bound) at the bounds on rows of relations over
// several tables.
func aimsAtRelations() []aim {
	return []aim{
		{
			at: "one row each, and several that they meet", relation: true,
			rows: map[string][2]string{
				"p": {"person=1 s=a; person=2 s=B", "person=2 s=B"},
				"r": {"rs=a *2", "rs=a *2"},
			},
			questions: []question{{Request: plan.Request{
				SQL:     "SELECT COUNT(*) FROM p a JOIN r b ON a.s = b.rs",
				MaxRows: 1,
			}}},
		},
		{
			at: "rows that are units, and one more than they may meet", relation: true,
			rows: map[string][2]string{"t": {"s=a; s=B", "s=B"}, "r": {"rs=a *3", "rs=a *3"}},
			questions: plainly("SELECT COUNT(*) FROM t a JOIN r b ON a.s = b.rs",
				"SELECT COUNT(*) FROM t a LEFT JOIN r b ON a.s = b.rs"),
		},
		{
			at: "the score of a unit with as many rows as may count, of a logistic model", relation: true,
			rows: map[string][2]string{"p": {"person=1 x=17 i=9 *3; person=2 x=1", "person=2 x=1"}},
			questions: []question{pairOfCoordinates("SELECT s1, s2 FROM (SELECT person, SUM(e) AS s1, SUM(i * e) AS s2 FROM " +
				"(SELECT person, i, k - 1 / (1 + EXP(-LEAST(GREATEST(x, -30), 30))) AS e FROM p) a GROUP BY person) a")},
		},
		{
			at: "rows that are units, twice", relation: true,
			rows: map[string][2]string{"t": {"x=17; x=1", "x=1"}},
			questions: plainly(
				"SELECT COUNT(*) FROM (SELECT * FROM t UNION ALL SELECT k, i * 2, x, 'a' FROM t WHERE x > 0) a"),
		},
		{
			at: "rows of a unit where units are counted too", relation: true,
			rows: map[string][2]string{
				"p": {"person=1 k=5 x=17 *5; person=2", "person=2"},
				"v": {"who=1 *2; who=2", "who=2"},
			},
			questions: plainly(
				"SELECT a.k, COUNT(DISTINCT a.person), AVG(a.x) FROM p a JOIN v b ON a.person = b.who GROUP BY a.k"),
		},
		{
			at: "the groups of another unit", relation: true,
			rows: map[string][2]string{
				"p": {"person=1 s=a k=5 i=9; person=1 s=B k=5 i=9; " + othersIn3, othersIn3},
				"r": {"rk=5", "rk=5"},
			},
			questions: plainly("SELECT a.s, SUM(a.i) FROM p a JOIN r b ON a.k = b.rk GROUP BY a.s"),
		},
		{
			at: "more groups than a unit may be in, of several tables", relation: true,
			rows: map[string][2]string{"p": {
				"person=1 s=a k=5; person=1 s=B k=5; person=1 s= k=5; person=2 k=5",
				"person=2 k=5",
			}, "r": {"rk=5", "rk=5"}},
			questions: plainly("SELECT a.s, COUNT(*) FROM p a JOIN r b ON a.k = b.rk GROUP BY a.s",
				"SELECT a.s, COUNT(DISTINCT a.person) FROM p a JOIN r b ON a.k = b.rk GROUP BY a.s"),
		},
		{
			at: "which of another unit's rows is first in a group", relation: true,
			rows: map[string][2]string{
				"p": {
					"person=2 s=a k=5 i=9; person=2 s=a k=5 i=-7; person=1 s=a k=5; person=1 s=B k=5",
					"person=2 s=a k=5 i=-7; person=2 s=a k=5 i=9",
				},
				"r": {"rk=5", "rk=5"},
			},
			questions: plainly("SELECT a.s, MEDIAN(a.i) FROM p a JOIN r b ON a.k = b.rk GROUP BY a.s"),
		},
		{
			at:       "one row more than may count, for a training",
			relation: true,
			rows: map[string][2]string{
				"p": {"person=1 k=5 i=1; person=1 k=5 i=2; person=1 k=5 i=3; person=1 k=5 i=4; person=2 k=5", "person=2 k=5"},
				"r": {"rk=5", "rk=5"},
			},
			questions: []question{
				asking("rows", "SELECT a.i FROM p a JOIN r b ON a.k = b.rk"),
				asking("values", "SELECT a.i FROM p a JOIN r b ON a.k = b.rk"),
			},
		},
		{
			at: "another unit's rows beyond the cap, of several tables", relation: true,
			rows: map[string][2]string{"p": {
				"person=1 k=5 s=a i=9 *5; person=2 k=5 s=B i=9 *5",
				"person=2 k=5 s=B i=9 *5",
			}, "r": {"rk=5", "rk=5"}},
			questions: limited(3, "SELECT a.s, COUNT(*) FROM p a JOIN r b ON a.k = b.rk GROUP BY a.s",
				"SELECT a.s, SUM(a.i) FROM p a JOIN r b ON a.k = b.rk GROUP BY a.s",
				"SELECT a.s, SUM(a.i + 1) FROM p a JOIN r b ON a.k = b.rk GROUP BY a.s"),
		},
		{
			at: "rows for a training that are in several pages, of several tables", relation: true,
			rows: map[string][2]string{
				"p": {
					strings.ReplaceAll(manyPersons, ";", " k=5;") +
						"person=1 k=5 i=9; person=1 k=5 i=8; person=1 k=5 i=7",
					strings.ReplaceAll(manyPersons, ";", " k=5;"),
				},
				"r": {"rk=5", "rk=5"},
			},
			questions: []question{asking("rows", "SELECT a.i FROM p a JOIN r b ON a.k = b.rk")},
		},
		{
			at:       "a unit's rows, of which it has one in each group",
			relation: true,
			rows: map[string][2]string{"p": {
				"person=1 s=a; person=1 s=B; person=1 s=; person=2 s=a",
				"person=2 s=a",
			}},
			questions: []question{
				{
					Request: plan.Request{
						SQL: "SELECT COUNT(*) FROM (SELECT person AS u, s, COUNT(*) AS n FROM p " +
							"GROUP BY person, s) a",
						MaxRows: 1,
					},
				},
			},
		},
		{
			at:       "a unit's one row, and several that it meets, or that its subquery finds",
			relation: true,
			edit:     []string{"{rk: 1, rs: 2}", "{rk: 2, rs: 2}", ofPersons, "rows_per_unit: 5"},
			rows:     map[string][2]string{"p": {"person=1 *5; person=2", "person=2"}, "r": {"rk=5 *2", "rk=5 *2"}},
			questions: limited(1,
				"SELECT COUNT(*) FROM (SELECT person AS u, COUNT(*) AS n FROM p GROUP BY person) a JOIN r b ON a.n = b.rk",
				"SELECT COUNT(*) FROM (SELECT person AS u, COUNT(*) AS n FROM p GROUP BY person) a "+
					"WHERE a.n IN (SELECT rk FROM r)"),
		},
	}
}
