package post

import (
	"math/big"
	"testing"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
	"dither/noise"
)

// FuzzProgram binds and runs any question as SELECTs over a small answer. It must not panic.
func FuzzProgram(f *testing.F) {
	for _, form := range forms {
		f.Add(form + measuredForm)
	}
	for _, sql := range []string{
		"SELECT repeat(k, 1000) || repeat(k, 1000) FROM (SELECT m AS k, COUNT(*), SUM(x) FROM t GROUP BY m) q",
		"SELECT NTILE(3) OVER (ORDER BY n), LAG(n, 1000) OVER (), NTH_VALUE(n, 2) OVER (ORDER BY m)" + measuredForm,
		"SELECT PERCENTILE_CONT(0.3) WITHIN GROUP (ORDER BY n / s DESC), PERCENTILE_DISC(1) WITHIN GROUP (ORDER BY m) FILTER (WHERE n > 1)" + measuredForm,
		"SELECT m, SUM(n), MEDIAN(s) FILTER (WHERE n > 1)" + measuredForm + " GROUP BY m HAVING COUNT(*) > 0 ORDER BY 2 LIMIT 1",
		"SELECT DISTINCT n::text, m::date, EXTRACT(year FROM DATE '2025-01-01') + m" + measuredForm,
		"SELECT power(n, m), exp(n * 1000), ln(-n), 9223372036854775807 * n, -n % 0, n / 0" + measuredForm,
		"SELECT rpad(m::text, 4000), lpad('x', 4096), repeat(repeat('a', 4096), m), k ~ k, m::text LIKE '%a%b%'" + measuredForm,
		"SELECT *, *, * FROM (SELECT *, *, * FROM (SELECT *, *, *" + measuredForm + ") a) b",
		"SELECT SUM(n * m) OVER (ORDER BY m ROWS BETWEEN 1000 PRECEDING AND 1000 FOLLOWING), n / SUM(s) OVER ()" + measuredForm,
		"SELECT to_char(n, 'FM9,990.99MI'), to_char(s, '.99'), to_char(m::date, 'IYYY-IW'), to_date('x', 'YYYY'), make_date(n, m, 31)" + measuredForm,
		"SELECT age(m::date, DATE '2025-01-01') * n, m::timestamp + n * INTERVAL '1 month -1 day', - (now() - m::timestamp)" + measuredForm,
		"SELECT EXTRACT(epoch FROM age(m::date, m::date)), m::date >= '2025-01-01 13:00', 2 * INTERVAL '99999 years'" + measuredForm,
		"SELECT GROUPING(m), COUNT(*) FROM t GROUP BY ROLLUP (m, k) HAVING COUNT(*) > (SELECT 1)",
	} {
		f.Add(sql)
	}
	for _, form := range severalForms {
		f.Add(form)
	}
	law, err := noise.NewDiscreteLaplace(big.NewRat(8, 1))
	if err != nil {
		f.Fatal(err)
	}
	n := &Noise{Law: law, Unit: 1}
	f.Fuzz(func(t *testing.T, sql string) {
		tree, err := query.Parse(sql)
		if err != nil {
			return
		}
		width, answers := 0, [][][]Cell{}
		if bound, err := Several(tree, Parts{Has: func(*query.Select, string) bool { return false }, Measure: func(p *Program) (Answer, error) {
			columns, rows := make([]Column, len(p.Names())), make([][]Cell, 4)
			if p.Measured.From.Relation != nil || len(answers) > 16 {
				return Answer{}, bind.Refuse(p.Measured.At, "", "not measured")
			}
			for i := range columns {
				columns[i] = Column{Type: value.Type(1 + (i+len(answers))%6), Noisy: i%2 == 1}
				for j := range rows {
					rows[j] = append(rows[j], fuzzed(columns[i], j, len(answers)<<40+len(columns)*j+i, n))
				}
			}
			answers, width = append(answers, rows), width+len(columns)
			return Answer{Index: len(answers) - 1, Same: len(answers) - 1, From: width - len(columns), Columns: columns, Rows: 4}, nil
		}}); err == nil {
			if _, err := bound.Run(t.Context(), 0.05, answers...); err != nil {
				t.Fatal(sql, err)
			}
		}
		for _, p := range Split(tree, func(*query.Select, string) bool { return false }) {
			_ = p.Measured.String()
			columns, rows := make([]Column, len(p.Names())), make([][]Cell, 4)
			for i := range columns {
				columns[i] = Column{Type: value.Type(1 + (i+int(sql[len(sql)/2]))%6), Noisy: i%2 == 1}
				for j := range rows {
					rows[j] = append(rows[j], fuzzed(columns[i], j, len(columns)*j+i, n))
				}
			}
			bound, err := p.Bind(columns, len(rows), "")
			if err != nil {
				continue
			}
			if _, err := bound.Run(t.Context(), 0.05, rows); err != nil {
				t.Fatal(sql, err)
			}
		}
	})
}

func fuzzed(c Column, row, id int, n *Noise) Cell {
	v := value.Value{
		Type: c.Type, Null: row == 3, Int: int64(row*7 - 3), Real: float64(row) * 1.5, Text: "abc"[:row], Bool: row == 1,
	}
	switch {
	case !c.Noisy || v.Null:
		return Exact(v)
	case c.Type == value.Integer:
		return Released(v, id, n)
	}
	return Bounded(v, Interval{-1, 9})
}
