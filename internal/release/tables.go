package release

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/duckdb"
	"dither/internal/engine/postgres"
	"dither/internal/seal"
)

// Sealed returns the current versions of the tables that b reads, in the order of its Tables, and their numbers.
func (k *Kernel) Sealed(b *bounded.Statement) (tables []seal.Version, versions []int, err error) {
	for _, name := range b.Tables() {
		v, err := k.Current(name)
		if err != nil {
			return nil, nil, err
		}
		tables, versions = append(tables, v), append(versions, v.Number)
	}
	return tables, versions, nil
}

// Current returns the sealed version of a table that questions read. It returns an error if the policy is not in
// force, or if the version is not the one that the ledger recorded.
func (k *Kernel) Current(table string) (seal.Version, error) {
	s, err := k.ledger.State()
	if err != nil {
		return seal.Version{}, err
	}
	if s.Terms.Digest != k.policy.Digest() {
		return seal.Version{}, &NotInForceError{s}
	}
	v, err := seal.Current(k.home, k.policy.Table(table))
	if err != nil {
		return seal.Version{}, &TableError{table, err}
	}
	if recorded := s.Sealed[v.Table]; recorded.Version != v.Number || recorded.SHA256 != v.SHA256 {
		return seal.Version{}, ErrNotRecorded
	}
	return v, nil
}

// hold checks, before anything is charged, that sealed versions hold the bytes that were sealed. It keeps the
// versions from being removed until release is called.
func (k *Kernel) hold(ctx context.Context, tables []seal.Version) (release func(), err error) {
	var held []func()
	release = func() {
		for _, give := range held {
			give()
		}
	}
	for _, v := range tables {
		give, err := k.checks.Hold(ctx, v)
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, give)
	}
	return release, nil
}

// reader returns a reader, an engine with the sealed versions, for the tables of an access.
func (k *Kernel) reader(l *Look) reader {
	return reader{engine: k.engine, sealed: k.from(l), dir: filepath.Join(k.home, "tmp")}
}

// from returns the sealed versions that an access reads, in the form that engines take.
func (k *Kernel) from(l *Look) engine.Sealed {
	out := k.known(l.tables[0])
	if l.statements[0].Source == nil {
		return out
	}
	out = engine.Sealed{Table: out.Table, Tables: map[string]engine.Sealed{}}
	for _, v := range l.tables {
		out.Tables[v.Table] = k.known(v)
	}
	return out
}

// known returns a sealed version in the form that engines take. For files and copies it includes the facts that
// sealing recorded. For a live table read in place it only includes the table's state, so that the owner can be
// warned if the table changes. Its rows may have changed since, so no sensitivity may depend on recorded facts.
func (k *Kernel) known(v seal.Version) engine.Sealed {
	if v.Copy != nil {
		return postgres.Known(v, k.policy.Table(v.Table))
	}
	if v.Live {
		state, err := seal.State(v)
		if err != nil {
			k.tellOwner(err)
		}
		return engine.Sealed{Table: v.Table, Relation: v.Relation, State: state, Changed: func(string) {
			if err := seal.NoteChange(v, time.Now()); err != nil {
				k.tellOwner(err)
			}
			k.tellOwner(
				fmt.Errorf(
					"table %s seems to have changed since version %d was sealed: seal it again, so that its new "+
						"contents get a version number",
					v.Table,
					v.Number,
				),
			)
		}}
	}
	return duckdb.Known(v, k.policy.Table(v.Table))
}
