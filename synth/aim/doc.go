// Package aim has the decisions of the AIM mechanism that need no rows: which marginals it may choose among and how
// much each is worth ([NewWorkload], [Workload.Within]), the score of a marginal with its sensitivity ([Score]), and
// the price of each round ([Schedule]).
//
// AIM measures each attribute. Then it repeats rounds: it selects the marginal in which a model of all measurements is
// most wrong, measures it, and fits the model again.
//
// The package computes with declarations, prices and models, and sees no rows. Package synth uses it, and reads rows
// through the kernel alone.
//
// Source: McKenna, Mullins, Sheldon and Miklau, "AIM: an adaptive and iterative mechanism for differentially private
// synthetic data", VLDB 2022, Algorithms 2 to 4. [ExpectedError] and [Schedule.Annealed] differ from it, and say how.
package aim
