// Package parquet writes synthetic tables as Parquet files, whose columns have the types of the real table.
package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"dither/internal/engine/duckdb"
	"dither/internal/policy"
	"dither/internal/value"
	"dither/synth"
)

// errStopped ends the rows when the writer has failed.
var errStopped = errors.New("stopped")

// Write writes the rows of a result into a new file, in order.
func Write(ctx context.Context, file string, r *synth.Result) error {
	table := &policy.Table{Public: true}
	for _, c := range r.Plan.Columns {
		t, known := value.ParseType(c.Type)
		if !known {
			return fmt.Errorf("parquet: there is no type %q", c.Type)
		}
		table.Columns = append(table.Columns, &policy.Column{Name: c.Name, Type: t, Nullable: true})
	}
	tmp, err := os.MkdirTemp(filepath.Dir(file), ".dither-parquet-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // the writer has emptied it
	// The writer calls back from threads of its own, so the rows come from another goroutine, in batches.
	batches, ended, stopped := make(chan [][]value.Value, 2), make(chan error, 1), make(chan struct{})
	go func() {
		err := batched(r, table, func(batch [][]value.Value) error {
			select {
			case batches <- batch:
				return nil
			case <-stopped:
				return errStopped
			}
		})
		ended <- err // before batches is closed
		close(batches)
	}()
	defer close(stopped)
	var batch [][]value.Value
	return duckdb.NewSealer(tmp).Write(ctx, file, table, func(row []value.Value) error {
		if len(batch) == 0 {
			var more bool
			if batch, more = <-batches; !more {
				if err := <-ended; err != nil {
					return err
				}
				return io.EOF
			}
		}
		copy(row, batch[0])
		batch = batch[1:]
		return nil
	})
}

// batchRows is the number of rows of a batch.
const batchRows = 1024

// batched calls yield for each batch of rows, with values of the table's types.
func batched(r *synth.Result, table *policy.Table, yield func([][]value.Value) error) error {
	var batch [][]value.Value
	err := r.Each(func(texts []string, null []bool) error {
		row := make([]value.Value, len(texts))
		for i, text := range texts {
			if row[i] = value.NullOf(table.Columns[i].Type); null[i] {
				continue
			}
			var err error
			if row[i], err = value.Parse(table.Columns[i].Type, text); err != nil {
				return err
			}
		}
		if batch = append(batch, row); len(batch) < batchRows {
			return nil
		}
		full := batch
		batch = nil
		return yield(full)
	})
	if err != nil || len(batch) == 0 {
		return err
	}
	return yield(batch)
}
