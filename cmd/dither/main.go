// Command dither is a trusted curator for sensitive data. It answers SQL questions about populations. Noise
// protects each person in the data, and a privacy budget limits all answers together.
package main

import (
	"os"

	"dither/internal/cli"
)

func main() { os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
