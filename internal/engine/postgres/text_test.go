package postgres

import (
	"cmp"
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine/postgres/pgtest"
	"dither/internal/stattest"
	texts "dither/internal/text"
	"dither/internal/value"
)

// serverForms has, for each function whose call in SQL is no list of arguments, its SQL. $1 and $2 are the arguments.
var serverForms = map[string]string{
	"||": "$1 || $2", "like": "$1 LIKE $2", "ilike": "$1 ILIKE $2", "~": "$1 ~ $2", "~*": "$1 ~* $2",
	"similar_to": "$1 SIMILAR TO $2", "trim": "btrim($*)", "position": "position($2 IN $1)",
}

// The functions of texts that are evaluated at plan time mean what a server computes: wherever the package has a value,
// the server has the same one. Texts are of few characters, so that patterns match often.
func TestTextFunctionsAgreeWithServer(t *testing.T) {
	stattest.Cases(t, 4000)
	pgtest.Start(t).NeedICU(t)
	b := emptyBench(t, []byte(joinsPolicy))
	words := rapid.StringOfN(rapid.SampledFrom([]rune("abAB 1é-")), 0, 6, -1)
	patterns := rapid.StringOfN(rapid.SampledFrom([]rune(`aaaAb1. %_*+?|()[]^$\d-{2}`)), 0, 6, -1)
	compared := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(texts.Names()).Draw(t, "function")
		f, _ := texts.Named(name)
		var args []value.Value
		var sql []string
		for i := range rapid.IntRange(f.Least, min(f.Most, 4)).Draw(t, "arguments") {
			var v value.Value
			switch {
			case rapid.IntRange(0, 19).Draw(t, "null") == 0:
				v = value.NullOf(cmp.Or(f.Param(i), value.Text))
			case f.Param(i) == value.Integer:
				v = value.OfInt(rapid.Int64Range(-4, 7).Draw(t, "number"))
			case i == 2 && name == "regexp_like" || i == 3:
				v = value.OfText(rapid.SampledFrom([]string{"", "i", "g", "gi", "c"}).Draw(t, "flags"))
			case f.Param(i) == 0 && rapid.IntRange(0, 3).Draw(t, "other") == 0:
				v = rapid.SampledFrom([]value.Value{
					value.OfInt(-12), value.OfBool(true), value.OfReal(0.1), value.OfReal(1e15), value.OfReal(-1234.5),
					value.OfDay(19000), value.OfMicro(1e15 + 500000),
				}).Draw(t, "value")
			case i == 1:
				v = value.OfText(patterns.Draw(t, "pattern"))
			default:
				v = value.OfText(words.Draw(t, "text"))
			}
			args = append(args, v)
			sql = append(sql, literalOf(v))
		}
		if name == "||" && args[0].Type != value.Text && args[1].Type != value.Text {
			return // PostgreSQL has no such operator
		}
		want, ok := f.Of(args...)
		if !ok {
			return
		}
		call, form := serverForms[name]
		if !form {
			call = name + "($*)"
		}
		pairs := []string{"$*", strings.Join(sql, ", ")}
		for i, a := range sql {
			pairs = append(pairs, "$"+string(rune('1'+i)), a)
		}
		call = strings.NewReplacer(pairs...).Replace(call)
		rows, err := b.writer.Exec(context.Background(), "SELECT CAST(("+call+") AS text)").ReadAll()
		if err != nil {
			t.Fatalf("%s is %q here, and on the server: %v", call, texts.Of(want), err)
		}
		cell := rows[0].Rows[0][0]
		got, null := string(cell), cell == nil
		if null != want.Null || !null && got != texts.Of(want) {
			t.Fatalf("%s: %q (NULL: %t) on the server, and %q (NULL: %t) here", call, got, null, texts.Of(want), want.Null)
		}
		compared[name] = compared[name] || !null
	})
	for _, name := range texts.Names() {
		if !compared[name] {
			t.Errorf("%s was never compared", name)
		}
	}
}

// literalOf is a value as a constant of the server, whose texts have a collation that knows letters.
func literalOf(v value.Value) string {
	switch {
	case v.Null:
		return "CAST(NULL AS " + v.Type.String() + ")"
	case v.Type == value.Date:
		return "DATE '" + v.String() + "'"
	case v.Type == value.Timestamp:
		return "TIMESTAMP '" + v.String() + "'"
	case v.Type == value.Text:
		return "(CAST(" + quoted(v.Text) + ` AS text) COLLATE "und-x-icu")`
	case v.Type == value.Integer:
		return "CAST('" + v.String() + "' AS integer)"
	}
	return constant(v)
}
