package console

import (
	"fmt"
	"strings"
)

// Flag declares a flag of the verb at hand, once and with its help: where its value goes, which holds its default, its name, the placeholder of
// its value ("" for a switch), and what it is for.
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
	case func(string) error:
		s.Flags.Func(name, help, into)
	default:
		// a mistake of this program, which printing its help would find
		panic(fmt.Sprintf("flag %s: %T holds no value", name, into))
	}
}

// UsageOf is a flag's help as its FlagSet keeps it: the placeholder of its value, a tab, and what it is for.
func UsageOf(value, about string) string { return value + "\t" + about }

// Flags that verbs of several families take, with one meaning.

// AboutHome is the help of -C.
const AboutHome = "the curator's home (default $DITHER_HOME, else the working directory)"

// AnyFormat are the formats of an answer.
var AnyFormat = []string{"table", "json", "csv", "markdown"}

// FormatFlag declares --format, with the formats that the verb prints.
func (s *Console) FormatFlag(formats ...string) { s.FormatFlagFor(choice(formats), formats...) }

// FormatFlagFor is formatFlag where there is more to say of the formats.
func (s *Console) FormatFlagFor(about string, formats ...string) {
	s.formats = formats
	s.Flag(&s.Format, "format", "FORMAT", about+" (default table)")
}

// choice is a list with "or" before its last word.
func choice(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// PriceFlags declares --epsilon and --rho, in which the price of a question, a fit or the like is given.
func (s *Console) PriceFlags(epsilon, rho *string, of string) {
	s.Flag(epsilon, "epsilon", "E", "the price of "+of+" (default: the policy's)")
	s.Flag(rho, "rho", "R", "the price in ρ instead, if the budget is under zCDP (an ε costs ρ = ε²/2)")
}

// ConfidenceFlag declares --confidence.
func (s *Console) ConfidenceFlag(into *string) {
	s.Flag(into, "confidence", "P", "the confidence of the intervals (default 0.95)")
}

// AnalystFlag declares --analyst. The verb's session is bound to that analyst.
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

// Numbers of flags are decimals or fractions of two, as in a spec. What is wrong with one begins with the flag's name.
