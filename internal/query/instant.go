package query

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"dither/internal/value"
)

// A question may read the current time: now(), CURRENT_DATE and their like. Such a question would mean something else at
// another time, so AtInstant replaces these words by constants before anything else reads the question. All that comes
// later, from the plan to the ledger, sees constants alone. So two questions are the same if their constants are.

// Moved maps positions in a text that AtInstant returned to positions in the text that it was given.
type Moved struct {
	// Moment is the constant that stands for now() and other words that mean a time of day, as text; "" if there are none.
	Moment string
	pieces []moved
}

// moved is a replacement: of `was` characters at a column by `is` characters.
type moved struct {
	line, column int // in the new text
	was, is      int
}

// Before returns the position in the original text of a position in the new text.
func (m Moved) Before(p Pos) Pos {
	for i := len(m.pieces) - 1; i >= 0; i-- {
		switch x := m.pieces[i]; {
		case x.line != p.Line || p.Column < x.column:
		case p.Column < x.column+x.is: // within the constant
			p.Column = x.column
		default:
			p.Column += x.was - x.is
		}
	}
	return p
}

// instantWords maps the words that mean the current time to whether they mean the date alone. instantFunctions maps the
// functions without arguments that mean it, some of them other databases', likewise.
var instantWords = map[pg.Token]bool{
	pg.Token_CURRENT_DATE: true, pg.Token_CURRENT_TIMESTAMP: false, pg.Token_LOCALTIMESTAMP: false,
}

var instantFunctions = map[string]bool{
	"now": false, "transaction_timestamp": false, "statement_timestamp": false, "clock_timestamp": false,
	"getdate": false, "sysdatetime": false, "today": true, "curdate": true,
}

// AtInstant returns the text with the words that mean the current time replaced by constants of a local time, in
// microseconds. now is called only if there are such words. found reports whether there are. A text that cannot be read
// stays unchanged.
func AtInstant(sql string, now func() int64) (out string, places Moved, found bool) {
	if !mentionsTime(sql) || checkText(text(unmarked(sql)), defaultLimits) != nil {
		return sql, places, false
	}
	sql = unmarked(sql)
	p := parseOnThread(job{sql: sql, maxTokens: defaultLimits.tokens})
	l := &lowering{text: text(sql), tokens: significant(p.scan.GetTokens())}
	if len(p.scan.GetTokens()) > defaultLimits.tokens {
		return sql, places, false
	}
	var b strings.Builder
	done := 0
	for i := 0; i < len(l.tokens); i++ {
		length, day := l.instantAt(i)
		age := l.ageAt(i)
		if length == 0 && !age {
			continue
		}
		at := now()
		moment := value.OfMicro(at).String()
		constant := "TIMESTAMP '" + moment + "'"
		switch {
		case day || age:
			constant = "DATE '" + value.OfDay(value.DayOf(at)).String() + "'"
		case !l.isToken(i+length, pg.Token_TYPECAST) || !strings.EqualFold(l.textAt(i+length+1), "date"):
			places.Moment = moment
		}
		if name := l.selectedName(i, length); name != "" && !age {
			constant += " AS " + quote(name)
		}
		if age { // AGE(x) is AGE(CURRENT_DATE, x)
			length, constant = 2, l.tokenText(l.tokens[i])+"("+constant+", "
		}
		from, to := int(l.tokens[i].GetStart()), int(l.tokens[i+length-1].GetEnd())
		b.WriteString(sql[done:from])
		place := text(b.String()).pos(b.Len())
		before := l.text.pos(from)
		after := l.text.pos(to)
		if before.Line == after.Line {
			places.pieces = append(places.pieces, moved{place.Line, place.Column, after.Column - before.Column, len(constant)})
		}
		b.WriteString(constant)
		done, found = to, true
		i += length - 1
	}
	b.WriteString(sql[done:])
	return b.String(), places, found
}

// selectedName returns the name that PostgreSQL gives a column that is the current time alone: the word of the tokens from
// the i-th on. It returns "" if these tokens are no item of a SELECT list, or have an alias.
func (l *lowering) selectedName(i, length int) string {
	if next := i + length; next < len(l.tokens) {
		switch l.tokens[next].GetToken() {
		case pg.Token_ASCII_44, pg.Token_FROM, pg.Token_ASCII_41, pg.Token_ASCII_59:
		default:
			return ""
		}
	}
	word := i
	if l.isToken(i+1, pg.Token_ASCII_46) { // after pg_catalog
		word = i + 2
	}
	name := strings.Trim(strings.ToLower(l.tokenText(l.tokens[word])), `"`)
	if i == 0 {
		return ""
	}
	switch l.tokens[i-1].GetToken() {
	case pg.Token_SELECT, pg.Token_DISTINCT, pg.Token_ASCII_44:
	default:
		return ""
	}
	for nested, j := 0, i-1; j >= 0; j-- {
		switch l.tokens[j].GetToken() {
		case pg.Token_ASCII_41:
			nested++
		case pg.Token_ASCII_40:
			if nested--; nested < 0 { // an argument
				return ""
			}
		case pg.Token_SELECT:
			if nested == 0 {
				return name
			}
		case pg.Token_FROM, pg.Token_WHERE, pg.Token_BY, pg.Token_ON, pg.Token_HAVING, pg.Token_VALUES, pg.Token_ASCII_91:
			if nested == 0 { // another clause, or an array
				return ""
			}
		default:
		}
	}
	return ""
}

// mentionsTime reports whether a text may have a word that means the current time. It is quick for other texts.
func mentionsTime(sql string) bool {
	sql = strings.ToLower(sql)
	return slices.ContainsFunc(timeWords, func(word string) bool { return strings.Contains(sql, word) })
}

var timeWords = []string{
	"now", "current_", "localtimestamp", "_timestamp", "age(", "age (", "getdate", "sysdatetime", "today", "curdate",
}

// instantAt returns the number of tokens from the i-th on that mean the current time, or 0, and whether they mean the
// date alone.
func (l *lowering) instantAt(i int) (length int, day bool) {
	if i > 0 && l.tokens[i-1].GetToken() == pg.Token_ASCII_46 { // a part of a qualified name
		return 0, false
	}
	start := i
	if l.isToken(i+1, pg.Token_ASCII_46) && strings.EqualFold(l.tokenText(l.tokens[i]), "pg_catalog") {
		i += 2
	}
	if i >= len(l.tokens) {
		return 0, false
	}
	if day, ok := instantWords[l.tokens[i].GetToken()]; ok && i == start {
		if l.isToken(i+1, pg.Token_ASCII_40) && l.isToken(i+2, pg.Token_ICONST) && l.isToken(i+3, pg.Token_ASCII_41) && !day {
			return 4, false // with a precision, which a coarser constant does not need
		}
		if l.isToken(i+1, pg.Token_ASCII_40) && l.isToken(i+2, pg.Token_ASCII_41) { // CURRENT_DATE(), as other databases write it
			return 3, day
		}
		return 1, day
	}
	name := strings.ToLower(l.tokenText(l.tokens[i]))
	day, ok := instantFunctions[strings.Trim(name, `"`)]
	if !ok || !l.isToken(i+1, pg.Token_ASCII_40) || !l.isToken(i+2, pg.Token_ASCII_41) {
		return 0, false
	}
	return i + 3 - start, day
}

// ageAt reports whether the i-th token begins a call of AGE with one argument.
func (l *lowering) ageAt(i int) bool {
	if !strings.EqualFold(l.tokenText(l.tokens[i]), "age") || !l.isToken(i+1, pg.Token_ASCII_40) || l.isToken(i+2, pg.Token_ASCII_41) ||
		i > 0 && l.names(i-1) {
		return false
	}
	nested := 1
	for i += 2; i < len(l.tokens); i++ {
		switch l.tokens[i].GetToken() {
		case pg.Token_ASCII_40:
			nested++
		case pg.Token_ASCII_41:
			if nested--; nested == 0 { // WITH age(x) AS (…) names columns
				defines := l.isToken(i+2, pg.Token_ASCII_40) || l.isToken(i+2, pg.Token_MATERIALIZED) || l.isToken(i+2, pg.Token_NOT)
				return !l.isToken(i+1, pg.Token_AS) || !defines
			}
		case pg.Token_ASCII_44:
			if nested == 1 {
				return false
			}
		default:
		}
	}
	return false
}

// names reports whether the i-th token makes the next one a name: of a qualified name, or of an alias such as t AS age(x),
// t age(x) or (SELECT …) age(x).
func (l *lowering) names(i int) bool {
	switch l.tokens[i].GetToken() {
	case pg.Token_ASCII_46, pg.Token_AS, pg.Token_IDENT, pg.Token_ASCII_41:
		return true
	default:
		return false
	}
}

// textAt returns the text of the i-th token; "" if there is none.
func (l *lowering) textAt(i int) string {
	if i >= len(l.tokens) {
		return ""
	}
	return l.tokenText(l.tokens[i])
}

// isToken reports whether the i-th token exists and is of a kind.
func (l *lowering) isToken(i int, kind pg.Token) bool {
	return i < len(l.tokens) && l.tokens[i].GetToken() == kind
}
