// Package text holds SQL's functions of texts, with the meaning that PostgreSQL gives them in a UTF-8 database. They
// are pure functions of values. Package bind evaluates them over the known values of columns, and package post over
// released rows. No engine runs them.
package text

import (
	"maps"
	"slices"

	"dither/internal/value"
)

// Function is one function: its numbers of arguments, their types, and the type of its result.
type Function struct {
	Least, Most int
	Type        value.Type // of the result

	params []value.Type // the last one is also the type of all further arguments; 0 stands for any type
	nulls  bool         // whether the function accepts NULL; otherwise it is NULL if an argument is
	of     func(args []value.Value) (value.Value, bool)
}

// Param returns the type of the argument at index i. It returns 0 if the argument may have any type.
func (f Function) Param(i int) value.Type { return f.params[min(i, len(f.params)-1)] }

// Of returns the value of the function. Each argument must have the type that Param returns, or be NULL. The boolean is
// false if PostgreSQL raises an error, if PostgreSQL and this package may disagree, or if a text would be longer than
// [value.MaxTextBytes].
func (f Function) Of(args ...value.Value) (value.Value, bool) {
	if !f.nulls {
		for _, a := range args {
			if a.Null {
				return value.NullOf(f.Type), true
			}
		}
	}
	out, ok := f.of(args)
	if out.Type == 0 {
		out.Type = f.Type
	}
	return out, ok && len(out.Text) <= value.MaxTextBytes
}

// Named returns the function with a name, in lower case.
func Named(name string) (Function, bool) {
	f, ok := functions[name]
	return f, ok
}

// Names returns the sorted names of all functions.
func Names() []string { return slices.Sorted(maps.Keys(functions)) }

const (
	t      = value.Text
	n      = value.Integer
	either = value.Type(0)
)

var functions = map[string]Function{
	"lower":   {1, 1, t, []value.Type{t}, false, ofText(lower)},
	"upper":   {1, 1, t, []value.Type{t}, false, ofText(upper)},
	"initcap": {1, 1, t, []value.Type{t}, false, ofText(initcap)},
	"reverse": {1, 1, t, []value.Type{t}, false, ofText(reverse)},

	"trim":  {1, 2, t, []value.Type{t}, false, trim(true, true)},
	"btrim": {1, 2, t, []value.Type{t}, false, trim(true, true)},
	"ltrim": {1, 2, t, []value.Type{t}, false, trim(true, false)},
	"rtrim": {1, 2, t, []value.Type{t}, false, trim(false, true)},

	"length":           {1, 1, n, []value.Type{t}, false, length},
	"char_length":      {1, 1, n, []value.Type{t}, false, length},
	"character_length": {1, 1, n, []value.Type{t}, false, length},
	"octet_length":     {1, 1, n, []value.Type{t}, false, bytes},
	"ascii":            {1, 1, n, []value.Type{t}, false, ascii},

	"substring":  {2, 3, t, []value.Type{t, n}, false, substring},
	"substr":     {2, 3, t, []value.Type{t, n}, false, substring},
	"left":       {2, 2, t, []value.Type{t, n}, false, left},
	"right":      {2, 2, t, []value.Type{t, n}, false, right},
	"split_part": {3, 3, t, []value.Type{t, t, n}, false, splitPart},

	"replace":   {3, 3, t, []value.Type{t}, false, replace},
	"translate": {3, 3, t, []value.Type{t}, false, translate},
	"lpad":      {2, 3, t, []value.Type{t, n, t}, false, pad(true)},
	"rpad":      {2, 3, t, []value.Type{t, n, t}, false, pad(false)},
	"repeat":    {2, 2, t, []value.Type{t, n}, false, repeat},

	"strpos":      {2, 2, n, []value.Type{t}, false, strpos},
	"position":    {2, 2, n, []value.Type{t}, false, strpos},
	"starts_with": {2, 2, value.Boolean, []value.Type{t}, false, startsWith},

	"concat":    {1, 50, t, []value.Type{either}, true, concat},
	"concat_ws": {2, 50, t, []value.Type{t, either}, true, concatWith},
	"||":        {2, 2, t, []value.Type{either}, false, joined},

	"like":           {2, 2, value.Boolean, []value.Type{t}, false, likes(false)},
	"ilike":          {2, 2, value.Boolean, []value.Type{t}, false, likes(true)},
	"~":              {2, 2, value.Boolean, []value.Type{t}, false, matches(false)},
	"~*":             {2, 2, value.Boolean, []value.Type{t}, false, matches(true)},
	"regexp_like":    {2, 3, value.Boolean, []value.Type{t}, false, regexpLike},
	"similar_to":     {2, 2, value.Boolean, []value.Type{t}, false, similar},
	"regexp_replace": {3, 4, t, []value.Type{t}, false, regexpReplace},
	"regexp_substr":  {2, 2, t, []value.Type{t}, false, regexpSubstr},
	"regexp_count":   {2, 2, n, []value.Type{t}, false, regexpCount},
}

func ofText(f func(string) string) func([]value.Value) (value.Value, bool) {
	return func(args []value.Value) (value.Value, bool) { return value.OfText(f(args[0].Text)), true }
}
