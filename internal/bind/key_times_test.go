package bind_test

import (
	"errors"
	"strings"
	"testing"

	"dither/internal/bind"
	"dither/internal/plan"
	"dither/internal/policy"
)

const timesPolicy = `
version: 1
population: {name: times}
budget: {epsilon: 10}
zone: America/New_York
tables:
  seen:
    source: {csv: seen.csv}
    unit: row
    columns:
      t: {type: timestamp, bounds: [2025-01-01, 2025-12-31 23:59:59.999999]}
      d: {type: date, bounds: [2025-01-01, 2025-12-31]}
      u: {type: timestamp}
`

// Keys of time have as many groups as WHERE leaves units, and a question with too many says how to leave fewer.
func TestKeysOfTime(t *testing.T) {
	p, err := policy.Decode([]byte(timesPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sql    string
		groups int // 0 if the question is refused
		words  string
	}{
		{"date_trunc('hour', t)", 8760, ""},
		{"date_trunc('minute', t)", 0, "let WHERE leave a shorter time"},
		{"floor(extract(epoch from t)/60)*60", 0, "let WHERE leave a shorter time"},
		{"date_bin('5 minutes', t, '2025-01-01')", 0, "let WHERE leave a shorter time"},
		{"date_trunc('minute', u)", 0, "not known beforehand"},
		{"date_trunc('minute', t) WHERE t >= '2025-03-01 06:00' AND t < '2025-03-01 07:00'", 60, ""},
		{"date_trunc('minute', t) WHERE t BETWEEN '2025-03-01T11:00:00Z' AND '2025-03-01T12:00:00Z'", 61, ""}, // 06:00 to 07:00
		{"date_bin('5 minutes', t, '2025-01-01') WHERE t >= '2025-03-01 06:00' AND t < '2025-03-01 07:00'", 12, ""},
		{"time_bucket('90 minutes', t) WHERE t >= '2025-03-01' AND t < '2025-03-02'", 16, ""},
		{"floor(extract(epoch from t)/60)*60 WHERE t >= '2025-03-01 06:00' AND t < '2025-03-01 07:00'", 60, ""},
		{"extract(epoch from t)::bigint/60*60 WHERE t >= '2025-03-01 06:00' AND t < '2025-03-01 07:00'", 61, ""}, // 06:59:59.5 is rounded
		{"date_trunc('month', t - INTERVAL '1 day') WHERE t >= '2025-03-02' AND t < '2025-05-02'", 2, ""},
		{"date_trunc('week', d + INTERVAL '1 day') - INTERVAL '1 day' WHERE d BETWEEN '2025-03-02' AND '2025-03-15'", 2, ""},
		{"to_char(t, 'YYYY-MM') WHERE t >= '2025-03-01' AND t < '2025-06-01'", 3, ""},
		{"to_char(t, 'HH24')", 24, ""},
		{"extract(week from d)", 52, ""},
		{"extract(hour from d)", 1, ""},
		{"d - 7 WHERE d >= date_trunc('month', DATE '2025-04-17') - INTERVAL '1 month' AND d < DATE '2025-04-17' - 16", 31, ""},
	} {
		key, where, _ := strings.Cut(c.sql, " WHERE ")
		sql := "SELECT COUNT(*) FROM seen"
		if where != "" {
			sql += " WHERE " + where
		}
		q, err := plan.Build(p, plan.Request{SQL: sql + " GROUP BY " + key})
		var refusal *bind.Error
		switch {
		case err == nil:
			groups := len(q.Keys[0].Values)
			if possible := q.Possible(); possible != nil {
				groups = len(possible.Values[0])
			}
			if groups != c.groups {
				t.Errorf("%s has %d groups, want %d", c.sql, groups, c.groups)
			}
		case !errors.As(err, &refusal) || c.groups != 0 || !strings.Contains(refusal.Message+refusal.Hint, c.words):
			t.Errorf("%s: %v", c.sql, err)
		}
	}
}
