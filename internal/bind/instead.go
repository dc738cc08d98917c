package bind

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dither/internal/nearest"
	"dither/internal/query"
)

// instead says what to write for a function that dither does not have. In write, $1 and $2 stand for the call's
// arguments. If the call has args arguments, write becomes SQL that may replace the call. Otherwise the hint has the
// usual names: x for the first argument, and y for the second.
type instead struct {
	args  int
	write string
	why   string // why the function is not supported; "" if it only has another name here
}

// Reasons that several functions share.
const (
	onePerson = "one person's row could decide its value"
	listsRows = "it would list single rows"
)

// otherFunctions maps functions of other databases, and functions that cannot be private, to what to write here.
var otherFunctions = map[string]instead{
	"bool_or":  {1, "COUNT(CASE WHEN $1 THEN 1 END)", onePerson},
	"bool_and": {1, "COUNT(CASE WHEN NOT ($1) THEN 1 END)", onePerson},
	"every":    {1, "COUNT(CASE WHEN NOT ($1) THEN 1 END)", onePerson},

	"logical_or":  {1, "COUNT(CASE WHEN $1 THEN 1 END)", onePerson},
	"logical_and": {1, "COUNT(CASE WHEN NOT ($1) THEN 1 END)", onePerson},

	"string_agg":   {2, "COUNT(DISTINCT $1)", listsRows},
	"group_concat": {1, "COUNT(DISTINCT $1)", listsRows},
	"listagg":      {2, "COUNT(DISTINCT $1)", listsRows},
	"array_agg":    {1, "COUNT(DISTINCT $1)", listsRows},
	"json_agg":     {1, "COUNT(DISTINCT $1)", listsRows},
	"jsonb_agg":    {1, "COUNT(DISTINCT $1)", listsRows},
	"any_value":    {1, "MODE($1)", listsRows},
	"first":        {1, "MODE($1)", listsRows}, // also with a second argument, the time that orders the rows
	"last":         {1, "MODE($1)", listsRows},
	"histogram":    {4, "WIDTH_BUCKET($1, $2, $3, $4)", "it has several numbers; group by the bins, and select COUNT(*) of each"},

	"today":   {-1, "CURRENT_DATE", ""},
	"getdate": {-1, "CURRENT_DATE", ""},
	"curdate": {-1, "CURRENT_DATE", ""},
	"sysdate": {-1, "CURRENT_DATE", ""},

	"count_distinct": {1, "COUNT(DISTINCT $1)", ""},
	"countd":         {1, "COUNT(DISTINCT $1)", ""},
	"var":            {1, "VAR_SAMP($1)", ""},
	"product":        {1, "SUM(LN($1))", "one person can multiply it by any factor"},
	"regr_sxx":       {2, "REGR_COUNT($1, $2) * VAR_POP($2)", ""},
	"regr_syy":       {2, "REGR_COUNT($1, $2) * VAR_POP($1)", ""},
	"regr_sxy":       {2, "REGR_COUNT($1, $2) * COVAR_POP($1, $2)", ""},

	"quantile": {2, "PERCENTILE_CONT($1, $2)", ""},

	"time_bucket_gapfill": {4, "time_bucket($1, $2)", ""},
	"locf":                {1, "$1", ""},
	"interpolate":         {1, "$1", ""},
	"div0":                {2, "COALESCE(CAST($1 AS real) / NULLIF($2, 0), 0)", ""},
	"log2":                {1, "LOG(2, $1)", ""},

	"dayofweek": {1, "EXTRACT(dow FROM $1) + 1", ""},
	"weekday":   {1, "EXTRACT(isodow FROM $1) - 1", ""},
	"dayname":   {1, "to_char($1, 'FMDay')", ""},
	"monthname": {1, "to_char($1, 'FMMonth')", ""},
	"last_day":  {1, "CAST(date_trunc('month', $1) + INTERVAL '1 month' - INTERVAL '1 day' AS date)", ""},
	"eomonth":   {1, "CAST(date_trunc('month', $1) + INTERVAL '1 month' - INTERVAL '1 day' AS date)", ""},

	"len":            {1, "LENGTH($1)", "databases differ: it leaves out spaces at the end in some"},
	"std":            {1, "STDDEV_SAMP($1)", "databases differ: it is STDDEV_POP in some"},
	"mid":            {3, "SUBSTRING($1, $2, $3)", "databases differ: a start below 1 counts from the end in some"},
	"regexp_extract": {2, "REGEXP_SUBSTR($1, $2)", "databases differ: it is the group in parentheses in some, and the whole match in others"},
	"regexp_matches": {2, "REGEXP_LIKE($1, $2)", "it would list several matches"},
	"regexp_match":   {2, "REGEXP_SUBSTR($1, $2)", "it would list several matches"},
	"charindex":      {2, "STRPOS($2, $1)", ""},
	"ends_with":      {2, "RIGHT($1, LENGTH($2)) = $2", ""},
}

// NoFunction returns the refusal of a call of a function that dither does not have. The list known has functions that
// may stand in the place of the call, beside those of rows and the aggregates.
func NoFunction(x *query.Call, known []string) *Error {
	name := strings.ToLower(x.Name)
	o, ok := otherFunctions[name]
	if name == "timestampdiff" && len(x.Args) == 3 { // with a unit, from the second argument to the third
		unit := strings.ToLower(strings.Trim(query.Print(x.Args[0]), "'"))
		o, ok = instead{3, "(($3) - ($2))", ""}, unit == "day" || unit == "dd" || unit == "d"
	}
	switch name {
	case "random", "rand", "newid", "uuid", "gen_random_uuid":
		return Refuse(x.At, "leave it out: an answer about a sample of the rows is less accurate, and has the same price",
			"%s is not supported: the question would mean something else at another time", x.Name)
	}
	if text := cmp.Or(formatted(x), timed(x)); text != "" {
		return Refuse(x.At, "write "+text, "there is no function %q", x.Name)
	}
	if ok {
		if o.why != "" {
			return Refuse(x.At, "write "+o.sql(x), "%s is not supported: %s", x.Name, o.why)
		}
		return Refuse(x.At, "write "+o.sql(x), "there is no function %q", x.Name)
	}
	hint := "docs/reference/sql.md lists the functions"
	all := slices.Concat(known, scalarNames(), Aggregates())
	if slices.Contains(all, name) { // the function exists, and not in this place
		return Refuse(x.At, "use it in GROUP BY or inside an aggregate, over columns of the table",
			"%s is not supported here, outside any aggregate", strings.ToUpper(name))
	}
	if overOnly[name] {
		return Refuse(x.At, "put OVER after it, as in RANK() OVER (ORDER BY COUNT(*))",
			"%s needs OVER: it is a window function", x.Name)
	}
	if best := nearest.Name(x.Name, slices.Concat(all, query.OtherNames())); best != "" {
		hint = fmt.Sprintf("did you mean %q?", best)
	}
	return Refuse(x.At, hint, "there is no function %q", x.Name)
}

// overOnly has the functions that exist with OVER alone.
var overOnly = map[string]bool{
	"row_number": true, "rank": true, "dense_rank": true, "percent_rank": true, "cume_dist": true, "ntile": true,
	"lag": true, "lead": true, "first_value": true, "last_value": true, "nth_value": true,
}

// Foreign reports whether a function has another name here, so that it is not supported over an answer either.
func Foreign(name string) bool {
	o, ok := otherFunctions[name]
	return ok && (o.why == "" || alsoOverAnswer[name])
}

// alsoOverAnswer has functions that are refused over an answer for the same reason as over rows.
var alsoOverAnswer = map[string]bool{
	"first": true, "last": true, "any_value": true, "group_concat": true, "listagg": true,
	"logical_or": true, "logical_and": true,
}

// sql returns what to write for the call.
func (o instead) sql(x *query.Call) string {
	args := []string{"x", "y", "z", "n"}
	timed := x.Name == "first" || x.Name == "last"
	if len(x.Args) == o.args || timed && len(x.Args) == o.args+1 {
		for i, a := range x.Args[:min(len(x.Args), len(args))] {
			args[i] = written(a)
		}
	}
	return strings.NewReplacer("$1", args[0], "$2", args[1], "$3", args[2], "$4", args[3]).Replace(o.write)
}
