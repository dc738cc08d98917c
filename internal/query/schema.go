package query

import "fmt"

// All tables are in one schema, Schema, which may also be written as the population's name. Tools write it before the
// names of tables, and both before the names of columns: "public"."visits"."region". The tree has no schemas, because
// they add nothing: this file checks them while the text is read, and drops them.

// Schema is the name of the only schema.
const Schema = "public"

// Catalog is the name of a catalog that the text writes before a schema. The caller decides whether it is right.
type Catalog struct {
	At   Pos
	Name string
	// Of is the name after a schema other than Schema, whose name the caller has to check in the place of a catalog's.
	// It is "" for a catalog.
	Of string
}

// tableName is a use of a table's name with its schema before a column or a star, as in public.visits.region. It
// means the table itself, and not an alias.
type tableName struct {
	at            Pos
	schema, table string
}

// inSchema checks the schema before a name and records its catalog. Either is "" if the text does not have it. The
// parameter name is the qualified name without the schema, for the hint.
func (l *lowering) inSchema(catalog, schema, name string, at Pos) error {
	if schema == "information_schema" || schema == "pg_catalog" {
		return &Error{
			Pos: at, Message: fmt.Sprintf("there is no schema %q", schema),
			Hint: "`dither tables` shows the tables and their columns",
		}
	}
	if schema != "" && schema != Schema {
		l.sources.catalogs = append(l.sources.catalogs, Catalog{At: at, Name: schema, Of: name})
	}
	if catalog != "" {
		l.sources.catalogs = append(l.sources.catalogs, Catalog{At: at, Name: catalog})
	}
	return nil
}

// tableInSchema checks the names before a column or a star, of which the last is the table's, and returns the table's
// name. There may be one to three: catalog.schema.table. The parameter last is the column or the star, for hints.
func (l *lowering) tableInSchema(names []string, last string, at Pos) (string, error) {
	n := len(names)
	table := names[n-1]
	catalog, schema := "", ""
	switch n {
	case 1:
		return table, nil
	case 2:
		schema = names[0]
	case 3:
		catalog, schema = names[0], names[1]
	default:
		return "", &Error{
			Pos: at, Message: "a column's name has at most four parts", Hint: "write " + quote(table) + "." + last,
		}
	}
	l.sources.tableNames = append(l.sources.tableNames, tableName{at, schema, table})
	return table, l.inSchema(catalog, schema, quote(table)+"."+last, at)
}

// ofTables settles the qualified names from index first on: those of a SELECT with this FROM. Such a name means a
// table that FROM has by its own name, so an alias hides it. A name that this FROM does not have is left to the
// SELECT around it.
func (l *lowering) ofTables(first int, f From) error {
	if first == len(l.sources.tableNames) {
		return nil
	}
	own, others := map[string]bool{}, map[string]bool{}
	var names func(r Relation)
	names = func(r Relation) {
		switch r := r.(type) {
		case *Table:
			if r.Alias == "" {
				own[r.Name] = true
			} else {
				others[r.Alias] = true
			}
		case *Subquery:
			others[r.Alias] = true
		case *Constants:
			others[r.Alias] = true
		case *Join:
			names(r.L)
			names(r.R)
		case *List:
			for _, item := range r.Items {
				names(item)
			}
		}
	}
	if f.Relation != nil {
		names(f.Relation)
	} else {
		names(&Table{Name: f.Table, Alias: f.Alias})
	}
	left := l.sources.tableNames[:first]
	for _, q := range l.sources.tableNames[first:] {
		switch {
		case others[q.table]:
			return q.refuse()
		case !own[q.table]:
			left = append(left, q)
		}
	}
	l.sources.tableNames = left
	return nil
}

// refuse returns the error for a table that FROM does not have by its own name.
func (q tableName) refuse() error {
	name := quote(q.schema) + "." + quote(q.table)
	return &Error{
		Pos: q.at, Message: name + " is not in FROM under its own name",
		Hint: "put the table's alias before the column, without a schema",
	}
}
