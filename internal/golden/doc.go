// Package golden holds the program to what it did: it has no code of its own, only tests and what they compare with.
//
// testdata/homes has whole sealed homes as older versions of the program left them, each a tar.gz of a policy, sealed tables, a ledger and
// unfinished trainings. testdata/figures has, for each home, the questions that were asked of it, one JSON object a line (gzip), with
// their figures: the replay key, the marks, the price, the mechanisms with their sensitivities and scales, the columns that
// `explain` foretells, and the rows with their intervals under recorded randomness.
//
//   - TestGoldenReplays opens each old home, asks every recorded question again, and compares: each is a replay, is free, and has the same figures.
//     Trainings go on where they stopped.
//   - TestGoldenFigures asks every question afresh, under the randomness that was recorded for it, and compares every figure.
//   - TestGoldenPlans does so with the plans over tables on a server, which differ from those over files, and needs no server.
//   - TestGoldenConstructs finds every construct of docs/sql.md in at least one question.
//
// A figure that changes is changed here in the same commit, and the message says why:
//
//	DITHER_UPDATE_GOLDENS=figures go test ./internal/golden    # the figures of the questions on file, over the homes on file
//	DITHER_UPDATE_GOLDENS=homes   go test ./internal/golden    # homes and questions too, all anew
//
// Homes are evidence of what older versions wrote, so the second form is for a new home, never for a change that cannot read an old one:
// DITHER_GOLDEN_HOME=NAME confines both forms, and the tests, to one home.
package golden
