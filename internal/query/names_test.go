package query

import "testing"

// A cast without an alias has the name that PostgreSQL gives it.
func TestNamesOfCasts(t *testing.T) {
	for item, want := range map[string]string{
		"CAST(x AS text)": "x", "t.x::date": "x", "x::date::text": "x", "CAST(SUM(x) AS real)": "sum", "CAST(1 + x AS integer)": "int4",
		"CAST(COALESCE(x, 1) AS real)": "coalesce", "LEAST(x, 1)::real": "least", "DATE '2025-01-01'": "date", "1::double precision": "float8",
		"CAST(CASE WHEN x > 1 THEN 1 ELSE x END AS real)": "x", "CAST(CASE WHEN x > 1 THEN 1 END AS real)": "float4",
		"INTERVAL '1 day'": "interval", "x": "", "x + 1": "", "SUM(x)": "",
	} {
		s, err := Parse("SELECT " + item + " FROM t")
		if err != nil {
			t.Errorf("%s: %v", item, err)
		} else if s.Items[0].Name != want {
			t.Errorf("%s is called %q, want %q", item, s.Items[0].Name, want)
		}
	}
}
