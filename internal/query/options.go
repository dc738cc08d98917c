package query

import (
	"strings"

	"dither/internal/value"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Options is the clause of GoogleSQL, SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(name = value, …) …, or its old form
// WITH ANONYMIZATION. The caller interprets the options.
type Options struct {
	At        Pos
	Anonymize bool // the clause has the old form
	List      []Option
	inside    Pos // for a clause inside parentheses: the position after the clause; zero for any other
}

// Heads reports whether the clause belongs to s, a SELECT of its question: it is not inside parentheses, or the SELECT
// list of s follows it.
func (o *Options) Heads(s *Select) bool {
	if o == nil || o.inside == (Pos{}) {
		return true
	}
	first := Pos{}
	note := func(at Pos) {
		if at.Line > 0 && (first == Pos{} || at.Line < first.Line || at.Line == first.Line && at.Column < first.Column) {
			first = at
		}
	}
	if s.Distinct {
		note(s.DistinctAt)
	}
	_, _ = Rewrite(s.Items[0].Expr, func(x Expr) (Expr, error) {
		note(x.Pos())
		return x, nil
	})
	return first == o.inside
}

// Outermost returns the clause as one that is not inside parentheses.
func (o *Options) Outermost() *Options {
	if o == nil {
		return nil
	}
	out := *o
	out.inside = Pos{}
	return &out
}

// Option is name = value. The value is a *Literal, a *Binary of numbers (1 / 2 + 3), or, for an unquoted word or path,
// a *Column. Name is folded to lower case.
type Option struct {
	At    Pos
	Name  string
	Value Expr
}

// PostgreSQL's grammar has neither the clause nor COUNT(*, name => value). Both are removed from the text before
// its parser sees it. They are found by the scanner's tokens, so no comment and no text constant is mistaken for
// one. No statement of PostgreSQL's grammar contains either form: in it, WITH never follows SELECT, and a comma
// never follows an asterisk after a parenthesis. The replacement has as many bytes and characters, so all positions
// stay the same.

// rewritten returns the text that PostgreSQL's parser gets.
func rewritten(sql string, tokens []*pg.ScanToken) string {
	tokens = significant(tokens)
	out := []byte(sql)
	if from, to, _ := clause(sql, tokens); from < to {
		begin, end := max(int(tokens[from].GetStart()), 0), min(int(tokens[to-1].GetEnd()), len(out))
		if end-begin < len("WITH ANONYMIZATION") {
			return sql
		}
		for i := begin; i < end; i++ {
			if out[i] < 0x80 && out[i] != '\n' {
				out[i] = ' '
			}
		}
		copy(out[begin:], "/*") // characters beyond ASCII stay in the text, so the clause becomes a comment
		copy(out[end-2:], "*/")
	}
	for _, at := range stars(tokens) {
		if at < len(out) && out[at] == '*' {
			out[at] = '1'
		}
	}
	for _, at := range alls(sql, tokens) {
		copy(out[at:], "1  ")
	}
	quoteIntervals(out, tokens)
	dropPrecisions(out, tokens)
	return string(out)
}

// quoteIntervals turns INTERVAL 30 DAY, as other databases write it, into INTERVAL'30DAY', which has as many bytes.
func quoteIntervals(out []byte, tokens []*pg.ScanToken) {
	for i := 0; i+2 < len(tokens); i++ {
		if tokens[i].GetToken() != pg.Token_INTERVAL || tokens[i+1].GetToken() != pg.Token_ICONST {
			continue
		}
		begin, end := int(tokens[i].GetEnd()), int(tokens[i+2].GetEnd())
		n0, n1, unit := int(tokens[i+1].GetStart()), int(tokens[i+1].GetEnd()), int(tokens[i+2].GetStart())
		if begin < 0 || end > len(out) || begin >= n0 || n1 >= unit || value.Unit(strings.ToLower(string(out[unit:end]))) == "" {
			continue
		}
		text := "'" + string(out[n0:n1]) + string(out[unit:end]) + "'"
		if gap := string(out[begin:n0]) + string(out[n1:unit]); strings.Trim(gap, " \t\n\r") != "" { // a comment
			continue
		}
		copy(out[begin:end], text+strings.Repeat(" ", end-begin-len(text)))
	}
}

// dropPrecisions turns INTERVAL '90' DAY (3), as the standard writes it, into INTERVAL '90' DAY. The number in
// parentheses bounds the digits of the constant, and does not change it.
func dropPrecisions(out []byte, tokens []*pg.ScanToken) {
	for i := 0; i+5 < len(tokens); i++ {
		t := tokens[i : i+6]
		switch t[2].GetToken() {
		case pg.Token_YEAR_P, pg.Token_MONTH_P, pg.Token_DAY_P, pg.Token_HOUR_P, pg.Token_MINUTE_P:
		default:
			continue
		}
		if t[0].GetToken() != pg.Token_INTERVAL || t[1].GetToken() != pg.Token_SCONST || t[3].GetToken() != pg.Token_ASCII_40 ||
			t[4].GetToken() != pg.Token_ICONST || t[5].GetToken() != pg.Token_ASCII_41 {
			continue
		}
		for _, part := range t[3:] {
			for at := max(int(part.GetStart()), 0); at < min(int(part.GetEnd()), len(out)); at++ {
				out[at] = ' '
			}
		}
	}
}

// stars returns the offsets of the asterisks that follow a parenthesis and precede a comma.
func stars(tokens []*pg.ScanToken) (out []int) {
	for i := 1; i+1 < len(tokens); i++ {
		if tokens[i-1].GetToken() == pg.Token_ASCII_40 && tokens[i].GetToken() == pg.Token_ASCII_42 &&
			tokens[i+1].GetToken() == pg.Token_ASCII_44 {
			out = append(out, int(tokens[i].GetStart()))
		}
	}
	return out
}

// clauseWords are the words that may follow SELECT WITH.
var clauseWords = map[string]bool{"differential_privacy": true, "anonymization": true}

// clause returns the range of tokens of the clause, from WITH on. The range is [0, 0) unless the clause comes
// directly after a SELECT. It ends before the first token that cannot belong to the clause. If there are several, the
// first outside parentheses counts, or else the first. The result inside is set for one inside parentheses.
func clause(sql string, tokens []*pg.ScanToken) (from, to int, inside bool) {
	depth := 0
	for i, t := range tokens {
		switch t.GetToken() {
		case pg.Token_ASCII_40:
			depth++
		case pg.Token_ASCII_41:
			depth--
		case pg.Token_SELECT:
			if !introduces(sql, tokens, i+1) {
				break
			}
			if depth == 0 {
				return i + 1, listEnd(sql, tokens, i+3), false
			}
			if from == to {
				from, to, inside = i+1, listEnd(sql, tokens, i+3), true
			}
		default:
		}
	}
	return from, to, inside
}

// introduces reports whether WITH DIFFERENTIAL_PRIVACY or WITH ANONYMIZATION begins at token i.
func introduces(sql string, tokens []*pg.ScanToken, i int) bool {
	return i+1 < len(tokens) && (tokens[i].GetToken() == pg.Token_WITH || tokens[i].GetToken() == pg.Token_WITH_LA) &&
		tokens[i+1].GetToken() == pg.Token_IDENT &&
		clauseWords[strings.ToLower(spelled(sql, tokens[i+1]))]
}

// listEnd returns the index after OPTIONS(…) at token i, or i if there is no such list.
func listEnd(sql string, tokens []*pg.ScanToken, i int) int {
	if i+1 >= len(tokens) || !strings.EqualFold(spelled(sql, tokens[i]), "options") ||
		tokens[i+1].GetToken() != pg.Token_ASCII_40 {
		return i
	}
	depth := 1
	for j := i + 2; j < len(tokens); j++ {
		switch tokens[j].GetToken() {
		case pg.Token_ASCII_41:
			if depth--; depth == 0 {
				return j + 1
			}
		case pg.Token_ASCII_40:
			depth++
		case pg.Token_ASCII_59, pg.Token_FROM: // no option contains them, so the list was not closed
			return i
		default:
		}
	}
	return i
}

// spelled returns the text of a token.
func spelled(sql string, t *pg.ScanToken) string {
	start := min(max(int(t.GetStart()), 0), len(sql))
	return sql[start:min(max(int(t.GetEnd()), start), len(sql))]
}

// options parses the clause, if there is one, and removes its tokens.
func (l *lowering) options() (*Options, error) {
	from, to, inside := clause(string(l.text), l.tokens)
	if from == to {
		return nil, l.misplaced()
	}
	r := optionReader{lowering: l, tokens: l.tokens[from:to]}
	out := &Options{At: r.at(0), Anonymize: strings.EqualFold(l.tokenText(r.tokens[1]), "anonymization")}
	if inside && to < len(l.tokens) {
		out.inside = l.text.pos(int(l.tokens[to].GetStart()))
	}
	rest := append(append([]*pg.ScanToken(nil), l.tokens[:from]...), l.tokens[to:]...)
	if len(r.tokens) == 2 && to < len(l.tokens) && strings.EqualFold(l.tokenText(l.tokens[to]), "options") {
		return nil, &Error{
			Pos: l.text.pos(int(l.tokens[to].GetStart())), Message: "the list of options does not end",
			Hint: "write OPTIONS(epsilon = 1, max_groups_contributed = 2)",
		}
	}
	var err error
	if len(r.tokens) > 2 {
		out.List, err = r.list(r.tokens[4 : len(r.tokens)-1])
	}
	l.tokens = rest
	if err == nil {
		err = l.misplaced()
	}
	return out, err
}

// unread returns the error for a text that PostgreSQL's parser refuses. If the text has faulty GoogleSQL syntax,
// the error explains that.
func unread(src text, tokens []*pg.ScanToken, err error) error {
	l := &lowering{text: src, tokens: significant(tokens)}
	if _, err := l.options(); err != nil {
		return err
	}
	for i, t := range l.tokens {
		if i > 0 && i+1 < len(l.tokens) && t.GetToken() == pg.Token_IDENT &&
			l.tokens[i+1].GetToken() == pg.Token_BETWEEN && strings.EqualFold(l.tokenText(t), "clamped") {
			return src.refuse(int(t.GetStart()), "write SUM(x, contribution_bounds_per_group => (0, 100))",
				"CLAMPED BETWEEN is not supported")
		}
	}
	e := parserError(src, err)
	if hint := l.habit(); hint != "" {
		e.Hint = hint
	} else if e.Hint == "" {
		e.Hint = l.textAsName(e.Pos)
	}
	return e
}

// habit returns what to write for a form of other databases that PostgreSQL's grammar does not have; "" if the text has
// none.
func (l *lowering) habit() string {
	for i, t := range l.tokens {
		next := func(n int) string {
			if i+n >= len(l.tokens) || i+n < 0 {
				return ""
			}
			return strings.ToLower(l.tokenText(l.tokens[i+n]))
		}
		number := func(n int) bool { s := next(n); return s != "" && strings.Trim(s, "0123456789") == "" }
		switch strings.ToLower(l.tokenText(t)) {
		case "top":
			if hint := l.top(i); hint != "" {
				return hint
			}
		case "all":
			if next(-1) == "by" && next(-2) == "group" {
				return "list the keys, as in GROUP BY 1, 2; GROUP BY ALL stands alone"
			}
		case "interval":
			if unit := value.Unit(next(2)); number(1) && isWord(l.tokens[i+2], next(2)) {
				return "write INTERVAL '" + next(1) + " " + unit + "'"
			}
		case "{", "$":
			if next(1) == "{" || strings.HasPrefix(next(1), "_") {
				return "this is a variable of a tool, which replaces it before it sends the question: write its value"
			}
		case ":", "?":
			return "write the value itself: parameters are not supported"
		case "with":
			if next(1) == "rollup" {
				return "write GROUP BY ROLLUP (a, b)"
			}
		case ",":
			if next(1) == "from" {
				return "leave out the comma before FROM"
			}
		case "pivot":
			if next(1) == "(" && next(-1) != "." {
				return "write SUM(CASE WHEN key = 'a' THEN n END) AS a for each value of the key"
			}
		case "limit":
			if number(1) && next(2) == "," && number(3) {
				return "write LIMIT " + next(3) + " OFFSET " + next(1)
			}
		}
	}
	return ""
}

// misplaced refuses a second clause.
func (l *lowering) misplaced() error {
	for i, t := range l.tokens {
		if t.GetToken() == pg.Token_SELECT && introduces(string(l.text), l.tokens, i+1) {
			return l.text.refuse(int(l.tokens[i+1].GetStart()),
				"write it once, after the SELECT of the aggregates",
				"the clause is allowed only once, for the whole question")
		}
	}
	return nil
}

// optionReader parses a list of name = value.
type optionReader struct {
	*lowering
	tokens []*pg.ScanToken
}

func (r *optionReader) at(i int) Pos { return r.text.pos(int(r.tokens[i].GetStart())) }

func (r *optionReader) list(tokens []*pg.ScanToken) (out []Option, err error) {
	for len(tokens) > 0 {
		end, depth := 0, 0
		for end < len(tokens) && (depth > 0 || tokens[end].GetToken() != pg.Token_ASCII_44) {
			depth += nesting(tokens[end])
			end++
		}
		o, err := r.option(tokens[:end], tokens)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
		if end == len(tokens) {
			return out, nil
		}
		if tokens = tokens[end+1:]; len(tokens) == 0 {
			return nil, r.text.refuse(int(r.tokens[len(r.tokens)-1].GetStart()), "leave out the comma",
				"an option is missing after the comma")
		}
	}
	return out, nil
}

func (r *optionReader) option(tokens, rest []*pg.ScanToken) (Option, error) {
	if len(tokens) < 3 || tokens[1].GetToken() != pg.Token_ASCII_61 || !isWord(tokens[0], r.tokenText(tokens[0])) {
		return Option{}, r.text.refuse(int(rest[0].GetStart()),
			"write OPTIONS(epsilon = 1, max_groups_contributed = 2)", "an option must be a name, =, and a value")
	}
	o := Option{At: r.text.pos(int(tokens[0].GetStart())), Name: foldASCII(r.word(tokens[0]))}
	var err error
	o.Value, err = r.value(tokens[2:])
	return o, err
}

// isWord reports whether a token is a name, quoted or not, or a keyword.
func isWord(t *pg.ScanToken, text string) bool {
	return t.GetToken() == pg.Token_IDENT || t.GetKeywordKind() != pg.KeywordKind_NO_KEYWORD &&
		plain(strings.ToLower(text))
}

// word returns the name in a token, folded to lower case unless it is quoted.
func (r *optionReader) word(t *pg.ScanToken) string {
	text := r.tokenText(t)
	if strings.HasPrefix(text, `"`) {
		return strings.ReplaceAll(strings.TrimSuffix(text[1:], `"`), `""`, `"`)
	}
	return foldASCII(text)
}

// foldASCII folds a name as PostgreSQL does.
func foldASCII(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}, s)
}

// mostOperators bounds the operators in the value of an option.
const mostOperators = 8

// nesting is 1 for an opening parenthesis, -1 for a closing one, and 0 for any other token.
func nesting(t *pg.ScanToken) int {
	switch t.GetToken() {
	case pg.Token_ASCII_40:
		return 1
	case pg.Token_ASCII_41:
		return -1
	default:
		return 0
	}
}

// value parses numbers with + - * / between them, and parentheses around them, or one value.
func (r *optionReader) value(tokens []*pg.ScanToken) (Expr, error) {
	if len(tokens) > 3*mostOperators {
		return r.single(tokens)
	}
	for _, ops := range []map[pg.Token]BinaryOp{
		{pg.Token_ASCII_43: Add, pg.Token_ASCII_45: Sub}, {pg.Token_ASCII_42: Mul, pg.Token_ASCII_47: Div},
	} {
		depth := 0
		for i := len(tokens) - 1; i > 0; i-- { // the last operator of those that bind least
			depth += nesting(tokens[i])
			op, ok := ops[tokens[i].GetToken()]
			before := tokens[i-1].GetToken()
			if !ok || depth != 0 || i == len(tokens)-1 ||
				before != pg.Token_ICONST && before != pg.Token_FCONST && before != pg.Token_ASCII_41 {
				continue
			}
			left, err := r.value(tokens[:i])
			if err != nil {
				return nil, err
			}
			right, err := r.value(tokens[i+1:])
			return &Binary{At: r.text.pos(int(tokens[i].GetStart())), Op: op, L: left, R: right}, err
		}
	}
	if last := len(tokens) - 1; last > 1 && nesting(tokens[0]) > 0 && nesting(tokens[last]) < 0 {
		return r.value(tokens[1:last])
	}
	return r.single(tokens)
}

// single parses a number, NULL, TRUE, FALSE, a text, a word, or a path of two words.
func (r *optionReader) single(tokens []*pg.ScanToken) (Expr, error) {
	at := r.text.pos(int(tokens[0].GetStart()))
	text, rest := r.tokenText(tokens[0]), tokens[1:]
	switch kind := tokens[0].GetToken(); {
	case len(rest) == 0 && kind == pg.Token_NULL_P:
		return &Literal{At: at, Kind: NullLiteral}, nil
	case len(rest) == 0 && (kind == pg.Token_TRUE_P || kind == pg.Token_FALSE_P):
		return &Literal{At: at, Kind: BooleanLiteral, Bool: kind == pg.Token_TRUE_P}, nil
	case len(rest) == 0 && kind == pg.Token_SCONST && strings.HasPrefix(text, "'"):
		return &Literal{
			At: at, Kind: StringLiteral,
			Text: strings.ReplaceAll(strings.TrimSuffix(text[1:], "'"), "''", "'"),
		}, nil
	case len(rest) == 0 && (kind == pg.Token_ICONST || kind == pg.Token_FCONST):
		return number(text, at)
	case len(rest) == 1 && (kind == pg.Token_ASCII_45 || kind == pg.Token_ASCII_43) &&
		(rest[0].GetToken() == pg.Token_ICONST || rest[0].GetToken() == pg.Token_FCONST):
		return number(strings.TrimPrefix(text, "+")+r.tokenText(rest[0]), at)
	case len(rest) == 0 && isWord(tokens[0], text):
		return &Column{At: at, Name: r.word(tokens[0])}, nil
	case len(rest) == 2 && isWord(tokens[0], text) && rest[0].GetToken() == pg.Token_ASCII_46 &&
		isWord(rest[1], r.tokenText(rest[1])):
		return &Column{At: at, Table: r.word(tokens[0]), Name: r.word(rest[1])}, nil
	}
	if len(rest) > 0 && isWord(tokens[0], text) && nesting(rest[0]) > 0 {
		return nil, r.text.refuse(int(tokens[0].GetStart()), "write the number itself", "an option does not compute %s", strings.ToUpper(text))
	}
	return nil, &Error{Pos: at, Message: "this cannot be the value of an option", Hint: "write a number such as 2, NULL, or a name"}
}

func (p *printer) options(o *Options) {
	if o == nil {
		return
	}
	word := "DIFFERENTIAL_PRIVACY"
	if o.Anonymize {
		word = "ANONYMIZATION"
	}
	p.write("WITH " + word + " ")
	if len(o.List) == 0 {
		return
	}
	p.write("OPTIONS(")
	for i, x := range o.List {
		p.comma(i)
		p.write(quote(x.Name) + " = ")
		p.expr(x.Value, 0)
	}
	p.write(") ")
}
