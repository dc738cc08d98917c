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

	"string_agg":   {2, "COUNT(DISTINCT $1)", listsRows},
	"group_concat": {1, "COUNT(DISTINCT $1)", listsRows},
	"listagg":      {2, "COUNT(DISTINCT $1)", listsRows},
	"array_agg":    {1, "COUNT(DISTINCT $1)", listsRows},
	"json_agg":     {1, "COUNT(DISTINCT $1)", listsRows},
	"jsonb_agg":    {1, "COUNT(DISTINCT $1)", listsRows},
	"any_value":    {1, "MODE($1)", listsRows},
	"first":        {1, "MODE($1)", listsRows},
	"last":         {1, "MODE($1)", listsRows},

	"today":   {-1, "CURRENT_DATE", ""},
	"getdate": {-1, "CURRENT_DATE", ""},
	"curdate": {-1, "CURRENT_DATE", ""},
	"sysdate": {-1, "CURRENT_DATE", ""},

	"sumif":           {2, "SUM(CASE WHEN $2 THEN $1 END)", ""},
	"sum_if":          {2, "SUM(CASE WHEN $2 THEN $1 END)", ""},
	"avgif":           {2, "AVG(CASE WHEN $2 THEN $1 END)", ""},
	"approx_distinct": {1, "COUNT(DISTINCT $1)", ""},
	"count_distinct":  {1, "COUNT(DISTINCT $1)", ""},
	"countd":          {1, "COUNT(DISTINCT $1)", ""},
	"mean":            {1, "AVG($1)", ""},
	"average":         {1, "AVG($1)", ""},
	"std":             {1, "STDDEV($1)", ""},
	"var":             {1, "VAR_SAMP($1)", ""},
	"product":         {1, "SUM(LN($1))", "one person can multiply it by any factor"},
	"regr_sxx":        {2, "REGR_COUNT($1, $2) * VAR_POP($2)", ""},
	"regr_syy":        {2, "REGR_COUNT($1, $2) * VAR_POP($1)", ""},
	"regr_sxy":        {2, "REGR_COUNT($1, $2) * COVAR_POP($1, $2)", ""},

	"quantile":          {2, "PERCENTILE_CONT($1, $2)", ""},
	"quantile_cont":     {2, "PERCENTILE_CONT($1, $2)", ""},
	"quantile_disc":     {2, "PERCENTILE_DISC($1, $2)", ""},
	"percentile":        {2, "PERCENTILE_CONT($1, $2)", ""},
	"approx_quantile":   {2, "PERCENTILE_CONT($1, $2)", ""},
	"approx_percentile": {2, "PERCENTILE_CONT($1, $2)", ""},

	"ifnull":              {2, "COALESCE($1, $2)", ""},
	"nvl":                 {2, "COALESCE($1, $2)", ""},
	"isnull":              {2, "COALESCE($1, $2)", ""},
	"zeroifnull":          {1, "COALESCE($1, 0)", ""},
	"nullifzero":          {1, "NULLIF($1, 0)", ""},
	"time_bucket_gapfill": {2, "time_bucket($1, $2)", ""},
	"safe_divide":         {2, "(CAST($1 AS real) / NULLIF($2, 0))", ""},
	"div0":                {2, "COALESCE(CAST($1 AS real) / NULLIF($2, 0), 0)", ""},
	"log2":                {1, "LOG(2, $1)", ""},
	"truncate":            {2, "TRUNC($1, $2)", ""},

	"year":       {1, "EXTRACT(year FROM $1)", ""},
	"quarter":    {1, "EXTRACT(quarter FROM $1)", ""},
	"month":      {1, "EXTRACT(month FROM $1)", ""},
	"day":        {1, "EXTRACT(day FROM $1)", ""},
	"dayofmonth": {1, "EXTRACT(day FROM $1)", ""},
	"dayofyear":  {1, "EXTRACT(doy FROM $1)", ""},
	"dayofweek":  {1, "EXTRACT(dow FROM $1) + 1", ""},
	"weekday":    {1, "EXTRACT(isodow FROM $1) - 1", ""},
	"last_day":   {1, "CAST(date_trunc('month', $1) + INTERVAL '1 month' - INTERVAL '1 day' AS date)", ""},
	"eomonth":    {1, "CAST(date_trunc('month', $1) + INTERVAL '1 month' - INTERVAL '1 day' AS date)", ""},
	"datediff":   {2, "(($1) - ($2))", ""},

	"regexp_matches":  {2, "REGEXP_LIKE($1, $2)", "it would list several matches"},
	"regexp_match":    {2, "REGEXP_SUBSTR($1, $2)", "it would list several matches"},
	"regexp_contains": {2, "REGEXP_LIKE($1, $2)", ""},
	"regexp_extract":  {2, "REGEXP_SUBSTR($1, $2)", ""},
	"len":             {1, "LENGTH($1)", ""},
	"ucase":           {1, "UPPER($1)", ""},
	"lcase":           {1, "LOWER($1)", ""},
	"mid":             {3, "SUBSTRING($1, $2, $3)", ""},
	"instr":           {2, "STRPOS($1, $2)", ""},
	"charindex":       {2, "STRPOS($2, $1)", ""},
	"contains":        {2, "STRPOS($1, $2) > 0", ""},
	"ends_with":       {2, "RIGHT($1, LENGTH($2)) = $2", ""},
	"startswith":      {2, "STARTS_WITH($1, $2)", ""},
}

// NoFunction returns the refusal of a call of a function that dither does not have. The list known has functions that
// may stand in the place of the call, beside those of rows and the aggregates.
func NoFunction(x *query.Call, known []string) *Error {
	name := strings.ToLower(x.Name)
	o, ok := otherFunctions[name]
	if (name == "datediff" || name == "timestampdiff") && len(x.Args) == 3 { // with a unit, from the second argument to the third
		unit := strings.ToLower(strings.Trim(query.Print(x.Args[0]), "'"))
		o, ok = instead{3, "(($3) - ($2))", ""}, unit == "day" || unit == "dd" || unit == "d"
	}
	switch name {
	case "random", "rand", "newid", "uuid", "gen_random_uuid":
		return Refuse(x.At, "leave it out: an answer about a sample of the rows is less accurate, and has the same price",
			"%s is not supported: the question would mean something else at another time", x.Name)
	case "approx_percentile":
		if of, call := secondCall(x); call && of.Name == "percentile_agg" && len(of.Args) == 1 {
			x = &query.Call{At: x.At, Name: x.Name, Args: []query.Expr{of.Args[0], x.Args[0]}}
		}
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
	if best := nearest.Name(x.Name, all); best != "" {
		hint = fmt.Sprintf("did you mean %q?", best)
	}
	return Refuse(x.At, hint, "there is no function %q", x.Name)
}

func secondCall(x *query.Call) (*query.Call, bool) {
	if len(x.Args) != 2 {
		return nil, false
	}
	c, ok := x.Args[1].(*query.Call)
	return c, ok
}

// Foreign reports whether a function has another name here, so that it is not supported over an answer either.
func Foreign(name string) bool {
	o, ok := otherFunctions[name]
	return ok && (o.why == "" || name == "first" || name == "last")
}

// sql returns what to write for the call.
func (o instead) sql(x *query.Call) string {
	args := []string{"x", "y", "z"}
	if len(x.Args) == o.args {
		for i, a := range x.Args {
			args[i] = written(a)
		}
	}
	return strings.NewReplacer("$1", args[0], "$2", args[1], "$3", args[2]).Replace(o.write)
}
