package engine

import (
	"strconv"
	"strings"

	"dither/internal/plan"
	"dither/internal/value"
)

// Expression writes e over the cleaned columns c0, c1, …: what all dialects write alike here, its constants and its other operations, over their
// arguments, by functions of the dialect.
func Expression(e *plan.Expr, constant func(value.Value) string, operation func(e *plan.Expr, args []string) string) string {
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = Expression(a, constant, operation)
	}
	switch e.Op {
	case plan.OpColumn:
		return "c" + strconv.Itoa(e.Column)
	case plan.OpConst:
		return constant(e.Const)
	case plan.OpIn:
		return "(" + args[0] + " IN (" + strings.Join(args[1:], ", ") + "))"
	case plan.OpCase:
		return CaseWhen(args)
	case plan.OpCoalesce, plan.OpLeast, plan.OpGreatest: // the last two pass over NULLs here
		return string(e.Op) + "(" + strings.Join(args, ", ") + ")"
	}
	if op, ok := Infix[e.Op]; ok {
		return "(" + strings.Join(args, " "+op+" ") + ")"
	}
	return operation(e, args)
}

// Operands are arguments for a template.
func Operands(args []string) []any {
	out := make([]any, len(args))
	for i, a := range args {
		out[i] = a
	}
	return out
}
