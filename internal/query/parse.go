// Package query parses the text of a question into a small tree. PostgreSQL's grammar parses the text. A form that
// the tree cannot represent is refused, with the position, the reason and an alternative. docs/reference/sql.md
// defines the dialect. Package plan, not this one, deals with tables, types and privacy.
//
// The package promises three things. Parse neither panics nor kills the process, whatever the text (see limits and
// thread.go). Every error is an *Error. A tree's String parses back to the same tree.
package query

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"
)

// limits on the text of a question. They are checked before PostgreSQL's parser sees the text, except for depth.
// depth bounds the recursion of this package and of its callers.
//
// The C parser's stack grows with the number of tokens. On linux/amd64 (TestCrashDistance) the most demanding
// statement, a IS NULL IS NULL …, takes 350 bytes of stack per token, or 0.7 MiB at the limit. With a stack of
// stackSize, the process crashes at about 49,000 tokens, which is 24 times the limit. Constructs that nest to the
// right (parentheses, calls, subqueries) never get that far, since PostgreSQL's parser refuses more than 10,000
// open symbols.
type limits struct{ bytes, tokens, depth int }

var defaultLimits = limits{bytes: 16 << 10, tokens: 2048, depth: 200}

// maxName is PostgreSQL's NAMEDATALEN - 1. PostgreSQL truncates longer names silently; this package refuses them.
const maxName = 63

// Parse is [ParseIn] for UTC.
func Parse(sql string) (*Select, error) { return ParseIn(sql, nil) }

// ParseIn parses one SELECT statement. Constants with an offset from UTC become times of the zone; nil means UTC. Every
// error is an *Error.
func ParseIn(sql string, zone *time.Location) (*Select, error) {
	return parse(sql, defaultLimits, zone)
}

// Ahead parses several texts at once and caches the raw results, up to the cache's size. It saves time if Parse is
// called for these texts soon. It does not change the results of Parse.
func Ahead(sqls []string) {
	var js []job
	bytes := 0
	for _, sql := range sqls {
		sql = unmarked(sql)
		if bytes += len(sql); bytes > maxKeptBytes {
			break
		}
		if checkText(text(sql), defaultLimits) == nil {
			js = append(js, job{sql, defaultLimits.tokens})
		}
	}
	parseTogether(js)
}

func parse(sql string, lim limits, zone *time.Location) (*Select, error) {
	sql = unmarked(sql)
	src := text(sql)
	if err := checkText(src, lim); err != nil {
		return nil, err
	}
	p := parseOnThread(job{sql: sql, maxTokens: lim.tokens})
	if p.scan != nil { // without tokens the quotes are unknown; such a text is refused below
		if err := checkShown(src, p.scan.GetTokens()); err != nil {
			return nil, err
		}
	}
	if p.err != nil {
		return nil, unread(src, p.scan.GetTokens(), p.err)
	}
	tokens := p.scan.GetTokens()
	if n := len(tokens); n > lim.tokens {
		return nil, src.refuse(int(tokens[lim.tokens].GetStart()), "ask a shorter question",
			"the question has %d words and signs, more than %d", n, lim.tokens)
	}
	l := &lowering{
		text: src, tokens: significant(tokens), maxDepth: lim.depth, stars: map[int]bool{}, alls: map[int]bool{}, zone: zone,
	}
	for _, at := range stars(l.tokens) {
		l.stars[at] = true
	}
	for _, at := range alls(sql, l.tokens) {
		l.alls[at] = true
	}
	if err := l.checkNames(); err != nil {
		return nil, err
	}
	if err := l.topped(); err != nil {
		return nil, err
	}
	options, err := l.options()
	if err != nil {
		return nil, err
	}
	l.google = options != nil
	stmt, err := l.single(p.tree.GetStmts())
	if err != nil {
		return nil, err
	}
	s, err := l.selectStmt(stmt)
	if err != nil {
		return nil, err
	}
	s.series()
	if left := l.sources.tableNames; len(left) > 0 {
		return nil, left[0].refuse()
	}
	s.Options, s.Catalogs, s.Tables = options, l.sources.catalogs, l.sources.read
	return s, nil
}

// checkText refuses text that must not reach the C parser: too long, not UTF-8, or with a NUL, at which C would
// stop reading.
func checkText(src text, lim limits) error {
	if len(src) > lim.bytes {
		return src.refuse(0, "ask a shorter question", "the question has %d bytes, more than %d", len(src), lim.bytes)
	}
	for i, r := range string(src) {
		if r == 0 {
			return src.refuse(i, "remove it", "the question contains a NUL character")
		}
		if r == utf8.RuneError {
			if _, width := utf8.DecodeRuneInString(string(src[i:])); width == 1 {
				return src.refuse(i, "send the question as UTF-8", "the question is not valid UTF-8")
			}
		}
	}
	return nil
}

// parserError converts an error of PostgreSQL's parser to an *Error. The parser's position counts characters from
// 1; 0 means none.
func parserError(src text, err error) *Error {
	var e *parser.Error
	if !errors.As(err, &e) {
		return &Error{Pos: src.pos(0), Message: "the question cannot be read: " + err.Error()}
	}
	out := &Error{Pos: src.runePos(e.Cursorpos - 1), Message: shorten(e.Message)}
	if strings.HasSuffix(out.Message, "at end of input") {
		out.Pos, out.Hint = src.pos(len(src)), "something is missing at the end"
	} else {
		out.Hint = habits[strings.ToLower(out.Message)]
	}
	return out
}

// habits maps errors of the parser at words and signs of other databases to what to write instead.
var habits = map[string]string{
	"syntax error at or near \"qualify\"": "use a condition around it: SELECT … FROM (SELECT …, RANK() OVER (…) AS r …) q WHERE r <= 3",
	"syntax error at or near \"`\"":       "leave out the quotes of a name, or use double quotes",
	"syntax error at or near \"[\"":       "leave out the quotes of a name, or use double quotes",
	"limit #,# syntax is not supported":   "use LIMIT, with the number of rows, and OFFSET, with the number of rows before them",
}

// shorten truncates a long message, because the parser's messages may quote the rest of the question.
func shorten(message string) string {
	const most = 120
	if runes := []rune(message); len(runes) > most { // converting to runes also replaces invalid UTF-8
		return string(runes[:most]) + "…"
	}
	return strings.ToValidUTF8(message, "\uFFFD")
}

// significant returns the tokens that are not comments.
func significant(tokens []*pg.ScanToken) []*pg.ScanToken {
	out := tokens[:0:0]
	for _, t := range tokens {
		if t.GetToken() != pg.Token_SQL_COMMENT && t.GetToken() != pg.Token_C_COMMENT {
			out = append(out, t)
		}
	}
	return out
}

// checkNames refuses names that PostgreSQL would truncate.
func (l *lowering) checkNames() error {
	for _, t := range l.tokens {
		if t.GetToken() != pg.Token_IDENT && t.GetToken() != pg.Token_UIDENT {
			continue
		}
		name := l.tokenText(t)
		// a name in the form "…" or U&"…", in which an inner quote is doubled
		if open := strings.IndexByte(name, '"'); open >= 0 {
			name = strings.ReplaceAll(strings.TrimSuffix(name[open+1:], `"`), `""`, `"`)
		}
		if len(name) > maxName {
			return l.text.refuse(int(t.GetStart()), "", "a name of %d bytes is longer than %d", len(name), maxName)
		}
	}
	return nil
}

// tokenText returns the text of a token.
func (l *lowering) tokenText(t *pg.ScanToken) string {
	start := min(max(int(t.GetStart()), 0), len(l.text))
	return string(l.text[start:min(max(int(t.GetEnd()), start), len(l.text))])
}

// find returns the offset of the first token of a kind, preferably outside parentheses. If there is none, it
// returns the offset of the first token of the text.
func (l *lowering) find(kind pg.Token) int {
	nested, inside := 0, -1
	for _, t := range l.tokens {
		switch t.GetToken() {
		case pg.Token_ASCII_40:
			nested++
		case pg.Token_ASCII_41:
			nested--
		case kind:
			if nested == 0 {
				return int(t.GetStart())
			}
			if inside < 0 {
				inside = int(t.GetStart())
			}
		default:
		}
	}
	if inside >= 0 {
		return inside
	}
	return l.first(0)
}

// first returns the offset of the first token that does not begin before the offset `from`, or the length of the text
// if there is none.
func (l *lowering) first(from int) int {
	for _, t := range l.tokens {
		if int(t.GetStart()) >= from {
			return int(t.GetStart())
		}
	}
	return len(l.text)
}

// single returns the only statement, or an error unless there is exactly one and it is a SELECT.
func (l *lowering) single(stmts []*pg.RawStmt) (*pg.SelectStmt, error) {
	if len(stmts) == 0 {
		return nil, l.text.refuse(len(l.text), "write SELECT … FROM …", "there is no question")
	}
	if len(stmts) > 1 {
		at := l.first(int(stmts[1].GetStmtLocation()))
		return nil, l.text.refuse(at, "ask one question at a time",
			"there are %d statements where one is allowed", len(stmts))
	}
	at := l.first(int(stmts[0].GetStmtLocation()))
	if s := stmts[0].GetStmt().GetSelectStmt(); s != nil {
		return s, nil
	}
	verb, hint := l.verb(stmts[0].GetStmt(), at)
	return nil, l.text.refuse(at, hint, "%s: only SELECT is answered", verb)
}

// verb returns the message and the hint for a statement that is not a SELECT. The message names the statement by
// its first word after any WITH clause.
func (l *lowering) verb(stmt *pg.Node, at int) (verb, hint string) {
	hint = "write SELECT … FROM …"
	switch stmt.GetNode().(type) {
	case *pg.Node_ExplainStmt:
		verb, hint = "EXPLAIN", "use the `explain` command"
	case *pg.Node_InsertStmt:
		verb = "INSERT"
	case *pg.Node_UpdateStmt:
		verb = "UPDATE"
	case *pg.Node_DeleteStmt:
		verb = "DELETE"
	case *pg.Node_MergeStmt:
		verb = "MERGE"
	default:
		for _, t := range l.tokens {
			if int(t.GetStart()) == at {
				verb = strings.ToUpper(l.tokenText(t))
			}
		}
	}
	return fmt.Sprintf("%s is refused", verb), hint
}
