// Package parquet writes the made-up town of package town as Parquet files, with the engine's writer of sealed
// files.
package parquet

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"

	"dither/internal/engine/duckdb"
	"dither/internal/policy"
	"dither/internal/town"
	"dither/internal/value"
)

// Write writes people.parquet and visits.parquet in the folder, with permissions 0600, and returns their numbers of
// rows. Neither file may exist. Only one person's rows are in memory at a time. An error may leave files behind.
func Write(ctx context.Context, t town.Town, folder string) (people, visits int64, err error) {
	p, err := policy.Decode([]byte(t.Policy(town.Parquet)), folder)
	if err != nil {
		return 0, 0, err
	}
	tmp := filepath.Join(folder, "tmp")
	defer func() { _ = os.Remove(tmp) }() // the writer has emptied it
	sealer := duckdb.NewSealer(tmp)
	write := func(table *policy.Table, next func([]value.Value) error) (rows int64, err error) {
		if err := create(table.Source.File); err != nil {
			return 0, err
		}
		err = sealer.Write(ctx, table.Source.File, table, func(row []value.Value) error {
			if err := next(row); err != nil {
				return err
			}
			rows++
			return nil
		})
		return rows, err
	}
	if people, err = write(p.Table("people"), peopleOf(t)); err != nil {
		return 0, 0, err
	}
	visits, err = write(p.Table("visits"), visitsOf(t))
	return people, visits, err
}

// create creates an empty file, which the writer replaces.
func create(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// peopleOf returns a function that fills in one person's row at each call, in the order of the policy's columns,
// and then returns io.EOF.
//
// The function is a cursor, not a coroutine of iter.Pull, because DuckDB calls it from a thread of its own, where a
// coroutine cannot be resumed.
func peopleOf(t town.Town) func([]value.Value) error {
	id := int64(0)
	return func(row []value.Value) error {
		if id == t.Size() {
			return io.EOF
		}
		id++
		p := t.Person(id)
		copy(row, []value.Value{
			value.OfInt(p.ID), value.OfInt(int64(p.Age)), party(p.Party), value.OfText(p.Region), income(p.Income),
			value.OfBool(p.Voted), smoker(p.Smoker), value.OfBool(p.LungCancer), fraction(int64(p.Height), 10),
			value.OfBool(p.GroupQuarters), value.OfText(p.Race),
		})
		return nil
	}
}

// visitsOf returns a function that fills in one visit's row at each call, and then returns io.EOF.
func visitsOf(t town.Town) func([]value.Value) error {
	id, at := int64(0), 0
	var visits []town.Visit // visits of the current person
	return func(row []value.Value) error {
		for at == len(visits) {
			if id == t.Size() {
				return io.EOF
			}
			id++
			visits, at = slices.AppendSeq(visits[:0], t.Visits(t.Person(id))), 0
		}
		v := visits[at]
		at++
		copy(
			row,
			[]value.Value{
				value.OfInt(v.Person),
				value.OfDay(int64(v.Day)),
				value.OfText(v.Department),
				fraction(v.Cost, 100),
			},
		)
		return nil
	}
}

func party(p string) value.Value {
	if p == "" {
		return value.NullOf(value.Text)
	}
	return value.OfText(p)
}

func income(n int64) value.Value {
	if n == town.Unknown {
		return value.NullOf(value.Integer)
	}
	return value.OfInt(n)
}

func smoker(a town.Answer) value.Value {
	if a == town.NotSaid {
		return value.NullOf(value.Boolean)
	}
	return value.OfBool(a == town.Yes)
}

// fraction returns the double nearest to n / unit, which is also the value of the decimal in the CSV file.
func fraction(n, unit int64) value.Value {
	if n == town.Unknown {
		return value.NullOf(value.Real)
	}
	return value.OfReal(float64(n) / float64(unit))
}
