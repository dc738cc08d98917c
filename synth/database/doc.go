// Package database is DuckDB over synthetic tables: it runs SQL over the files of such tables, and writes such files. The rows of these files
// are made up, so answers are exact and errors quote values. Nothing here may be used on real rows: [Ask] refuses files
// that it recognizes as those of a home.
package database
