package post

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// maxText is the largest number of bytes of a text that an expression makes. Longer results are NULL, so that no
// expression can make texts that grow without bound.
const maxText = value.MaxTextBytes

func ofText(s string) value.Value {
	if len(s) > maxText {
		return value.NullOf(value.Text)
	}
	return value.OfText(s)
}

// texts returns a builder for a function of texts to a text.
func texts(least, most int, f func([]string) string) builder {
	return builder{least, most, func(args []*node, at query.Pos) (*node, error) {
		if err := asText(at, args...); err != nil {
			return nil, err
		}
		return function(value.Text, whyText, func(vs []value.Value) value.Value {
			in := make([]string, len(vs))
			for i, v := range vs {
				in[i] = v.Text
			}
			return ofText(f(in))
		}, args...), nil
	}}
}

// asText refuses arguments that are not texts.
func asText(at query.Pos, args ...*node) error {
	for _, a := range args {
		if a.typ != 0 && a.typ != value.Text {
			return bind.Refuse(at, "write CAST(x AS text)", "a text is needed here, and this is of type %s", a.typ)
		}
	}
	return nil
}

// part returns a builder for a function of a text and of numbers.
func partOf(numbers, most int, f func(s []rune, n []int64) []rune) builder {
	return builder{1 + numbers, 1 + most, func(args []*node, at query.Pos) (*node, error) {
		if err := asText(at, args[0]); err != nil {
			return nil, err
		}
		for _, a := range args[1:] {
			if a.typ != 0 && a.typ != value.Integer {
				return nil, bind.Refuse(at, "", "a whole number is needed here, and this is of type %s", a.typ)
			}
		}
		return function(value.Text, whyText, func(vs []value.Value) value.Value {
			var ns []int64
			for _, v := range vs[1:] {
				ns = append(ns, min(max(v.Int, -math.MaxInt32), math.MaxInt32))
			}
			return ofText(string(f([]rune(vs[0].Text), ns)))
		}, args...), nil
	}}
}

var textFunctions = map[string]builder{
	"lower": texts(1, 1, func(s []string) string { return strings.ToLower(s[0]) }),
	"upper": texts(1, 1, func(s []string) string { return strings.ToUpper(s[0]) }),
	"btrim": texts(1, 2, func(s []string) string { return strings.Trim(s[0], blanks(s)) }),
	"trim":  texts(1, 2, func(s []string) string { return strings.Trim(s[0], blanks(s)) }),
	"ltrim": texts(1, 2, func(s []string) string { return strings.TrimLeft(s[0], blanks(s)) }),
	"rtrim": texts(1, 2, func(s []string) string { return strings.TrimRight(s[0], blanks(s)) }),
	"replace": texts(3, 3, func(s []string) string {
		if s[1] == "" || len(s[0])*max(len(s[2]), 1) > 1<<24 {
			return s[0]
		}
		return strings.ReplaceAll(s[0], s[1], s[2])
	}),
	"reverse": partOf(0, 0, func(s []rune, _ []int64) []rune {
		out := make([]rune, len(s))
		for i, r := range s {
			out[len(s)-1-i] = r
		}
		return out
	}),
	"substring": partOf(1, 2, substring),
	"substr":    partOf(1, 2, substring),
	"left": partOf(1, 1, func(s []rune, n []int64) []rune {
		if n[0] < 0 {
			n[0] = max(0, int64(len(s))+n[0])
		}
		return s[:min(n[0], int64(len(s)))]
	}),
	"right": partOf(1, 1, func(s []rune, n []int64) []rune {
		if n[0] < 0 {
			n[0] = max(0, int64(len(s))+n[0])
		}
		return s[int64(len(s))-min(n[0], int64(len(s))):]
	}),
	"split_part":       {3, 3, splitPart},
	"concat":           {1, -1, concat},
	"length":           {1, 1, length},
	"char_length":      {1, 1, length},
	"character_length": {1, 1, length},
	"strpos":           {2, 2, strpos},
	"position":         {2, 2, strpos},
	"starts_with": {2, 2, func(args []*node, at query.Pos) (*node, error) {
		if err := asText(at, args...); err != nil {
			return nil, err
		}
		return function(value.Boolean, whyCondition, func(vs []value.Value) value.Value {
			return value.OfBool(strings.HasPrefix(vs[0].Text, vs[1].Text))
		}, args...), nil
	}},
}

func blanks(s []string) string {
	if len(s) > 1 {
		return s[1]
	}
	return " "
}

// substring returns n[1] characters from character n[0] on, which counts from 1 and may lie outside the text.
func substring(s []rune, n []int64) []rune {
	from, to := n[0]-1, int64(len(s))
	if len(n) > 1 {
		to = min(to, from+max(n[1], 0))
	}
	from = max(from, 0)
	if from >= to {
		return nil
	}
	return s[from:to]
}

// joined binds a || b. A number, a date or a boolean becomes a text if the other operand is one.
func joined(a, b *node, at query.Pos) (*node, error) {
	if a.typ != value.Text && b.typ != value.Text && a.typ != 0 && b.typ != 0 {
		return nil, bind.Refuse(at, "write CAST(x AS text)", "|| needs a text, and these are of type %s and %s", a.typ, b.typ)
	}
	return function(value.Text, whyText, func(vs []value.Value) value.Value {
		return ofText(textOf(vs[0]) + textOf(vs[1]))
	}, a, b), nil
}

// concat joins texts, and skips NULLs.
func concat(args []*node, _ query.Pos) (*node, error) {
	return general(value.Text, whyText, func(vs []value.Value) value.Value {
		var b strings.Builder
		for _, v := range vs {
			if !v.Null && b.Len() <= maxText {
				b.WriteString(textOf(v))
			}
		}
		return ofText(b.String())
	}, args...), nil
}

// textOf writes a value as CAST(x AS text) does.
func textOf(v value.Value) string { return v.String() }

// ofShortest writes the shortest decimal that is x.
func ofShortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func length(args []*node, at query.Pos) (*node, error) {
	if err := asText(at, args...); err != nil {
		return nil, err
	}
	return function(value.Integer, whyText, func(vs []value.Value) value.Value {
		return value.OfInt(int64(utf8.RuneCountInString(vs[0].Text)))
	}, args...), nil
}

// strpos returns the position of the second text in the first, from 1 on, or 0.
func strpos(args []*node, at query.Pos) (*node, error) {
	if err := asText(at, args...); err != nil {
		return nil, err
	}
	return function(value.Integer, whyText, func(vs []value.Value) value.Value {
		i := strings.Index(vs[0].Text, vs[1].Text)
		if i < 0 {
			return value.OfInt(0)
		}
		return value.OfInt(int64(utf8.RuneCountInString(vs[0].Text[:i])) + 1)
	}, args...), nil
}

func splitPart(args []*node, at query.Pos) (*node, error) {
	if err := asText(at, args[:2]...); err != nil {
		return nil, err
	}
	n := args[2].fixed
	if n == nil || n.Null || n.Type != value.Integer || n.Int < 1 {
		return nil, bind.Refuse(at, "write split_part(x, ',', 1)", "the number of the part is a constant from 1 on")
	}
	return function(value.Text, whyText, func(vs []value.Value) value.Value {
		parts := []string{vs[0].Text}
		if vs[1].Text != "" {
			parts = strings.Split(vs[0].Text, vs[1].Text)
		}
		if n.Int > int64(len(parts)) {
			return value.OfText("")
		}
		return value.OfText(parts[n.Int-1])
	}, args[:2]...), nil
}
