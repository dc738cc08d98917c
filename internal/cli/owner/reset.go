package owner

import (
	"bufio"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// Reset is the command `dither reset`.
var Reset = console.Verb{
	Name:  "reset",
	Args:  "--what ledger|home",
	About: "start over: move the ledger, or also the sealed versions, out of the home (owner)",
	Run:   runReset,
}

// runReset states what a reset means, reads the owner's confirmation from the standard input, and carries it out.
func runReset(s *console.Console, args []string) error {
	what := ""
	s.Flag(&what, "what", "ledger|home", "what to move out of the home: the ledger, or the ledger and all sealed versions")
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if len(rest) > 0 || what == "" {
		return console.Usage("reset --what ledger, or reset --what home")
	}
	r, err := curator.ResetHome(s.Home, what)
	if err != nil {
		return err
	}
	for _, line := range r.Meaning {
		s.Print("- %s\n", render.PrintableLines(line))
	}
	s.Print("type %s to confirm: ", render.Printable(r.Confirm))
	typed, _ := bufio.NewReader(s.Stdin).ReadString('\n') // at the end of the input, the text before it counts
	s.Print("\n")
	if err := r.Do(typed); err != nil {
		return err
	}
	s.Print("done. `dither init` makes a new ledger, under the policy file\n")
	return nil
}
