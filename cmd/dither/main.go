// Command dither is a trusted curator for sensitive data: it answers questions about populations in SQL, with noise that
// protects each person, and a budget that says when to stop.
package main

import (
	"os"

	"dither/internal/cli"
)

func main() { os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
