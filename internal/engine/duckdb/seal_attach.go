package duckdb

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// attachSealFile opens a database file for reading, as dither_source.
func attachSealFile(ctx context.Context, conn *sql.Conn, file string) error {
	if info, err := os.Stat(file + ".wal"); err == nil && info.Size() > 0 {
		return errors.New(
			"the database has changes in its .wal file: first close the programs that use it, or run CHECKPOINT")
	}
	_, err := conn.ExecContext(ctx, "ATTACH "+text(file)+" AS dither_source (TYPE duckdb, READ_ONLY)")
	if err == nil {
		return nil
	}
	head, known := readFileHead(file)
	switch {
	case !known && strings.Contains(err.Error(), "not a valid DuckDB database file"):
		return errors.New("the file is not a DuckDB database")
	case !known || head.storage <= newestStorage:
		return err
	}
	var ours string
	if err := conn.QueryRowContext(ctx, "SELECT version()").Scan(&ours); err != nil {
		return err
	}
	return fmt.Errorf("the file was written by %s, in a storage version (%d) that dither's DuckDB %s cannot read: write "+
		"the table as Parquet with the program that wrote the file (COPY visits TO 'visits.parquet'), or copy the database "+
		"into an older version (ATTACH 'older.duckdb' AS older (STORAGE_VERSION 'v1.0.0'); COPY FROM DATABASE … TO older)",
		head.writer, head.storage, ours)
}

// newestStorage is the newest storage version that the linked DuckDB reads.
const newestStorage = 68

// fileHead is what the first bytes of a database file say about the program that wrote it.
type fileHead struct {
	storage uint64
	writer  string
}

// readFileHead reads the head of a database file, and reports whether the file has one. The head is a checksum of 8
// bytes, DUCK, the storage version in 8 bytes, 32 bytes of flags, and the name of the writer's version in 32 bytes.
func readFileHead(file string) (head fileHead, ok bool) {
	f, err := os.Open(file)
	if err != nil {
		return head, false
	}
	defer func() { _ = f.Close() }()
	var b [84]byte
	if _, err := io.ReadFull(f, b[:]); err != nil || string(b[8:12]) != "DUCK" {
		return head, false
	}
	head.storage, head.writer = binary.LittleEndian.Uint64(b[12:20]), "an unknown version of DuckDB"
	name, _, _ := bytes.Cut(b[52:84], []byte{0})
	version := func(c rune) bool { return c != '.' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') }
	if len(name) > 0 && !bytes.ContainsFunc(name, version) {
		head.writer = "DuckDB " + string(name)
	}
	return head, true
}
