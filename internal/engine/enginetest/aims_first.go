package enginetest

// aimsAtFirstRows returns an aim (databases and questions that reach a bound) at the first rows and other rows of one
// person, and at the order of one person's values. Person 1 has three rows, which are equal in the order of k and of
// which each is in a part of s by itself.
func aimsAtFirstRows() []aim {
	const (
		others   = "person=2 k=5 s=a i=-7; person=3 k=5 s=a i=-7"
		byPerson = "() OVER (PARTITION BY person ORDER BY k) AS n"
		byPart   = "() OVER (PARTITION BY person, s ORDER BY i) AS n"
		beside   = ", LAG(i) OVER (PARTITION BY person ORDER BY i) AS other"
	)
	firstOf := func(columns string) string {
		return "SELECT COUNT(*) FROM (SELECT person, i, s, " + columns + " FROM p) a WHERE n = 1"
	}
	return []aim{{
		at: "the first rows of a person, and other rows of it", relation: true,
		rows: map[string][2]string{"p": {
			"person=1 k=-3 s=a i=9; person=1 k=-3 s=B i=8; person=1 k=-3 s= i=7; " + others, others,
		}},
		questions: limited(1,
			firstOf("ROW_NUMBER"+byPerson), firstOf("RANK"+byPerson), firstOf("RANK"+byPerson+beside),
			firstOf("DENSE_RANK"+byPerson+beside),
			"SELECT COUNT(*) FROM (SELECT DISTINCT ON (person) person, i FROM p ORDER BY person, k) a",
			firstOf("ROW_NUMBER"+byPart), firstOf("ROW_NUMBER"+byPart+beside),
			"SELECT COUNT(*) FROM (SELECT person, MAX(i) OVER (PARTITION BY person) AS most FROM p) a",
			"SELECT SUM(x) FROM (SELECT person, FIRST_VALUE(i) OVER (PARTITION BY person ORDER BY k) AS x FROM p) a",
			"SELECT SUM(x) FROM (SELECT person, PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY i) AS x FROM p GROUP BY person) a",
		),
	}}
}
