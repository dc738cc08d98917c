package engine

import (
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// Expression returns the SQL of e over the cleaned columns c0, c1, …. It writes the operations that all dialects
// share. The function constant writes a constant, and operation writes any other operation, given the SQL of its
// arguments.
func Expression(
	e *bounded.Expr, constant func(value.Value) string, operation func(e *bounded.Expr, args []string) string,
) string {
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = Expression(a, constant, operation)
	}
	switch e.Op {
	case bounded.OpColumn:
		return "c" + strconv.Itoa(e.Column)
	case bounded.OpConst:
		return constant(e.Const)
	case bounded.OpIn:
		return "(" + args[0] + " IN (" + strings.Join(args[1:], ", ") + "))"
	case bounded.OpCase:
		return CaseWhen(args)
	case bounded.OpCoalesce, bounded.OpLeast, bounded.OpGreatest: // least and greatest skip NULLs in both dialects
		return string(e.Op) + "(" + strings.Join(args, ", ") + ")"
	}
	if op, ok := Infix[e.Op]; ok {
		return "(" + strings.Join(args, " "+op+" ") + ")"
	}
	return operation(e, args)
}

// Operands returns args as the arguments of a call of fmt.Sprintf.
func Operands(args []string) []any {
	out := make([]any, len(args))
	for i, a := range args {
		out[i] = a
	}
	return out
}
