package enginetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/splitmix"
	"dither/internal/value"
)

// aim is a pair of databases with questions that reach a bound which random questions seldom reach. One unit
// attains the bound, and no other unit hides this.
type aim struct {
	at               string // the bound, in words
	relation, change bool
	parts            bool     // the tables have parts
	sealed           bool     // planted errors of sealing are tried too
	older            bool     // the tables were sealed when the policy stored more rows of a unit
	edit             []string // replacements in the text of the policy: old, new, old, new, …
	// by table: the rows of the first and of the second database, as rowsLike parses them
	rows      map[string][2]string
	questions []question
}

// firstAim is the number of the first aim's first world. Each aim has six worlds, which differ in how their tables
// are sealed.
const firstAim = 60_000

// aimed runs all aims: it asks their questions of their databases. It returns an error if a question's results are
// equal in both databases, unless the question is of the kind "stored".
func (a *audited) aimed() error {
	for i, of := range aims() {
		for way := range a.Ways {
			number := firstAim + 6*i + 3*way
			if of.older {
				number += 4
			}
			if of.parts && !a.Parts(number) || of.older && way > 0 {
				continue
			}
			drawn, err := of.pair()
			if err != nil {
				return fmt.Errorf("aimed at %s: %w", of.at, err)
			}
			sealed, err := a.sealed(drawn, number)
			if err != nil {
				return fmt.Errorf("aimed at %s: %w", of.at, err)
			}
			a.resealed = of.sealed
			chance := splitmix.At(uint64(number))
			for _, asked := range of.questions {
				q, err := sealed.asks(asked)
				if err != nil {
					return fmt.Errorf("aimed at %s: %s: %w", of.at, asked.SQL, err)
				}
				moves, err := a.ask(sealed, q, &chance)
				if err == nil && asked.kind != "stored" && !slices.ContainsFunc(moves, func(m Move) bool { return m.Moved }) {
					err = fmt.Errorf("nothing moves")
				}
				if err != nil {
					return fmt.Errorf("aimed at %s, world %d: %s: %w", of.at, number, asked.SQL, err)
				}
			}
		}
	}
	a.resealed = true
	return nil
}

func (of aim) pair() (p pair, err error) {
	p.Change, p.Relation = of.change, of.relation
	neighbours := "add-remove"
	if of.change {
		neighbours = "change-one"
	}
	p.Text = policyText(neighbours, "1", "1")
	if of.relation {
		p.Text = relationPolicyText(neighbours, "1")
	}
	text := string(p.Text)
	for i := 0; i < len(of.edit); i += 2 {
		if !strings.Contains(text, of.edit[i]) {
			return p, fmt.Errorf("%q is not in the policy", of.edit[i])
		}
		text = strings.ReplaceAll(text, of.edit[i], of.edit[i+1])
	}
	if !of.parts {
		text = strings.NewReplacer(" part: {column: k},", "", " part: {column: k, per_unit: 1},", "").Replace(text)
	}
	p.Text = opened([]byte(text))
	if p.Policy, err = policy.Decode(p.Text, "."); err != nil {
		return p, err
	}
	for side := range p.of {
		p.of[side] = Tables{}
		for _, t := range p.Policy.Tables {
			if p.of[side][t.Name], err = rowsLike(t, of.rows[t.Name][side]); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// rowsLike parses rows. For example, "person=1 i=9 *3; person=2" is three equal rows and a fourth. A column that is
// not named has its first declared value, or else 0 or the bound nearest to 0.
func rowsLike(t *policy.Table, text string) (out []Row, err error) {
	for one := range strings.SplitSeq(text, ";") {
		fields := strings.Fields(one)
		if len(fields) == 0 {
			continue
		}
		r, times := Row{}, 1
		for _, c := range t.Columns {
			r[c.Name] = plainValue(c)
		}
		for _, f := range fields {
			if n, many := strings.CutPrefix(f, "*"); many {
				if times, err = strconv.Atoi(n); err != nil {
					return nil, err
				}
				continue
			}
			name, as, _ := strings.Cut(f, "=")
			c := t.Column(name)
			if c == nil {
				return nil, fmt.Errorf("table %s has no column %q", t.Name, name)
			}
			if r[name] = value.NullOf(c.Type); as != "NULL" {
				if r[name], err = bounded.ReadKey(c.Type, as); err != nil {
					return nil, err
				}
			}
		}
		for range times {
			out = append(out, r)
		}
	}
	return out, nil
}

func plainValue(c *policy.Column) value.Value {
	if len(c.Values) > 0 {
		return c.Values[0]
	}
	out := value.Value{Type: c.Type}
	if c.Lower != nil && c.Lower.Sign() > 0 {
		out.Int = c.Lower.Num().Int64()
		if c.Type == value.Real {
			out.Real, _ = c.Lower.Float64()
			out.Int = 0
		}
	}
	return out
}
