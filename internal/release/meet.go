package release

import (
	"errors"
	"fmt"
	"slices"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/postgres"
	"dither/internal/query"
)

// meet refuses a statement whose tables no single engine holds: rows never leave a server, and are never sent to
// one.
func (e *engines) meet(b *bounded.Statement) error {
	if b.Source == nil {
		return nil
	}
	tables := b.Tables()
	at := func(table string) string { return e.serverOf[table] }
	other := slices.IndexFunc(tables, func(table string) bool { return at(table) != at(tables[0]) })
	if other < 0 {
		return nil
	}
	one, two := tables[0], tables[other]
	if at(one) == "" {
		one, two = two, one
	}
	if at(two) == "" {
		return &engine.RefusedError{
			Message: fmt.Sprintf(
				"table %s is on a server, and table %s was sealed from a file: no rows leave the server, and none are sent to it",
				query.QuoteName(one),
				query.QuoteName(two),
			),
			Hint: "ask the owner to seal all tables of a relation from files, or to declare all of them on one server",
		}
	}
	return &engine.RefusedError{
		Message: fmt.Sprintf(
			"the policy declares tables %s and %s on different servers: no rows are sent from one server to another",
			query.QuoteName(one),
			query.QuoteName(two),
		),
		Hint: "ask the owner to declare all tables of a relation on one server, under one name of the server",
	}
}

// refuses returns the refusals of Rehearse that need no access to a table or a server.
func (e *engines) refuses(b *bounded.Statement, from engine.Sealed) error {
	if err := e.meet(b); err != nil {
		return err
	}
	if live, ok := e.of(b).(*postgres.Engine); ok {
		return live.Refuses(b, from.For(b))
	}
	return nil
}

// Explicable reports whether an access was released before. If not, it returns the refusal that the question would
// get, without contacting a server.
func (k *Kernel) Explicable(l *Look) (replayed bool, err error) {
	if replayed, err = k.ReleasedBefore(l); replayed || err != nil {
		return replayed, err
	}
	return false, k.Answerable(l)
}

// Answerable returns an error for an access that no engine supports, or that would exceed the time limit under the
// answer_delay. It does not contact a server.
func (k *Kernel) Answerable(l *Look) error {
	if _, err := k.DelayOf(l); err != nil {
		return err
	}
	e, ok := k.engine.(*engines)
	if !ok || len(e.live) == 0 { // the engine for files refuses nothing
		return nil
	}
	from := k.from(l)
	for _, b := range l.statements {
		err := e.refuses(b, from)
		var refused *engine.RefusedError
		if errors.As(err, &refused) {
			return unsupportedBy(refused)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
