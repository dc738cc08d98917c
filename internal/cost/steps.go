package cost

import (
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// The steps of operations on one row, each for the slower engine and rounded up. BenchmarkUnitCost of each engine
// compares them with measured times (docs/reference/benchmarks.md).
const (
	stepsRow      = 100  // reading a row, or passing it to the next stage
	stepsColumn   = 10   // each column of such a row
	stepsPlain    = 5    // arithmetic, a comparison or logic, for each argument
	stepsRounding = 25   // rounding or division
	stepsCurve    = 40   // EXP, LN, SQRT
	stepsPart     = 60   // extracting a part of a date
	stepsTrunc    = 120  // truncating a date
	stepsListed   = 2    // each constant of IN; the first twenty cost three times as much
	stepsGroup    = 50   // finding the group of a row
	stepsSort     = 100  // comparing two rows in a sort
	stepsDigest   = 1700 // SHA-256 of a short text
	stepsTerm     = 5    // multiplying two coordinates
	stepsByte     = 7    // SHA-256, for each byte
	textPerStep   = 4    // the number of bytes compared or copied in one step
	stepsRead     = 2    // reading a text from disk, for each byte
	stepsFold     = 20   // TRANSLATE, for each byte of the text
	stepsMatch    = 5    // LIKE, for each byte of the text
	stepsAgain    = 4    // LIKE, for each further byte of the pattern that is compared at one place of the text
)

// If more than fewWild characters _ follow a %, LIKE runs as one of DuckDB's regular expressions, which tracks the
// set of all places of the pattern that may match. This set can be different at each byte of the text, and the
// number of possible sets is up to two to the power of the number of _.
const (
	fewWild    = 8
	stepsSet   = 2000 // computing such a set, for each byte of the text
	stepsPlace = 70   // computing such a set, for each byte of the pattern
)

// fewListed is the largest number of constants that are compared one by one.
const fewListed = 8

// cell describes a column or an expression to the operations that read it.
type cell struct {
	width int64 // the largest number of bytes of a text; plainWidth for any other type
	again int64 // steps to compute it from the columns of tables, as an engine may do for a condition that names it
}

// plainWidth is the width of a value that is not a text: its number of digits.
const plainWidth = 20

// eval returns the steps of computing e from these columns, and the width of the result. If deep is set, a column
// costs the steps of computing it from the tables. Otherwise it costs little, because an earlier stage has computed
// it.
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
	var texts, shortest int64 // the sum of the widths of all text arguments, and the least width
	for i, a := range e.Args {
		s, w := eval(a, columns, deep)
		steps = sum(steps, s)
		if i == 0 {
			first = w
		}
		if e.Op != bounded.OpCase || i%2 == 1 || i == len(e.Args)-1 { // for CASE, the results only
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
	switch {
	case e.Op == bounded.OpChar: // a letter of a format is at most three letters of a name, or a digit
		width = 3 * int64(len(e.Text))
	case e.Type == value.Text:
		width = longest
	default:
		width = plainWidth
	}
	of := stepsPlain * int64(max(len(e.Args), 1))
	switch e.Op {
	case bounded.OpNil:
		return sum(steps, of), width
	case bounded.OpDiv, bounded.OpQuo, bounded.OpMod, bounded.OpToInteger, bounded.OpFloor, bounded.OpCeil:
		return sum(steps, stepsRounding), width
	case bounded.OpRound, bounded.OpSqrt, bounded.OpLn: // written in SQL with the argument repeated
		return sum(steps, steps, stepsCurve), width
	case bounded.OpExp:
		return sum(steps, stepsCurve), width
	case bounded.OpDatePart:
		return sum(steps, stepsPart), width
	case bounded.OpDateTrunc, bounded.OpAddMonths:
		return sum(steps, stepsTrunc), width
	case bounded.OpDayOf, bounded.OpTimeOf, bounded.OpTimeTrunc, bounded.OpTimePart: // a division, and a few sums
		return sum(steps, stepsRounding, 3*stepsPlain), width
	case bounded.OpFold: // TRANSLATE looks for each character in a list of 26
		return sum(steps, of, multiplied(first, stepsFold)), width
	case bounded.OpText:
		return sum(steps, of, textSteps(e, first)), textWidth(e, first)
	case bounded.OpChar: // for each field, the argument again, parts of a date, and a text
		fields := int64(len(e.Text))
		return sum(multiplied(fields, sum(steps, 3*stepsPart, 3*stepsRounding)), multiplied(fields, copied(width))), width
	case bounded.OpLike:
		return sum(steps, multiplied(first, matchSteps(e.Text))), width
	case bounded.OpIn:
		if len(e.Args)-1 > fewListed && e.Args[0].Type == value.Text {
			listed = sum(listed, opened(first), 2*copied(first))
		}
		return sum(steps, listedSteps(len(e.Args)-1), listed), width
	case bounded.OpEq, bounded.OpNe: // texts of different lengths are unequal without decompression
		compared = sum(compared, 2*opened(shortest))
	case bounded.OpLt, bounded.OpLe, bounded.OpGt, bounded.OpGe, bounded.OpLeast, bounded.OpGreatest:
		compared = sum(compared, opened(texts))
	}
	return sum(steps, of, compared), width // a comparison or a choice reads its texts
}

// textSteps returns the steps of a function of a text of width bytes. Each of them reads the characters in turn. STRPOS
// compares its second text at each of them, and SPLIT_PART may make a list of all parts.
func textSteps(e *bounded.Expr, width int64) int64 {
	each := int64(stepsFold)
	switch e.Text {
	case "strpos":
		each = sum(each, stepsAgain*int64(len(e.Args[1].Const.Text)))
	case "split_part":
		each = 8 * stepsFold
	case "btrim", "ltrim", "rtrim": // each character is looked for among those that are trimmed
		each = multiplied(each, int64(len(e.Args[1].Const.Text)))
	}
	return multiplied(width, each)
}

// textWidth returns the width of the result of a function of a text of width bytes. A character has at most four bytes.
func textWidth(e *bounded.Expr, width int64) int64 {
	switch {
	case e.Type != value.Text:
		return plainWidth
	case e.Text == "left" || e.Text == "right":
		return min(width, 4*e.Args[1].Const.Int)
	case e.Text == "substring" && len(e.Args) == 3:
		return min(width, 4*e.Args[2].Const.Int)
	}
	return width
}

// listedSteps returns the steps of finding a value among n constants.
func listedSteps(n int) int64 { return stepsListed * int64(n+2*min(n, 20)) }

// matchSteps returns the steps of LIKE for each byte of the text. The matcher looks for each part of the pattern
// between two % at one place of the text after the other. It never looks for a part again once it has found it.
//
// Claim: if a part of the pattern is compared at every place of a text, then on average at most Σ_k 1/π(k) bytes
// are equal at a place, where π(k) is the least period of the part's first k bytes. Proof. Take two places at which
// the first k bytes occur. If they overlap, their distance is a period of these bytes, so it is at least π(k).
// Otherwise their distance is at least k ≥ π(k). So at most one in π(k) places has these k bytes. The number of
// equal bytes at a place is the number of k for which the place has the first k bytes. ∎
//
// For a part that contains _, periods say nothing, so every k counts as if π(k) were 1. PostgreSQL matches in this
// way, and so does DuckDB if the pattern has neither _ nor an escape. For other patterns, DuckDB tracks sets of
// places of the pattern, and computes each set once. It is faster as long as there are few sets.
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

// segments returns the parts of a pattern between %, without escape characters. _ becomes anyByte.
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

// anyByte is a byte that occurs in no UTF-8 text.
const anyByte = 0xff

// equalBytes returns ⌈Σ 1/π(k)⌉ for k ≥ 2. The comparison of the first byte is part of the cost of a place.
func equalBytes(part string) int64 {
	if strings.IndexByte(part, anyByte) >= 0 {
		return int64(len(part) - 1)
	}
	// by k: the length of the longest proper prefix of the first k bytes that is also their suffix
	border := make([]int, len(part)+1)
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

// copied returns the steps of copying or comparing texts of width bytes.
func copied(width int64) int64 { return width / textPerStep }

// opened returns the steps of decompressing a text of width bytes. PostgreSQL compresses long texts, and
// decompresses one for each comparison.
func opened(width int64) int64 { return width / textPerStep }

// met returns the steps of finding a unit's name, a text of width bytes, in a join or a group: the name is hashed and
// compared.
func met(width int64) int64 { return sum(copied(width), 2*opened(width)) }

// sorted returns the steps for each of n rows in a sort by texts of width bytes.
func sorted(n, width int64) int64 {
	return multiplied(sum(stepsSort, copied(width)), log2(n))
}

// digested returns the steps for each of n rows in an order by a digest of contents of width bytes.
func digested(n, width int64) int64 {
	return sum(stepsDigest, multiplied(stepsByte, width), sorted(n, width))
}
