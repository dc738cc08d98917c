package cli

import (
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"

	"dither/internal/cli/console"
)

// completionVerb returns the command `dither completion`. It is a function because it lists all commands, including
// itself.
func completionVerb() console.Verb {
	return console.Verb{
		Name:  "completion",
		Args:  "bash | zsh | fish",
		About: "print a script that makes a shell complete commands and flags",
		Run:   runCompletion,
	}
}

// runCompletion prints the completion script of a shell, generated from the table of commands and the flags that
// each declares.
func runCompletion(s *console.Console, args []string) error {
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if len(rest) == 1 {
		switch rest[0] {
		case "bash":
			s.Print("%s", bashCompletion(completions()))
			return nil
		case "zsh":
			s.Print("%s", zshCompletion(completions()))
			return nil
		case "fish":
			s.Print("%s", fishCompletion(completions()))
			return nil
		}
	}
	return console.Usage("completion bash, zsh, or fish")
}

// completed is what the shell completes for one command.
type completed struct {
	name, about string
	words       []string // words that may follow the command, such as `check` in `policy check`
	flags       []completedFlag
}

type completedFlag struct {
	name  string   // name of the flag, without dashes
	takes bool     // the flag takes a value
	among []string // possible values of the flag, if they are known
}

func completions() []completed {
	out := []completed{{name: "help", about: "what the commands are"}}
	for _, c := range verbs() {
		words := followers(c.Args)
		if c.Words != nil {
			words = append(words, c.Words()...)
		}
		out = append(out, completed{name: c.Name, about: c.About, words: words, flags: flagsOf(c)})
	}
	return out
}

// flagsOf returns the flags of a command. It runs the command with -h, which only declares the flags and prints
// help.
func flagsOf(c console.Verb) []completedFlag {
	s := &console.Console{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Format: "table"}
	s.Take(c)
	_ = c.Run(s, []string{"-h"})          // printing help to io.Discard cannot fail
	for _, w := range followers(c.Args) { // add the flags of subcommands, such as `fit linear`
		own := &console.Console{Stdin: s.Stdin, Stdout: io.Discard, Stderr: io.Discard, Format: "table"}
		own.Take(c)
		_ = c.Run(own, []string{w, "-h"})
		own.Flags.VisitAll(func(f *flag.Flag) {
			if s.Flags.Lookup(f.Name) == nil {
				s.Flags.Var(f.Value, f.Name, f.Usage)
			}
		})
	}
	var out []completedFlag
	s.Flags.VisitAll(func(f *flag.Flag) {
		simple, ok := f.Value.(interface{ IsBoolFlag() bool })
		flag := completedFlag{name: f.Name, takes: !ok || !simple.IsBoolFlag()}
		if f.Name == "format" {
			flag.among = console.AnyFormat
		}
		out = append(out, flag)
	})
	return out
}

var word = regexp.MustCompile(`^[a-z][a-z-]*$`)

// followers returns the words that may follow a command, parsed from its arguments in the help text. It takes the
// first word of each alternative, unless this is a placeholder.
func followers(args string) []string {
	var out []string
	for alternative := range strings.SplitSeq(args, "|") {
		for _, w := range strings.Split(firstField(alternative), ",") {
			if word.MatchString(w) {
				out = append(out, w)
			}
		}
	}
	return out
}

func firstField(s string) string {
	if f := strings.Fields(s); len(f) > 0 {
		return f[0]
	}
	return ""
}

// offers returns the words and flags that may follow a command.
func (c completed) offers() []string {
	out := append([]string{}, c.words...)
	for _, f := range c.flags {
		out = append(out, console.Dashed(f.name))
	}
	return out
}

// valued returns the flags of all commands that take a value, without duplicates. The result known has the flags with
// known values, and the result other the names of all others.
func valued(all []completed) (known []completedFlag, other []string) {
	seen := map[string]bool{}
	for _, c := range all {
		for _, f := range c.flags {
			if !f.takes || seen[f.name] {
				continue
			}
			seen[f.name] = true
			if f.among != nil {
				known = append(known, f)
			} else {
				other = append(other, console.Dashed(f.name))
			}
		}
	}
	return known, other
}

// bashCompletion returns the script for bash. It offers file names where it has no other words.
func bashCompletion(all []completed) string {
	var b strings.Builder
	b.WriteString(`# Completion of dither for bash. In ~/.bashrc: eval "$(dither completion bash)"
_dither() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb= offers= i
	if [[ $current == "=" ]]; then
		current=
	elif [[ $previous == "=" ]]; then
		previous=${COMP_WORDS[COMP_CWORD-2]}
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-C) ((i++)) ;;
		-*) ;;
		*) verb=${COMP_WORDS[i]}; break ;;
		esac
	done
	case $previous in
`)
	known, other := valued(all)
	for _, f := range known {
		fmt.Fprintf(
			&b,
			"\t%s) COMPREPLY=($(compgen -W %q -- \"$current\")); return ;;\n",
			console.Dashed(f.name),
			strings.Join(f.among, " "),
		)
	}
	fmt.Fprintf(&b, "\t%s) COMPREPLY=(); return ;;\n\tesac\n\tcase $verb in\n", strings.Join(other, "|"))
	var names []string
	for _, c := range all {
		names = append(names, c.name)
		fmt.Fprintf(&b, "\t%s) offers=%q ;;\n", c.name, strings.Join(c.offers(), " "))
	}
	fmt.Fprintf(&b, "\t\"\") offers=%q ;;\n\tesac\n", strings.Join(names, " ")+" -C")
	b.WriteString("\tCOMPREPLY=($(compgen -W \"$offers\" -- \"$current\"))\n}\ncomplete -o default -F _dither dither\n")
	return b.String()
}

func zshCompletion(all []completed) string {
	var b strings.Builder
	b.WriteString(`#compdef dither
# Completion of dither for zsh. In ~/.zshrc, after compinit: source <(dither completion zsh)
_dither() {
	local verb= i
	local -a verbs
	verbs=(
`)
	for _, c := range all {
		fmt.Fprintf(&b, "\t\t%s\n", quoted(c.name+":"+c.about))
	}
	b.WriteString(`	)
	for ((i = 2; i < CURRENT; i++)); do
		case $words[i] in
		-C) ((i++)) ;;
		-*) ;;
		*) verb=$words[i]; break ;;
		esac
	done
	case $words[CURRENT-1] in
`)
	known, other := valued(all)
	for _, f := range known {
		fmt.Fprintf(&b, "\t%s) compadd -- %s; return ;;\n", console.Dashed(f.name), strings.Join(f.among, " "))
	}
	fmt.Fprintf(&b, "\t%s) _files; return ;;\n\tesac\n\tcase $verb in\n", strings.Join(other, "|"))
	for _, c := range all {
		fmt.Fprintf(&b, "\t%s) compadd -- %s ;;\n", c.name, strings.Join(c.offers(), " "))
	}
	b.WriteString(`	"") _describe command verbs; compadd -- -C; return ;;
	esac
	_files
}
if [[ $funcstack[1] == _dither ]]; then
	_dither "$@"
else
	compdef _dither dither
fi
`)
	return b.String()
}

func fishCompletion(all []completed) string {
	var b strings.Builder
	b.WriteString("# Completion of dither for fish. In ~/.config/fish/config.fish: dither completion fish | source\n" +
		"complete -c dither -s C -r\n")
	for _, c := range all {
		fmt.Fprintf(&b, "complete -c dither -f -n __fish_use_subcommand -a %s -d %s\n", c.name, quoted(c.about))
		on := quoted("__fish_seen_subcommand_from " + c.name)
		if len(c.words) > 0 {
			fmt.Fprintf(&b, "complete -c dither -f -n %s -a %s\n", on, quoted(strings.Join(c.words, " ")))
		}
		for _, f := range c.flags {
			if f.name == "C" {
				continue
			}
			dash, value := "-l", ""
			if len(f.name) == 1 {
				dash = "-s"
			}
			switch {
			case f.among != nil:
				value = " -x -a " + quoted(strings.Join(f.among, " "))
			case f.takes:
				value = " -r"
			}
			fmt.Fprintf(&b, "complete -c dither -n %s %s %s%s\n", on, dash, f.name, value)
		}
	}
	return b.String()
}

// quoted quotes a word for a shell. It assumes that the word has no backslash, which fish would interpret; no word
// here has one.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
