package console

import (
	"fmt"
	"strings"
)

// Flag declares a flag of the current command, with its help. The parameter `into` points to the variable for its
// value, which holds the default, or is a function that parses the value. The parameter value is the placeholder of the
// value in help, or "" for a switch. The text `about` describes the flag.
func (s *Console) Flag(into any, name, value, about string) {
	help := UsageOf(value, about)
	switch into := into.(type) {
	case *string:
		s.Flags.StringVar(into, name, *into, help)
	case *bool:
		s.Flags.BoolVar(into, name, *into, help)
	case *int:
		s.Flags.IntVar(into, name, *into, help)
	case *int64:
		s.Flags.Int64Var(into, name, *into, help)
	case *uint64:
		s.Flags.Uint64Var(into, name, *into, help)
	case *[]string: // the flag may be repeated
		s.Flags.Func(name, help, func(text string) error { *into = append(*into, text); return nil })
	case func(string) error:
		s.Flags.Func(name, help, into)
	default:
		// a programming error, which printing the command's help would reveal
		panic(fmt.Sprintf("flag %s: %T holds no value", name, into))
	}
}

// UsageOf returns the usage text of a flag in a FlagSet: the placeholder of its value, a tab, and its description.
func UsageOf(value, about string) string { return value + "\t" + about }

// The flags below have the same meaning in several families of commands.

// AboutHome is the help text of -C.
const AboutHome = "the curator's home (default $DITHER_HOME, else the working directory)"

// AnyFormat lists the formats of an answer.
var AnyFormat = []string{"table", "json", "csv", "markdown"}

// FormatFlag declares --format with the formats that the command prints.
func (s *Console) FormatFlag(formats ...string) { s.FormatFlagFor(choice(formats), formats...) }

// FormatFlagFor declares --format as [Console.FormatFlag] does, with a description of the formats.
func (s *Console) FormatFlagFor(about string, formats ...string) {
	s.formats = formats
	s.Flag(&s.Format, "format", "FORMAT", about+" (default table)")
}

// choice returns the words as a list with "or" before the last.
func choice(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// PriceFlags declares --epsilon and --rho, the price of a request. The text `of` names the request in help.
func (s *Console) PriceFlags(epsilon, rho *string, of string) {
	s.Flag(epsilon, "epsilon", "E", "the price of "+of+" (default: the policy's)")
	s.Flag(rho, "rho", "R", "the price in ρ instead, if the budget is under zCDP (an ε costs ρ = ε²/2)")
}

// ConfidenceFlag declares --confidence.
func (s *Console) ConfidenceFlag(into *string) {
	s.Flag(into, "confidence", "P", "the confidence of the intervals (default 0.95)")
}

// AnalystFlag declares --analyst. The sessions of the command are then bound to that analyst.
func (s *Console) AnalystFlag(into *string) {
	s.analyst = into
	s.Flag(into, "analyst", "NAME",
		"the name of the analyst, which is recorded; the policy's limit for that analyst applies")
}

// FreshFlag declares --fresh.
func (s *Console) FreshFlag(into *bool) {
	s.Flag(into, "fresh", "", "pay again for new noise, even if the question was answered before")
}

// GroupFlag declares --group of explain and budget.
func (s *Console) GroupFlag() *int64 {
	group := new(int64)
	s.Flag(group, "group", "K", "show the privacy loss of K units together")
	return group
}

// Numeric flags are decimals or fractions of two integers, as in a job's specification. An error about a value
// begins with the flag's name.
