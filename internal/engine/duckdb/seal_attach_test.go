package duckdb

import (
	"context"
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNewerFileNamesItsWriter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "clinic.duckdb")
	db, err := sql.Open("duckdb", file)
	if err == nil {
		_, err = db.Exec("CREATE TABLE visits AS SELECT 1 AS a; CREATE TABLE people AS SELECT 2 AS b; CREATE VIEW v AS FROM people")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := NewSealer(t.TempDir())
	names, err := s.Tables(t.Context(), file)
	if err != nil || strings.Join(names, " ") != "people visits" {
		t.Errorf("tables: %v, %v", names, err)
	}
	head, ok := readFileHead(file)
	if !ok || !strings.HasPrefix(head.writer, "DuckDB v1.") || head.storage > newestStorage {
		t.Errorf("the head of a file: %+v, %t", head, ok)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(text[12:], newestStorage+1)
	copy(text[52:84], "v9.9.0\x00\x00\x00\x00\x00\x00")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = s.Tables(context.Background(), file)
	if err == nil || !strings.HasPrefix(err.Error(), "the file was written by DuckDB v9.9.0, in a storage version (69)") {
		t.Errorf("a newer file: %v", err)
	}
	if err := os.WriteFile(file, []byte("a;b\n1;2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Tables(t.Context(), file); err == nil || !strings.Contains(err.Error(), "not a DuckDB database") {
		t.Errorf("another file: %v", err)
	}
}

// TestNewestStorage fails after an upgrade of DuckDB that changes the storage version.
func TestNewestStorage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "newest.duckdb")
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range []string{
		"ATTACH " + text(file) + " AS x (STORAGE_VERSION 'latest')", "CREATE TABLE x.t AS SELECT 1 AS a", "DETACH x",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if head, ok := readFileHead(file); !ok || head.storage != newestStorage {
		t.Errorf("DuckDB writes storage version %d, and newestStorage is %d", head.storage, newestStorage)
	}
}
