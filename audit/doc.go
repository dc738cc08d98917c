// Package audit checks promises of differential privacy by running mechanisms: dither's, and any other.
//
// There are four kinds of checks, which must not be confused. Reading a promise (package interpret) states its meaning
// if it is kept. Exact checks (package channel, for finite mechanisms) prove or refute it. Audits of runs (Run) can
// only refute it: they return a lower bound on ε that holds with a stated confidence, and an audit that finds nothing
// has proved nothing. Replay lies between: it fixes the randomness, so its result is exact for the two datasets that it
// compares. Package ours has dither's own mechanisms for all of these, and package attack shows what becomes of data
// without a promise.
package audit
