// Package account computes the privacy loss of a job: mechanisms that are all fixed in advance, and run on the same
// data. It reports the figures of every known accountant side by side. It never enforces a budget.
//
// Which accountant may enforce a budget. A budget is spent by mechanisms that are chosen one after another, with their
// parameters, each in the light of the answers so far. Only a filter may admit them, and privacy.Filter is one: the
// plain sum of ε [Rogers, Roth, Ullman & Vadhan 2016], or the sum of ρ of approximate zCDP [Feldman & Zrnic 2021;
// Whitehouse, Ramdas, Rogers & Wu 2023], with the proof at its type. privacy.Odometer reports the
// loss at a stopping time that may depend on the answers.
//
// Why the others may only report. Advanced composition with its constant, optimal composition [Kairouz, Oh & Viswanath
// 2017; Murtagh & Vadhan 2016], privacy loss distributions, and Rényi's divergence at its best order each take the
// parameters as given: δ(ε) of the whole is computed from all of them, and an adversary who picks the next parameter
// after seeing an answer is outside their theorems. (Sums of ε that pass through advanced composition exceed it with
// adaptive parameters [Rogers et al. 2016, Section 5]; the order that is best for what was spent so far is known only
// when it was spent.) Taking the least of several bounds is right for a job that is fixed, since each of them is true
// of the whole job; along the way it is no filter: the least at one time and the least at another come from different
// theorems, whose failure probabilities δ are different events.
//
// What is reported. Every figure is certified: a loss is a float64 rounded up, by directed or interval arithmetic or
// with an error that is bounded and added. A lower figure beside it is rounded down, and the truth lies between.
// Parameters are exact rationals (privacy.Epsilon, *big.Rat), never floats.
//
// Relations. A loss is a statement about neighbouring datasets, and a job has one relation. Poisson sampling amplifies
// under add/remove; sampling of a fixed number, and shuffling, amplify under change-one. Each function names its
// relation. A sensitivity, or an ε, is the one that holds under the job's relation.
package account

import "errors"

// ErrParameter reports a parameter that a mechanism or theorem does not allow, or that is beyond the limits of the
// computation.
var ErrParameter = errors.New("account: invalid parameter")
