package bind

import (
	"dither/internal/bounded"
	"dither/internal/value"
)

// engineNames maps functions of texts to the names under which engines compute them for texts without known values.
var engineNames = map[string]string{
	"left": "left", "right": "right", "substring": "substring", "substr": "substring", "split_part": "split_part",
	"trim": "btrim", "btrim": "btrim", "ltrim": "ltrim", "rtrim": "rtrim",
	"length": "length", "char_length": "length", "character_length": "length", "octet_length": "octet_length",
	"strpos": "strpos", "position": "strpos",
}

// engineText builds a function of an unknown text that engines compute, or returns nil if they would not agree. The other
// arguments are constants. Places count from the start, because engines differ in what lies before it. No such function
// makes a text longer, and each reads a text at most once, so the cost of a row stays bounded.
func engineText(name string, args []*bounded.Expr) *bounded.Expr {
	name, ok := engineNames[name]
	if !ok || args[0].Type != value.Text {
		return nil
	}
	out := &bounded.Expr{
		Op: bounded.OpText, Text: name, Type: value.Text, Args: []*bounded.Expr{args[0]}, Nullable: args[0].Nullable,
	}
	least := int64(0)
	switch name {
	case "length", "octet_length", "strpos":
		out.Type, out.Range = value.Integer, bounded.Range{IntHi: value.MaxTextBytes}
	case "substring", "split_part":
		least = 1
	case "btrim", "ltrim", "rtrim":
		if len(args) == 1 {
			args = append(args, Constant(value.OfText(" ")))
		}
	}
	for i, a := range args[1:] {
		if a.Op != bounded.OpConst || a.Const.Null {
			return nil
		}
		switch {
		case a.Type == value.Text && (a.Const.Text == "" || len(a.Const.Text) > longestPart || !ascii(a.Const.Text)):
			return nil
		case a.Type == value.Integer && (a.Const.Int < least || a.Const.Int > value.MaxTextBytes):
			return nil
		}
		if name == "substring" && i == 0 {
			least = 0 // the length may be 0
		}
		out.Args = append(out.Args, a)
	}
	return out
}

// longestPart is the largest number of bytes of a text that is looked for in an unknown one.
const longestPart = 64

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] == 0 {
			return false
		}
	}
	return true
}
