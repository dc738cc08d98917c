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

// Order implements engine.Engine. All passes read the snapshot that the first statement saw, which is held until ctx ends: without
// an end of ctx the connection is never given back.
func (e *Engine) Order(ctx context.Context, b *plan.Bounded, from engine.Sealed) (mechanism.Ordered, error) {
	scan, err := e.scan(ctx, b, from)
	if err != nil {
		return mechanism.Ordered{}, err
	}
	return mechanism.NewOrdered(scan), nil
}

// scan is a pass over the values of b's one measure: a cursor, which the server advances page by page.
func (e *Engine) scan(ctx context.Context, b *plan.Bounded, from engine.Sealed) (func(yield func(value, count int64) bool) error, error) {
	s, statement, err := e.prepare(ctx, b, from)
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
	return func(yield func(value, count int64) bool) error {
		busy.Lock()
		defer busy.Unlock()
		if err := s.query(ctx, "DECLARE pass NO SCROLL CURSOR FOR "+statement, nothing); err != nil {
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
			if err != nil {
				return err
			}
			if enough || values < e.page {
				return s.query(ctx, "CLOSE pass", nothing)
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
