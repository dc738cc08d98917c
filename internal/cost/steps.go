package cost

import (
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// The steps of what is computed of one row: of either engine the slower, rounded up. The engines' BenchmarkUnitCost
// measure them against time (docs/reference/benchmarks.md).
const (
	stepsRow      = 100  // a row that is read, or handed on
	stepsColumn   = 10   // and each of its columns
	stepsPlain    = 5    // arithmetic, comparisons, logic, of each argument
	stepsRounding = 25   // and division
	stepsCurve    = 40   // EXP, LN, SQRT
	stepsPart     = 60   // a part of a date
	stepsTrunc    = 120  // and its beginning
	stepsListed   = 2    // a constant of IN, of which the first twenty are dearer
	stepsGroup    = 50   // a row's place among groups
	stepsSort     = 100  // a comparison of two rows
	stepsDigest   = 1700 // SHA-256 of a short text
	stepsTerm     = 5    // a product of two coordinates
	stepsByte     = 7    // of SHA-256, for each byte
	textPerStep   = 4    // bytes that are compared or copied in one step
	stepsRead     = 2    // of each byte of a text that is read from disk
	stepsMatch    = 5    // of LIKE, for each byte of the text
	stepsAgain    = 4    // and for each byte of the pattern that is compared at one place of the text, beyond the first
)

// Where more than fewWild of _ stand behind a %, DuckDB's regular expressions follow all places of the pattern at which a
// match may be: which ones these are can be another set at each byte of the text, of up to two to the power of as many.
const (
	fewWild    = 8
	stepsSet   = 2000 // of such a set, for each byte of the text
	stepsPlace = 70   // and for each byte of the pattern
)

// fewListed is how many constants are compared one by one.
const fewListed = 8

// cell is a column or an expression, as its readers see it.
type cell struct {
	width int64 // the most bytes of a text; of any other type those of its digits
	again int64 // the steps to compute it from the columns of tables: an engine may do so where a condition names it
}

// plainWidth is how long any value but a text is, in digits.
const plainWidth = 20

// eval is what e costs over such columns, and how wide it is. A column costs little, as computed before; deep counts
// what it stands for.
func eval(e *bounded.Expr, columns []cell, deep bool) (steps, width int64) {
	switch e.Op {
	case bounded.OpColumn:
		if deep {
			steps = columns[e.Column].again
		}
		return sum(steps, stepsPlain), columns[e.Column].width
	case bounded.OpConst:
		if e.Const.Type == value.Text {
			return 0, int64(len(e.Const.Text))
		}
		return 0, plainWidth
	}
	var first, longest, compared, listed int64
	var texts, shortest int64 // the widths of all texts, and the least
	for i, a := range e.Args {
		s, w := eval(a, columns, deep)
		steps = sum(steps, s)
		if i == 0 {
			first = w
		}
		if e.Op != bounded.OpCase || i%2 == 1 || i == len(e.Args)-1 { // of CASE the results
			longest = max(longest, w)
		}
		if a.Type == value.Text {
			compared = sum(compared, copied(w))
			listed = sum(listed, copied(min(first, w)))
			if texts, shortest = sum(texts, w), min(shortest, w); i == 0 {
				shortest = w
			} else {
				listed = sum(listed, 2*opened(min(first, w)))
			}
		}
	}
	if e.Type == value.Text {
		width = longest
	} else {
		width = plainWidth
	}
	of := stepsPlain * int64(max(len(e.Args), 1))
	switch e.Op {
	case bounded.OpNil:
		return sum(steps, of), width
	case bounded.OpDiv, bounded.OpMod, bounded.OpToInteger, bounded.OpFloor, bounded.OpCeil:
		return sum(steps, stepsRounding), width
	case bounded.OpRound, bounded.OpSqrt, bounded.OpLn: // which are written with their argument twice
		return sum(steps, steps, stepsCurve), width
	case bounded.OpExp:
		return sum(steps, stepsCurve), width
	case bounded.OpDatePart:
		return sum(steps, stepsPart), width
	case bounded.OpDateTrunc:
		return sum(steps, stepsTrunc), width
	case bounded.OpLike:
		return sum(steps, multiplied(first, matchSteps(e.Text))), width
	case bounded.OpIn:
		if len(e.Args)-1 > fewListed && e.Args[0].Type == value.Text {
			listed = sum(listed, opened(first), 2*copied(first))
		}
		return sum(steps, listedSteps(len(e.Args)-1), listed), width
	case bounded.OpEq, bounded.OpNe: // texts of different lengths are not opened
		compared = sum(compared, 2*opened(shortest))
	case bounded.OpLt, bounded.OpLe, bounded.OpGt, bounded.OpGe, bounded.OpLeast, bounded.OpGreatest:
		compared = sum(compared, opened(texts))
	}
	return sum(steps, of, compared), width // comparisons and choices go through texts
}

// listedSteps are the steps of looking for a value among so many constants.
func listedSteps(n int) int64 { return stepsListed * int64(n+2*min(n, 20)) }

// matchSteps are the steps of LIKE for each byte of the text: what stands between two % is looked for from one place of
// the text after the other, and never again once it was found.
//
// Of a part of the pattern, compared at every place of some text, Σ 1/π(k) bytes are equal on average at most, π(k)
// being the least period of its first k bytes. Proof: two places at which the first k bytes occur are π(k) apart at
// least, since they overlap in a text that has their distance for a period, or k apart; so of all places at most one in
// π(k) has them; and the bytes that are equal at a place are as many as there are such k. ∎ Where _ stands in it,
// nothing is said of periods, and every k counts as if π(k) were 1. (That is PostgreSQL's way, and DuckDB's where there is
// no _ and no escape. Else DuckDB matches by sets of places, each of which it finds once: while these are few, it is the quicker one.)
func matchSteps(pattern string) int64 {
	longest, wild := int64(0), 0
	for i, part := range segments(pattern) {
		longest = max(longest, equalBytes(part))
		if i > 0 {
			wild += strings.Count(part, string([]byte{anyByte}))
		}
	}
	if wild > fewWild {
		return stepsSet + stepsPlace*int64(len(pattern))
	}
	return stepsMatch + stepsAgain*longest + int64(len(pattern))/textPerStep/8
}

// segments are what stands between %, with escapes taken out; _ is anyByte.
func segments(pattern string) (out []string) {
	var part strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '%':
			out = append(out, part.String())
			part.Reset()
		case c == '_':
			part.WriteByte(anyByte)
		case c == '\\' && i+1 < len(pattern):
			i++
			part.WriteByte(pattern[i])
		default:
			part.WriteByte(c)
		}
	}
	return append(out, part.String())
}

// anyByte occurs in no UTF-8 text.
const anyByte = 0xff

// equalBytes is ⌈Σ 1/π(k)⌉ over k from 2 on: the first is what a place costs anyway.
func equalBytes(part string) int64 {
	if strings.IndexByte(part, anyByte) >= 0 {
		return int64(len(part) - 1)
	}
	border := make([]int, len(part)+1) // of the first k bytes the longest that they also end with
	sum := 0.0
	for k, b := 2, 0; k <= len(part); k++ {
		for b > 0 && part[b] != part[k-1] {
			b = border[b]
		}
		if part[b] == part[k-1] {
			b++
		}
		border[k] = b
		sum += 1 / float64(k-b)
	}
	return int64(sum) + 1
}

// copied are the steps of copying, or comparing, texts of so many bytes.
func copied(width int64) int64 { return width / textPerStep }

// opened are the further steps of comparing a long text: PostgreSQL stores it compressed, and opens it each time.
func opened(width int64) int64 { return width / textPerStep }

// met are the steps of finding a unit's name of so many bytes among others, in a join or a group: it is hashed and compared.
func met(width int64) int64 { return sum(copied(width), 2*opened(width)) }

// sorted are the steps that each of n rows takes in being put in order by texts of so many bytes.
func sorted(n, width int64) int64 {
	return multiplied(sum(stepsSort, copied(width)), log2(n))
}

// digested are the steps of a row's place in an order by a digest of its contents, of n rows.
func digested(n, width int64) int64 {
	return sum(stepsDigest, multiplied(stepsByte, width), sorted(n, width))
}
