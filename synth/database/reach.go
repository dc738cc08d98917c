package database

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// generators are the only functions that a question may name after FROM. DuckDB has others that read or write files,
// change settings, or run SQL that is in a text. A shut database refuses most of them, but not all: enable_logging is one.
var generators = []string{"range", "generate_series", "unnest"}

// effects are functions of values that do more than compute.
var effects = []string{"write_log", "getenv", "nextval", "setseed"}

// confined returns an error if a question is not one SELECT over tables, made of functions that only compute. It reads
// the question as DuckDB's own parser does, and runs nothing.
func confined(ctx context.Context, c *duckdb.Conn, question string) (err error) {
	rows, err := c.QueryContext(ctx, "SELECT CAST(json_serialize_sql(CAST($1 AS VARCHAR)) AS VARCHAR)",
		[]driver.NamedValue{{Ordinal: 1, Value: question}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil {
		return err
	}
	tree, _ := row[0].(string)
	var parsed struct {
		Error      bool   `json:"error"`
		Type       string `json:"error_type"`
		Message    string `json:"error_message"`
		Statements []any  `json:"statements"`
	}
	if err := json.Unmarshal([]byte(tree), &parsed); err != nil {
		return fmt.Errorf("the question could not be read: %w", err)
	}
	switch {
	case parsed.Error && parsed.Type == "parser":
		return errors.New(parsed.Message)
	case parsed.Error, len(parsed.Statements) != 1:
		return errNotOne
	}
	return walk(parsed.Statements[0])
}

// walk checks all functions in a tree.
func walk(node any) error {
	switch node := node.(type) {
	case []any:
		for _, child := range node {
			if err := walk(child); err != nil {
				return err
			}
		}
	case map[string]any:
		if name := called(node); slices.Contains(effects, name) {
			return fmt.Errorf("the function %s is not available here", name)
		}
		if node["type"] == "TABLE_FUNCTION" {
			function, _ := node["function"].(map[string]any)
			if name := called(function); !slices.Contains(generators, name) {
				return fmt.Errorf("the function %s is not available after FROM", name)
			}
		}
		for _, child := range node {
			if err := walk(child); err != nil {
				return err
			}
		}
	}
	return nil
}

// called returns the name of a function in lower case, or "".
func called(node map[string]any) string {
	name, _ := node["function_name"].(string)
	return strings.ToLower(name)
}
