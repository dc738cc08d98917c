package curator

import (
	"encoding/json"
	"strings"
	"testing"
)

// An answer that drops fractions says so, fresh and replayed, and no other answer has a note.
func TestAnswersNoteQuotientsOfIntegers(t *testing.T) {
	c := openHome(t, newHome(t))
	for sql, noted := range map[string]bool{
		"SELECT SUM(cost / 2) FROM visits":                     true,
		"SELECT COUNT(*) FROM visits WHERE cost / 2 = 3":       true,
		"SELECT SUM(cost / 2.0) FROM visits":                   false,
		"SELECT SUM(cost) / COUNT(*) FROM visits":              false,
		"SELECT COUNT(*) FROM visits WHERE cost > 10 - 7 * 1":  false,
		"SELECT SUM(CAST(cost AS real) / 2) FROM visits":       false,
		"SELECT cost / 2, COUNT(*) FROM visits GROUP BY 1":     true,
		"SELECT COUNT(*) AS half FROM visits WHERE cost % 2=1": false,
	} {
		for range 2 {
			r, err := c.Answer(t.Context(), Question{SQL: sql, Epsilon: "0.05"})
			if err != nil {
				t.Errorf("%s: %v", sql, err)
				continue
			}
			text, err := json.Marshal(r)
			if is := len(r.Notes) == 1 && strings.Contains(r.Notes[0], "7 / 2 is 3"); err != nil || is != noted || !is && r.Notes != nil ||
				strings.Contains(string(text), `"notes":["A quotient`) != noted {
				t.Errorf("%s: %v, %s, %v", sql, r.Notes, text, err)
			}
		}
	}
}
