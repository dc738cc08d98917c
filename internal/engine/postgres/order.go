package postgres

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"dither/internal/engine"
	"dither/internal/plan"
	"dither/mechanism"
)

// defaultPage is how many distinct values are fetched at a time.
const defaultPage = 1 << 16

// Order implements engine.Engine. All passes read the values that the first found: they are held, and with them a connection, until ctx
// ends; without an end of ctx the connection is never given back.
func (e *Engine) Order(ctx context.Context, b *plan.Bounded, from engine.Sealed) (mechanism.Ordered, error) {
	scan, err := e.scan(ctx, b, from)
	if err != nil {
		return mechanism.Ordered{}, err
	}
	return mechanism.NewOrdered(scan), nil
}

// scan is a pass over the values of b's one measure: a cursor, which the server advances page by page, and which later passes move back to
// its beginning. The server keeps what a SCROLL cursor gave, and does not run its statement again: over a view that draws lots another run
// would be another table.
func (e *Engine) scan(ctx context.Context, b *plan.Bounded, from engine.Sealed) (func(yield func(value, count int64) bool) error, error) {
	s, in, err := e.prepare(ctx, b, from)
	if err != nil {
		return nil, err
	}
	var busy sync.Mutex // a connection is for one goroutine at a time
	context.AfterFunc(ctx, func() {
		busy.Lock()
		defer busy.Unlock()
		s.end()
	})
	nothing := func([][]byte) error { return nil }
	begun := false
	begin := func() error {
		if begun {
			return s.query(ctx, "MOVE ABSOLUTE 0 IN pass", nothing)
		}
		begun = true
		if err := s.query(ctx, "DECLARE pass SCROLL CURSOR FOR "+render(b, in), nothing); err != nil {
			return err
		}
		return in.still(ctx)
	}
	return func(yield func(value, count int64) bool) error {
		busy.Lock()
		defer busy.Unlock()
		if err := begin(); err != nil {
			return err
		}
		for {
			values, enough := 0, false
			err := s.query(ctx, fmt.Sprintf("FETCH FORWARD %d FROM pass", e.page), func(row [][]byte) error {
				v, n, err := valueAndCount(row)
				if err != nil {
					return err
				}
				values++
				enough = enough || !yield(v, n)
				return nil
			})
			if err != nil || enough || values < e.page {
				return err
			}
		}
	}, nil
}

func valueAndCount(row [][]byte) (v, n int64, err error) {
	if len(row) == 2 {
		if v, err = strconv.ParseInt(string(row[0]), 10, 64); err == nil {
			n, err = strconv.ParseInt(string(row[1]), 10, 64)
		}
	}
	if err != nil || len(row) != 2 {
		return 0, 0, fmt.Errorf("postgres: a value and its count that read %q", row)
	}
	return v, n, nil
}
