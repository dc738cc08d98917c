package query

import "strings"

// QuoteText returns a text constant of SQL. Backslashes and line breaks in it have no special meaning.
func QuoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// QuoteName returns a name as SQL reads it, in double quotes if necessary.
func QuoteName(name string) string { return quote(name) }

// quote returns an identifier, in quotes if it would read as something else without them.
func quote(name string) string {
	if plain(name) && !keywords[name] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// plain reports whether a name has only lower-case ASCII letters, digits and underscores, and does not begin with a
// digit.
func plain(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// keywords are the words that PostgreSQL does not accept, without quotes, as the name of a column, a table and a
// function. TestKeywords compares them with the grammar.
var keywords = wordSet(`
all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast
char character check coalesce collate collation column concurrently constraint create cross current_catalog
current_date current_role current_schema current_time current_timestamp current_user dec decimal default deferrable
desc distinct do else end except exists extract false fetch float for foreign freeze from full grant greatest group
grouping having ilike in initially inner inout int integer intersect interval into is isnull join json json_array
json_arrayagg json_exists json_object json_objectagg json_query json_scalar json_serialize json_table json_value
lateral leading least left like limit localtime localtimestamp merge_action national natural nchar none normalize
not notnull null nullif numeric offset on only or order out outer overlaps overlay placing position precision
primary real references returning right row select session_user setof similar smallint some substring symmetric
system_user table tablesample then time timestamp to trailing treat trim true union unique user using values
varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest
xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
