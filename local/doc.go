// Package local implements the local model of differential privacy, in which nobody has to be trusted. Each person
// randomizes the own value and sends only the report. The collector estimates from the reports how many people have
// each value.
//
// An [Oracle] is a randomizer with its estimator (a frequency oracle). [New] creates one from its [Params]. A person
// calls [Oracle.Randomize]. The collector adds reports to a [Tally] and calls [Tally.Estimate].
//
// The guarantee is ε-differential privacy between any two values of a person, for one report. Several reports of one
// person add up: k reports with ε each cost kε.
//
// The randomizers are exact. Every probability is a rational number, which random bytes realise without floats. It is
// rounded towards more privacy: the exact ε of a report is at most the declared one, and within 10⁻⁹ of it.
// Estimates use the exact probabilities, so the rounding does not bias them.
//
// [Choose] compares the oracles by their error and the size of a report. Package local/mean has means of numbers.
package local
