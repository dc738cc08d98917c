package enginetest

import (
	"regexp"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// Construct is a part of the SQL dialect, or an option of a question, that can change the exact aggregates of a
// question.
type Construct struct {
	Name     string
	in       func(q *plan.Plan, sql string) bool
	relation bool
}

// Constructs lists all constructs: the aggregates, groups, bounds, functions and relations in
// docs/reference/sql.md, and the ways of bounding units. Tests with generated questions count the constructs that
// occur, and fail if one is missing.
var Constructs = constructs()

// Met counts by name how often each construct occurred.
type Met map[string]int

// Lacking returns the name of a construct that occurred fewer than n times and is not in the list `but`. It returns ""
// if there is none.
func (m Met) Lacking(n int, but ...string) string {
	for _, c := range Constructs {
		if m[c.Name] < n && !slices.Contains(but, c.Name) {
			return c.Name
		}
	}
	return ""
}

// OfRelations returns others, followed by the names of all constructs that occur in relations only.
func OfRelations(others ...string) []string {
	for _, c := range Constructs {
		if c.relation {
			others = append(others, c.Name)
		}
	}
	return others
}

// Add counts the constructs of one question.
func (m Met) Add(q *plan.Plan, sql string) {
	for _, name := range In(q, sql) {
		m[name]++
	}
}

// In returns the names of the constructs (see [Construct]) that a question contains, given its plan and its SQL.
func In(q *plan.Plan, sql string) (out []string) {
	sql = strings.ToUpper(sql)
	for _, c := range Constructs {
		if c.in(q, sql) {
			out = append(out, c.Name)
		}
	}
	return out
}

func constructs() (out []Construct) {
	written := func(name, pattern string) {
		re := regexp.MustCompile(pattern)
		out = append(out, Construct{Name: name, in: func(_ *plan.Plan, sql string) bool { return re.MatchString(sql) }})
	}
	planned := func(name string, in func(q *plan.Plan) bool) {
		out = append(out, Construct{Name: name, in: func(q *plan.Plan, _ string) bool { return in(q) }})
	}
	relation := func(name, pattern string) {
		re := regexp.MustCompile(pattern)
		out = append(out, Construct{
			name,
			func(q *plan.Plan, sql string) bool { return q.Source != nil && re.MatchString(sql) }, true,
		})
	}
	for _, f := range strings.Fields(
		"SUM AVG VAR_POP VAR_SAMP VARIANCE STDDEV STDDEV_POP STDDEV_SAMP COVAR_POP COVAR_SAMP CORR REGR_SLOPE " +
			"REGR_INTERCEPT REGR_R2 " +
			"REGR_COUNT REGR_AVGX REGR_AVGY CLIPPED MEDIAN PERCENTILE_CONT PERCENTILE_DISC APPROX_QUANTILES MODE " +
			"ANON_COUNT " +
			"WIDTH_BUCKET DATE_TRUNC DATE_BIN TO_CHAR AGE EXTRACT ABS FLOOR CEIL ROUND TRUNC MOD DIV POWER LOG SIGN SQRT LN EXP COALESCE NULLIF LEAST GREATEST CAST " +
			"LOWER UPPER INITCAP TRIM REVERSE LEFT SUBSTRING RPAD SPLIT_PART REPLACE TRANSLATE REGEXP_REPLACE CONCAT CONCAT_WS " +
			"LENGTH STARTS_WITH") {
		written(f, `\b`+f+`\(`)
	}
	written("COUNT(*)", `\bCOUNT\(\*`)
	written("COUNT(x)", `\bCOUNT\([^*D]`)
	kind := func(k bounded.Kind) func(*plan.Plan) bool {
		return func(q *plan.Plan) bool {
			for _, m := range q.Measures {
				if m.Kind == k {
					return true
				}
			}
			return false
		}
	}
	planned("COUNT(DISTINCT unit)", kind(bounded.CountUnits))
	planned("COUNT(DISTINCT unit) FILTER", kind(bounded.CountUnitsWith))
	planned("COUNT(DISTINCT x)", kind(bounded.CountDistinct))
	planned("SUM(DISTINCT x)", kind(bounded.SumDistinct))
	planned("SUM(x) beside AVG(x)", func(q *plan.Plan) bool {
		return slices.ContainsFunc(q.Aggregates, plan.Aggregate.Centred)
	})
	written("FILTER", `\bFILTER \(WHERE`)
	written("CASE", `\bCASE WHEN`)
	written("INTERVAL", `\bINTERVAL '`)
	written("LIKE", `\bLIKE '`)
	written("ILIKE", `\bILIKE '`)
	written("regular expressions", ` ~\*? '`)
	written("SIMILAR TO", `\bSIMILAR TO\b`)
	written("||", ` \|\| `)
	written("IS DISTINCT FROM", `\bIS DISTINCT FROM\b`)
	written("BETWEEN", `\bBETWEEN\b`)
	written("IN (…)", `\bIN \(`)
	written("IS NULL", `\bIS (NOT )?NULL`)
	written("IS TRUE", `\bIS (NOT )?(TRUE|FALSE|UNKNOWN)`)

	planned("known groups", func(q *plan.Plan) bool { return len(q.Keys) > 0 && !q.Open() && q.Sets == nil })
	planned("unknown groups", func(q *plan.Plan) bool { return q.Open() })
	planned("unknown and known keys", func(q *plan.Plan) bool {
		known := false
		for i := range q.Keys {
			known = known || !q.Keys[i].Open
		}
		return q.Open() && known
	})
	planned("groups alone", func(q *plan.Plan) bool { return q.Open() && len(q.Measures) == 0 })
	planned("other", func(q *plan.Plan) bool { return q.Other })
	planned("min units", func(q *plan.Plan) bool { return q.Selection != nil && q.Selection.MinUnits > 1 })
	written("ROLLUP", `\bROLLUP \(`)
	written("CUBE", `\bCUBE \(`)
	written("GROUPING SETS", `\bGROUPING SETS \(`)
	planned("quantiles over grouping sets", func(q *plan.Plan) bool { return q.Sets != nil && len(q.Quantiles) > 0 })
	planned("modes over grouping sets", func(q *plan.Plan) bool { return q.Sets != nil && len(q.Modes) > 0 })

	written("bounds per row", `\b(CONTRIBUTION_BOUNDS_PER_ROW|BOUNDS) => \(`)
	written("bounds per group", `\bCONTRIBUTION_BOUNDS_PER_GROUP => \(`)
	written("bounds => auto", `\bBOUNDS => AUTO`)
	written("weight", `\bWEIGHT => `)
	written("epsilon of an aggregate", `\bEPSILON => `)
	written("GoogleSQL's clause", `\bOPTIONS\(`)
	written("max_rows_contributed", `\bMAX_ROWS_CONTRIBUTED\b`)

	planned("truncation", func(q *plan.Plan) bool { return q.Truncation != nil })
	planned("truncation, and lost rows", func(q *plan.Plan) bool { return q.Truncation != nil && q.Truncation.Asked.Most > 0 })
	planned("truncation, and clamped rows", func(q *plan.Plan) bool { return q.Truncation != nil && len(q.Truncation.Clamped) > 0 })
	planned("rows are units", func(q *plan.Plan) bool { return q.Unit == nil })
	planned("units by rows", func(q *plan.Plan) bool { return q.Unit != nil && q.Caps.Rows > 0 })
	planned("units by groups",
		func(q *plan.Plan) bool { return q.Unit != nil && q.Caps.Rows == 0 && q.Caps.Groups > 0 })
	planned("confined to parts", func(q *plan.Plan) bool { return q.Part != nil })
	planned("several parts of a unit", func(q *plan.Plan) bool { return q.Part != nil && q.Part.PerUnit > 1 })

	written("subquery", `\bFROM \(SELECT`)
	written("WITH", `^WITH `)
	relation("public table", `\bR [BC]\b`)
	relation("join", `[A-Z)] JOIN `)
	relation("LEFT JOIN", `\bLEFT JOIN\b`)
	relation("RIGHT JOIN", `\bRIGHT JOIN\b`)
	relation("joined by WHERE", `\bFROM P A, V B`)
	relation("join on the unit", `A\.PERSON = B\.WHO`)
	relation("join along a reference", `B\.REF = A\.ID|A\.ID = B\.REF|B\.PARENT = A\.ID`)
	relation("unit through another table", `\b[LM] [ABC]\b`)
	relation("first rows of one person", `ROW_NUMBER\(\)|RANK\(\)|DISTINCT ON`)
	relation("other rows of one person", `(LAG|LEAD|FIRST_VALUE)\(`)
	relation("UNION ALL", `\bUNION ALL\b`)
	relation("aggregates of one person", `\bGROUP BY (A\.)?(PERSON|WHO)\b`)
	relation("HAVING of one person", `\bHAVING\b`)
	relation("quantile over a relation", `\b(MEDIAN|PERCENTILE_DISC|APPROX_QUANTILES)\(`)
	relation("MODE over a relation", `\bMODE\(`)
	relation("grouping sets over a relation", `\b(ROLLUP|CUBE|GROUPING SETS) \(`)
	relation("COUNT(DISTINCT x) over a relation", `\bCOUNT\(DISTINCT `)
	relation("found bounds over a relation", `\bBOUNDS => AUTO`)
	out = append(out, Construct{
		"unknown groups over a relation",
		func(q *plan.Plan, _ string) bool { return q.Source != nil && q.Open() }, true,
	})
	return out
}
