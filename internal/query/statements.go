package query

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// blank has the characters that PostgreSQL's scanner skips between words.
const blank = " \t\n\r\f\v"

// maxStatements limits the bytes of a text of several statements.
const maxStatements = 1 << 20

// Statements splits a text at the semicolons between its statements. It reads quotes, dollar quotes and comments as
// PostgreSQL's scanner does, so a semicolon in one of them splits nothing. A piece without any word or sign is left out,
// and the others keep their comments, without the space around them. Every error is an *Error.
func Statements(sql string) ([]string, error) {
	sql = unmarked(sql)
	if err := checkText(text(sql), limits{bytes: maxStatements}); err != nil {
		return nil, err
	}
	p := parseOnThread(job{sql: sql}) // a job without tokens is scanned, and not parsed
	if p.err != nil {
		return nil, parserError(text(sql), p.err)
	}
	var out []string
	begin, words := 0, false
	add := func(end int) {
		if words {
			out = append(out, strings.Trim(sql[begin:end], blank))
		}
		words = false
	}
	for _, t := range p.scan.GetTokens() {
		switch t.GetToken() {
		case pg.Token_ASCII_59: // ;
			add(int(t.GetStart()))
			begin = int(t.GetEnd())
		case pg.Token_SQL_COMMENT, pg.Token_C_COMMENT:
		default:
			words = true
		}
	}
	add(len(sql))
	return out, nil
}
