package enginetest

import "dither/internal/value"

// Crowd returns rows of table p: `heavy` rows of person 1, a few rows of each of `others` other persons, and some rows
// without a person. The function below returns a random integer from 0 to n − 1, and the function normal a random real.
func Crowd(heavy, others int, below func(n int64) int64, normal func() float64) []Row {
	var rows []Row
	add := func(person value.Value, n int) {
		for range n {
			rows = append(rows, Row{
				"person": person, "i": value.OfInt(below(30) - 10), "j": value.OfInt(below(1e12)),
				"x": value.OfReal(normal() * 20),
				"k": value.OfInt([]int64{-3, 0, 5}[below(3)]),
				"s": value.OfText([]string{"a", "B", "it's", "other"}[below(4)]),
			})
		}
	}
	add(value.OfInt(1), heavy)
	for p := range others {
		add(value.OfInt(int64(p+2)), 1+int(below(9)))
	}
	add(value.NullOf(value.Integer), 7)
	return rows
}

// CrowdQuestions are questions about the rows of Crowd. Removing person 1 changes every measure.
var CrowdQuestions = []string{
	"SELECT COUNT(*), SUM(j), SUM(x), AVG(i) FROM p",
	"SELECT i, COUNT(*), SUM(x) FROM p GROUP BY i",
	"SELECT s, COUNT(*), COUNT(DISTINCT person), SUM(i) FROM p WHERE x > 0 GROUP BY s",
	"SELECT k, s, COUNT(DISTINCT person) FROM p GROUP BY k, s",
}
