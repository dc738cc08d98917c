// Package attack runs the classical attacks on published statistics: reconstruction of a secret from many counts,
// differencing, the intersection of k-anonymous tables, and the tracing of members from published means. An attack
// runs on published data, or against a simulated curator, and reports how much the attacker recovers. There are
// three simulated curators. One answers exactly. One adds noise of a fixed size, however many questions it answers.
// One divides a budget among all questions.
//
// A failed attack proves nothing, because a better one may exist. A promise of differential privacy bounds every
// attacker, and the results state this bound where there is one. All data are made up or published. The package
// reads no private rows.
package attack

import "errors"

// ErrParameter reports invalid parameters of a simulation or an attack. The message says what is wrong.
var ErrParameter = errors.New("invalid attack parameter")

// ErrTable reports a published table that cannot be read. The message says what is wrong, and where.
var ErrTable = errors.New("the table cannot be read")
