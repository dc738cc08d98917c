package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"math/big"
	"strings"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// Inspect implements seal.Backend.
func (s *Sealer) Inspect(ctx context.Context, file string, t *policy.Table) (seal.Facts, error) {
	var facts seal.Facts
	err := s.with(ctx, func(conn *sql.Conn) error {
		from, err := sealScan(file)
		if err != nil {
			return err
		}
		if err := sealInspectColumns(ctx, conn, from, t, &facts); err != nil {
			return err
		}
		return sealInspectUnits(ctx, conn, from, t, &facts)
	})
	return facts, err
}

// manyValues is the number of declared values from which on sealInspectMany compares a column with them.
const manyValues = 64

func sealInspectColumns(ctx context.Context, conn *sql.Conn, from string, t *policy.Table, facts *seal.Facts) error {
	facts.Columns = make([]seal.ColumnFacts, len(t.Columns))
	counts, into := []string{"count(*)"}, []any{&facts.Rows}
	for i, c := range t.Columns {
		x, f := identifier(c.Name), &facts.Columns[i]
		f.Name = c.Name
		counts = append(counts, sealCount(x+" IS NULL"), sealCount(sealSpecial(c, x)))
		into = append(into, &f.Nulls, &f.Special)
		if len(c.Values) >= manyValues {
			if err := sealInspectMany(ctx, conn, from, c, f); err != nil {
				return err
			}
			continue
		}
		counts = append(counts, sealCount(sealOutside(c)+" AND NOT ("+sealSpecial(c, x)+")"), sealCount(sealSimilar(c)))
		into = append(into, &f.Outside, &f.Similar)
	}
	return conn.QueryRowContext(ctx, "SELECT "+strings.Join(counts, ", ")+" FROM "+from).Scan(into...)
}

// sealInspectMany counts the rows outside many declared values, and those that are similar to one. It compares each
// distinct value once, by a hash: DuckDB compares a list in IN one by one, and plans a long one slowly.
func sealInspectMany(ctx context.Context, conn *sql.Conn, from string, c *policy.Column, f *seal.ColumnFacts) error {
	values := make([]string, len(c.Values))
	for i, v := range c.Values {
		values[i] = sealLiteral(v)
	}
	similar := "FALSE"
	if c.Type == value.Text {
		similar = sealFolded("x") + " IN (SELECT " + sealFolded("v") + " FROM declared)"
	}
	sum := func(condition string) string {
		return "CAST(coalesce(sum(n) FILTER (WHERE " + condition + "), 0) AS BIGINT)"
	}
	return conn.QueryRowContext(ctx, "WITH declared AS (SELECT unnest(["+strings.Join(values, ", ")+"]) AS v), "+
		"found AS (SELECT "+identifier(c.Name)+" AS x, count(*) AS n FROM "+from+" GROUP BY 1), "+
		"compared AS (SELECT n, x NOT IN (SELECT v FROM declared) AND NOT ("+sealSpecial(c, "x")+") AS outside, "+
		similar+" AS alike FROM found) "+
		"SELECT "+sum("outside")+", "+sum("outside AND alike")+" FROM compared").Scan(&f.Outside, &f.Similar)
}

// sealSpecial returns the condition that x, a value of the column, is NaN or infinite.
func sealSpecial(c *policy.Column, x string) string {
	if c.Type == value.Real {
		return "NOT isfinite(" + x + ")"
	}
	return "FALSE"
}

// sealCount returns SQL that counts the rows that satisfy a condition. Over no rows it is 0, unlike DuckDB's
// count_if, which is NULL.
func sealCount(condition string) string { return "count(*) FILTER (WHERE " + condition + ")" }

func sealInspectUnits(ctx context.Context, conn *sql.Conn, from string, t *policy.Table, facts *seal.Facts) error {
	switch {
	case t.Public:
		return nil
	case t.Unit.Column == "":
		facts.Units, facts.MaxRowsPerUnit = facts.Rows, min(facts.Rows, 1)
		if t.Unit.Through == "" {
			return nil
		}
		key := identifier(t.Unit.Through)
		return conn.QueryRowContext(ctx,
			"SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM "+from+" WHERE "+key+" IS NOT NULL GROUP BY "+key+")").
			Scan(&facts.MaxRowsPerKey)
	}
	u := identifier(t.Unit.Column)
	for i, c := range t.Columns {
		if c.Name != t.Unit.Column {
			continue
		}
		facts.NullUnits = facts.Columns[i].Nulls
		if c.Type != value.Text {
			continue
		}
		err := conn.QueryRowContext(ctx, "SELECT CAST(coalesce(sum(n) FILTER (WHERE n > 1), 0) AS BIGINT) FROM "+
			"(SELECT count(*) AS n FROM (SELECT DISTINCT "+u+" FROM "+from+" WHERE "+u+" IS NOT NULL) GROUP BY "+
			sealFolded(u)+")").Scan(&facts.SimilarUnits)
		if err != nil {
			return err
		}
	}
	over, kept := fmt.Sprintf("n > %d", t.Unit.RowsPerUnit), fmt.Sprintf("least(n, %d)", t.Stored())
	return conn.QueryRowContext(ctx, "SELECT count(*), coalesce(max(n), 0), "+sealCount(over)+
		fmt.Sprintf(", CAST(coalesce(sum(n - %d) FILTER (WHERE ", t.Unit.RowsPerUnit)+over+"), 0) AS BIGINT)"+
		", "+sealCount(kept+" < had")+", CAST(coalesce(sum(had - "+kept+"), 0) AS BIGINT)"+
		" FROM (SELECT count(*) AS n, max("+rowsColumn+") AS had FROM "+from+" WHERE "+u+" IS NOT NULL GROUP BY "+u+")").
		Scan(&facts.Units, &facts.MaxRowsPerUnit, &facts.UnitsOver, &facts.RowsOver, &facts.UnitsLeftOut, &facts.RowsLeftOut)
}

// MostRows returns the largest number of rows of a sealed file that have the same value in a column. It ignores
// rows in which the column is NULL. It returns an error if the file has no such column, or if the column has
// another type.
func (s *Sealer) MostRows(ctx context.Context, file, column string, of value.Type) (most int64, err error) {
	err = s.with(ctx, func(conn *sql.Conn) error {
		from, err := sealScan(file)
		if err != nil {
			return err
		}
		source, err := describeSealSource(ctx, conn, from)
		if err != nil {
			return err
		}
		if source.types[column] != sealTypes[of] {
			return fmt.Errorf("a sealed version has no column %q of type %v", column, of)
		}
		x := identifier(column)
		return conn.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM "+from+
			" WHERE "+x+" IS NOT NULL GROUP BY "+x+")").Scan(&most)
	})
	return most, err
}

// sealOutside returns the condition that a column's value, if not NULL, is outside its declared values or bounds.
func sealOutside(c *policy.Column) string {
	x := identifier(c.Name)
	switch {
	case c.Values != nil:
		literals := make([]string, len(c.Values))
		for i, v := range c.Values {
			literals[i] = sealLiteral(v)
		}
		if len(literals) == 0 {
			return x + " IS NOT NULL"
		}
		return x + " NOT IN (" + strings.Join(literals, ", ") + ")"
	case c.Lower == nil || c.Upper == nil:
		return "FALSE"
	case c.Type == value.Real:
		// the doubles to which questions clamp: a stored 0.1 is the nearest double too, which is above 1/10
		return fmt.Sprintf("(%[1]s < %[2]s OR %[1]s > %[3]s)", x, double(bounded.RealBound(c.Lower)), double(bounded.RealBound(c.Upper)))
	case c.Type == value.Date:
		x = "(" + x + " - DATE '1970-01-01')"
		fallthrough
	case c.Type.Whole():
		lower, upper := sealCeil(c.Lower), sealFloor(c.Upper)
		return fmt.Sprintf("(CAST(%[1]s AS HUGEINT) < %[2]s OR CAST(%[1]s AS HUGEINT) > %[3]s)",
			x, sealHugeint(lower), sealHugeint(upper))
	}
	return "FALSE"
}

// sealFolded returns SQL of a text without its case, and without spaces, tabs and line ends around it.
func sealFolded(x string) string {
	return "lower(trim(" + x + ", ' ' || chr(9) || chr(10) || chr(13) || chr(160) || chr(8239)))"
}

// sealSimilar returns the condition that a text is outside the declared values, but differs from one of them only in
// case, or in blanks around it.
func sealSimilar(c *policy.Column) string {
	if c.Type != value.Text || len(c.Values) == 0 {
		return "FALSE"
	}
	folded := make([]string, len(c.Values))
	for i, v := range c.Values {
		folded[i] = sealFolded(sealLiteral(v))
	}
	return sealOutside(c) + " AND " + sealFolded(identifier(c.Name)) + " IN (" + strings.Join(folded, ", ") + ")"
}

func sealLiteral(v value.Value) string {
	if v.Type == value.Date && !v.Null {
		return fmt.Sprintf("(DATE '1970-01-01' + %d)", v.Int)
	}
	return constant(v)
}

// Div rounds down, because the denominator is positive
func sealFloor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

func sealCeil(r *big.Rat) *big.Int {
	return new(big.Int).Neg(new(big.Int).Div(new(big.Int).Neg(r.Num()), r.Denom()))
}

// sealHugeint returns SQL for an integer. An integer of magnitude above 2^100 is replaced by ±2^100, which is still
// beyond every sum and every 64-bit value.
func sealHugeint(n *big.Int) string {
	limit := new(big.Int).Lsh(big.NewInt(1), 100)
	switch {
	case n.Cmp(limit) > 0:
		n = limit
	case n.CmpAbs(limit) > 0:
		n = new(big.Int).Neg(limit)
	}
	return "CAST('" + n.String() + "' AS HUGEINT)"
}
