// Command plain opens a DuckDB in memory, runs one statement, reads all rows of the result, and closes the database.
// BenchmarkProcess measures it beside `dither query`.
package main

import (
	"database/sql"
	"log"
	"os"

	_ "github.com/duckdb/duckdb-go/v2"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(statement string) error {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	rows, err := db.Query(statement)
	if err != nil {
		return err
	}
	for rows.Next() {
		var key string
		var number float64
		if err := rows.Scan(&key, &number); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil { // after the last row, rows are closed
		return err
	}
	return db.Close()
}
