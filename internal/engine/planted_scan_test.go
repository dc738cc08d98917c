package engine_test

import "regexp"

// inEngines is a line that writes a bound into a statement, or a rank by which rows are kept; that clamps a column, or relies on what was recorded of
// rows.
var inEngines = regexp.MustCompile(`\b(Caps\.(Rows|Groups|RowsPerGroup)|Part\.PerUnit|s\.Most|k\.Most\b|k\.Scale)\)*[,)]|Enough\(b\)|integer\(m\.(Lo|Hi)\)|Integer\(m\.(Lo|Hi)\)|` +
	`PARTITION BY|OneRowEach\b|\b([a-z]+\.)?[sS]tored(\(\))?\)*[,)]|<= (s|parent)\.Stored|c\.Range\.|double\((lo|hi)\)|max\(n\)|MaxRowsPer|MostRows\b|MostPerKey|\bfirst = |` +
	`\bsingle\(|\.Single\b|IN \(%|a\.Lo, a\.Hi`)

// inPlans is a line that fixes by how much neighbours may differ, or on which that rests.
var inPlans = regexp.MustCompile(`\b(L1|L2Squared|[sS]ensitivity|Monotonic|Single|Most|RowsPerUnit)\b[^(]* (=|\+=|\*=|:=) |&Target\{Sens|Lsh\(|ChangeOne|AddRemove|[cC]aps\.(Rows|Groups|RowsPerGroup)\b\)*[,)]|MaxPerCell`)

// scanned are the files of which each line that bounds something must be among the places, and the least number of lines that do.
var scanned = []struct {
	files    string
	bounding *regexp.Regexp
	least    int
}{
	{"internal/engine/*.go", inEngines, 10},
	{"internal/engine/duckdb/*.go", inEngines, 50},
	{"internal/engine/postgres/*.go", inEngines, 50},
	{"internal/seal/*.go", inEngines, 5},
	{"internal/plan/*.go", inPlans, 20},
	{"internal/sensitivity/*.go", inPlans, 15},
	{"internal/bind/*.go", inPlans, 5},
	{"internal/bounded/*.go", inPlans, 0},
}

// elsewhere are lines that bound nothing by themselves, or whose errors are planted where they are used.
var elsewhere = []string{
	// declared, handed on, or for the owner's eyes
	"engine/engine.go: OneRowEach bool", "engine/engine.go: MostRows, MostPerKey int64", "duckdb/run.go: files.scans", "known.go: out.MostRows",
	"postgres/engine.go: return in.keeping", "postgres/source.go: in = in.keeping", "postgres/copy.go: return inspect(",
	"duckdb/expr.go: return cleanReal(", "postgres/clean.go: return cleanReal(", "duckdb/seal_inspect.go: Scan(", "duckdb/seal_inspect.go: over, kept",
	"duckdb/seal_inspect.go: func (s *Sealer) MostRows", "duckdb/seal_inspect.go: return conn.QueryRowContext(ctx, \"SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM \"+from+",
	"postgres/seal.go: readColumn(", "postgres/seal.go: return l.numbers(ctx, sql", "postgres/render_rows.go: var stored", "postgres/render_rows.go: stored = append",
	"seal/backend.go: MaxRowsPer", "seal/manifest.go: return 0, v.Facts", "seal/manifest.go: return v.Facts", "seal/manifest.go: Sealed: v.Sealed",
	"seal/manifest.go: Schema: v.Schema", "seal/manifest.go: if v.Removed", "seal/report.go: ",
	"plan/canonical.go: ", "plan/noise.go: ", "plan/plan.go: ", "bounded/measure.go: return new(big.Rat)", "plan/measure.go: Parameter", "plan/order.go: _, _ = fmt.Fprintf",
	// errors are planted in what it calls, or in the condition that it stands under
	"render_source.go: rows = ranked(", "duckdb/render_source.go: func (f sealedFiles) single", "duckdb/render_source.go: case s.Single:",
	"engine/stored.go: each, rows :=", "engine/stored.go: if one :=", "postgres/cells.go: of, first =", "sensitivity/measure.go: out.L1", "sensitivity/measure.go: out.L2Squared",
	"sensitivity/distinct.go: L2Squared:", "plan/measure.go: func (m *Measure) moves", "plan/target.go: t.Sensitivity, t.Monotonic = sensitivity.OfScore", "plan/unit_rows.go: s.sensitivity = big.NewRat(1, 1)",
	"sensitivity/vectors.go: l1.Lsh", "sensitivity/vectors.go: l2squared.Lsh",
	"sensitivity/linear.go: l1.Lsh", "sensitivity/linear.go: l2squared.Lsh",
	"plan/linear_parts.go: if steps += of.Strategy.Steps(", // how long the sensitivities take
	// no question: a stream, whose rows TestArrivalsCountNewRows counts by hand
	"duckdb/arrivals.go: \"LEFT JOIN (%s) AS c",
	// how many rows there are at most: for how many pages, for a rounding, or for what is told of how exact an answer is
	"duckdb/rows_source.go: times = ", "plan/measure.go: m := &bounded.Measure{Kind: Sum", "plan/mode.go: if n == privacy.ChangeOne",
	"plan/linear_size.go: most = max(", // how much room the ledger needs for an answer
	// where a row is a unit, it is the one row that its unit has
	"duckdb/seal_inspect.go: facts.Units, facts.MaxRowsPerUnit = facts.Rows", "postgres/seal.go: f.Units, f.MaxRowsPerUnit = f.Rows",
	// a statement applies it as it is planned, whatever it is, and the plan's sensitivities are of what is applied
	"bind/join_bound.go: join.Most = ", "bind/join_bound.go: join.Within, join.Most", "bind/join_bound.go: join.Most, s.partners", "bind/perunit.go: out.unit.RowsPerUnit", "bind/first.go: r.unit.RowsPerUnit", "bind/least.go: r.unit.RowsPerUnit", "vectors_build.go: k.Most = ",
	// whether a clamp is written whose absence changes nothing (TestClampsAreIdle)
	"postgres/render_rows.go: from, to :=", "postgres/render_rows.go: case c.Lower == nil", "postgres/render_rows.go: lo, hi = c.Range",
	"duckdb/seal_import.go: first = one", // of a file's names
	"engine/placed.go: first = i",        // which of two equal values is put in order
}
