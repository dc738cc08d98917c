package curator

import (
	"encoding/json"
	"fmt"
	"testing"
)

// A question that reads no row is answered exactly, and leaves the ledger as it was: at any price that it names, and
// however often it is asked.
func TestConstantsAreFree(t *testing.T) {
	c := openHome(t, newHome(t))
	before := len(ledgerOf(t, c))
	for sql, want := range map[string]string{
		"SELECT 1":                          "[expr] [[1]]",
		"-- ping\nselect 1 AS one;":         "[one] [[1]]",
		"SELECT 1, 1":                       "[expr expr_2] [[1 1]]",
		"SELECT TRUE, NULL, 'a', 0.5":       "[expr expr_2 expr_3 expr_4] [[true <nil> a 0.5]]",
		"SELECT DATE '2025-01-31' AS day":   "[day] [[2025-01-31]]",
		"SELECT CASE WHEN 1 < 2 THEN 3 END": "[case] [[3]]",
		"SELECT COALESCE(NULL, 2 + 3)":      "[coalesce] [[5]]",
		"SELECT 1 WHERE 1 = 0":              "[expr] []",
		"SELECT 1 WHERE 1 = 1 LIMIT 1":      "[expr] [[1]]",
		"SELECT 1 LIMIT 0":                  "[expr] []",
		"SELECT 1 OFFSET 1":                 "[expr] []",
	} {
		r, err := c.Answer(t.Context(), Question{SQL: sql, Epsilon: "0.1", Fresh: true})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		names, rows := []string{}, [][]any{}
		for _, column := range r.Columns {
			names = append(names, column.Name)
		}
		for _, row := range r.Rows {
			values := []any{}
			for _, cell := range row {
				values = append(values, cell.Key)
			}
			rows = append(rows, values)
		}
		if got := fmt.Sprint(names, rows); got != want || !r.Free || r.ID != "" || r.Price.Epsilon != "0" {
			t.Errorf("%s: got %s, free %t, release %q, price %s; want %s", sql, got, r.Free, r.ID, r.Price, want)
		}
		if e, err := c.Explain(t.Context(), Question{SQL: sql}); err != nil || !e.Free || e.Price.Epsilon != "0" {
			t.Errorf("%s: %+v, %v", sql, e, err)
		}
	}
	if after := len(ledgerOf(t, c)); after != before || spent(t, c) != "0" {
		t.Errorf("%d entries were added, and %s is spent", after-before, spent(t, c))
	}
	r, err := c.Answer(t.Context(), Question{SQL: "SELECT 1"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"release":null,"sql":"SELECT 1","confidence":0.95,"columns":[{"name":"expr","kind":"key"}],` +
		`"rows":[{"expr":1}],"price":{"epsilon":0,"delta":0,"rho":null},"remaining":{"epsilon":1,"delta":0,"rho":null},` +
		`"replayed":false,"free":true}`
	if got, err := json.Marshal(r); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

// Whatever needs a table is refused, with or without a constant beside it.
func TestConstantsHaveNoColumns(t *testing.T) {
	c := openHome(t, newHome(t))
	for sql, want := range map[string]string{
		"SELECT age":                        "the question has no table",
		"SELECT COUNT(*)":                   "the question has no table",
		"SELECT 1 + SUM(1)":                 "the question has no table",
		"SELECT 1 GROUP BY 1":               "the question has no table",
		"SELECT 1 HAVING TRUE":              "the question has no table",
		"SELECT 1 WHERE 'x'":                "WHERE needs a condition",
		"SELECT SQRT(2)":                    "sqrt of a constant is not computed here",
		"SELECT 1 FROM people":              "the question has no aggregate",
		"SELECT COUNT(*) FROM (SELECT 1) q": "the subquery has no table",
		"SELECT 1 / (":                      "syntax error at end of input",
	} {
		_, err := c.Answer(t.Context(), Question{SQL: sql})
		if err == nil || refusalText(err) != want {
			t.Errorf("%s: got %v, want %s", sql, err, want)
		}
	}
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT 1", Confidence: "2"}); codeOf(err) != CodeUsage {
		t.Errorf("a wrong confidence: %v", err)
	}
}

func refusalText(err error) string {
	message, _ := refusal(err)
	return message
}

// A list of declared values stays free if a private selection is allowed: nothing has to be selected.
func TestListsStayFreeWhereSelectionIsAllowed(t *testing.T) {
	c := shop(t, "add-remove", "1", "", popular(20, "tea"))
	before := spent(t, c)
	for _, sql := range []string{"SELECT DISTINCT gift FROM orders", "SELECT gift FROM orders GROUP BY gift", "SELECT 1"} {
		e, err := c.Explain(t.Context(), Question{SQL: sql, AllowSelection: true})
		if err != nil || !e.Free {
			t.Errorf("%s: %+v, %v", sql, e, err)
		}
		r, err := c.Answer(t.Context(), Question{SQL: sql, AllowSelection: true})
		if err != nil || !r.Free || r.ID != "" {
			t.Errorf("%s: %+v, %v", sql, r, err)
		}
	}
	if after := spent(t, c); after != before {
		t.Errorf("%s is spent, and %s before", after, before)
	}
	if r, err := c.Answer(t.Context(), Question{SQL: "SELECT DISTINCT product FROM orders", AllowSelection: true}); err != nil || r.Free {
		t.Errorf("unknown values: %+v, %v", r, err)
	}
}
