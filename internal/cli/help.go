package cli

import (
	"flag"
	"slices"
	"strings"

	"dither/account"
)

// flagHelp says what each flag is for: its value, if it takes one, and a line. A flag that means something else with one
// command has that command's name before it.
var flagHelp = map[string]struct{ value, about string }{
	"C": {"HOME", "the curator's home (default $DITHER_HOME, else the working directory)"},

	"from":      {"FILE", "draft the policy from a CSV (or .csv.gz), Parquet or .duckdb file: names and types"},
	"unit":      {"COLUMN", "the column of FILE that identifies a person (default: each row is a unit)"},
	"delimiter": {"C", "between the fields of a CSV file: ';', '|', tab, … (default ',')"},
	"null":      {"TEXT", "an unquoted field of a CSV file that reads so is NULL, as NA (default: an empty one)"},

	"dry-run": {"", "with accept: say what would change, and change nothing"},
	"shared":  {"", "seal although another home has sealed the same source: what both answer then adds up"},

	"epsilon":    {"E", "the price of the question (default: the policy's)"},
	"rho":        {"R", "the same in ρ, where the budget is one of zCDP (ε costs ρ = ε²/2)"},
	"max-groups": {"N", "in how many groups of an answer one unit counts (default: the policy's)"},
	"group":      {"K", "what it means for K units together"},
	"confidence": {"P", "of the intervals (default 0.95)"},
	"fresh":      {"", "pay again, for new noise, though the question was answered before"},
	"f":          {"FILE", "read the question from FILE"},
	"format":     {"FORMAT", "table, json, csv or markdown (default table)"},
	"plot":       {"FILE", "draw the answer as FILE.svg or FILE.png"},
	"chart":      {"", "draw it in the terminal"},

	"against": {"HEAD", "with verify: a head that `dither ledger head` printed must still be in the ledger"},

	"account.delta":     {"D", "tell the ε at this δ"},
	"account.epsilon":   {"E", "tell the δ at this ε"},
	"account.curve":     {"", "draw δ against ε in the terminal; --curve=FILE as --plot FILE too"},
	"account.plot":      {"FILE", "draw δ against ε, by each accountant, as FILE.svg or FILE.png"},
	"account.format":    {"FORMAT", "table, json or markdown (default table)"},
	"calibrate.epsilon": {"E", "the ε to keep"},
	"calibrate.delta":   {"D", "the δ to keep (default 0, which Laplace noise alone can)"},
	"calibrate.format":  {"FORMAT", "table, json or markdown (default table)"},
	"interpret.epsilon": {"E", "the ε that is promised; of the example's study, from 0.1 to 5 (default 0.5)"},
	"interpret.delta":   {"D", "the δ that is promised; of a job, the one at which its ε is told (default 0)"},
	"interpret.group":   {"K", "how many people share a secret, as a family (default 4)"},
	"interpret.n":       {"N", "how many people the data are of (default 10000)"},
	"interpret.plot":    {"FILE", "with --example: draw the beliefs as FILE.svg or FILE.png"},
	"neighbours":        {"N", "add-remove or change-one: what the promise holds between (default add-remove, or what a job needs)"},
	"interpret.format":  {"FORMAT", "table, json or markdown (default table)"},
	"prior":             {"P", "what an attacker believes beforehand (default 0.01)"},
	"alpha":             {"A", "the level of an attacker's test: its rate of false alarms (default 0.05)"},
	"example":           {"NAME", "a worked example: smoking"},
	"sensitivity":       {"S", "how far one person moves the answer: in L1 norm for Laplace noise, in L2 for Gaussian (default 1)"},
	"count":             {"N", "how many such answers keep the promise together (default 1)"},
	"sampling":          {"Q", "each on a Poisson sample of this rate, as 0.01 or 256/60000"},

	"keep":        {"DIR", "leave the demo's home in DIR, a new folder"},
	"rows":        {"N", "how many people live in the town"},
	"seed":        {"S", "of the made-up people (default 1): the same seed and size make the same bytes"},
	"demo.format": {"FORMAT", "csv or parquet (default csv)"},
	"out":         {"DIR", "the folder, which must not be there yet (default town)"},
}

// help prints what the flags at hand belong to: the program, or one command.
func (s *session) help() {
	for _, c := range commands() {
		if s.flags != nil && s.flags.Name() == c.name {
			s.commandHelp(c)
			return
		}
	}
	s.print("dither: answers about populations, with noise that protects each person\n\n" +
		"usage: dither [-C HOME] COMMAND …\n\n")
	var g grid
	for _, c := range commands() {
		g.add("  "+c.name, c.about)
	}
	s.print("%s\n  dither help COMMAND   its arguments and flags\n  -C HOME               %s\n  --version             the version\n\n",
		g.text("   "), flagHelp["C"].about)
	s.print("exit: 0 answered, 2 usage, 3 refused or unsupported SQL, 4 budget exhausted, 1 anything else\n")
}

// commandHelp prints a command's arguments, and a line for each flag that it has declared.
func (s *session) commandHelp(c command) {
	s.print("dither %s: %s\n\nusage: dither %s\n\n", c.name, c.about, strings.TrimSpace(c.name+" "+c.args))
	var g grid
	s.flags.VisitAll(func(f *flag.Flag) {
		h, ok := flagHelp[c.name+"."+f.Name]
		if !ok {
			h = flagHelp[f.Name]
		}
		g.add("  "+strings.TrimSpace(dashed(f.Name)+" "+h.value), h.about)
	})
	// -C is every command's: it stands last.
	slices.SortStableFunc(g.rows, func(a, b []string) int { return last(a[0]) - last(b[0]) })
	s.print("%s", g.text("   "))
	switch c.name {
	case "account", "interpret":
		s.print("%s", mechanismsHelp())
	case "calibrate":
		s.print("%s", calibrateHelp)
	}
}

// mechanismsHelp lists the mechanisms of a job with their keys.
func mechanismsHelp() string {
	var g grid
	for _, name := range account.Mechanisms() {
		needed, optional := account.Keys(name)
		for _, key := range optional {
			if key == "sensitivity" {
				needed = append(needed, "["+key+"=…]")
			}
		}
		for i, key := range needed {
			if !strings.HasPrefix(key, "[") {
				needed[i] = key + "=…"
			}
		}
		g.add("  "+name, strings.Join(needed, " "))
	}
	return "\nEach MECHANISM is one argument in quotes, a name and its keys:\n\n" + g.text("   ") +
		"\nand each takes [count=N] [sampling=Q [scheme=fixed]]. Numbers are decimals or fractions.\n\n" +
		"  dither account --delta 1e-6 \"gaussian sigma=10 count=20\" \"discrete-laplace scale=20\"\n"
}

const calibrateHelp = `
The mechanisms, whose values are real numbers or, of the discrete ones, integers:

  gaussian            finds sigma; continuous noise, sensitivity in L2 norm
  discrete-gaussian   finds sigma; noise on integers
  laplace             finds scale; continuous noise, sensitivity in L1 norm
  discrete-laplace    finds scale; noise on integers, as dither itself draws

Numbers are decimals or fractions.

  dither calibrate discrete-laplace --epsilon 1 --delta 1e-6 --count 20

Or a job, as dither account takes it, with one "?" for a sigma or scale, of which the least is found, or for an epsilon, rho or mu, of which
the largest is. Then count, sensitivity and sampling stand in the mechanisms:

  dither calibrate --epsilon 1 --delta 1e-6 "discrete-laplace scale=? count=40" "gaussian sigma=15 count=3"
`

func last(flag string) int {
	if strings.HasPrefix(flag, "  -C ") {
		return 1
	}
	return 0
}

func dashed(name string) string { return completedFlag{name: name}.dashed() }

// runHelp prints the help of a command, which declares its flags and does nothing else when it is asked for help.
func (s *session) runHelp(args []string) error {
	if len(args) == 0 {
		s.help()
		return nil
	}
	return s.run(args[0], append(slices.Clone(args[1:]), "-h"))
}
