// Package golden holds the program to what it did. It has tests alone, and the files that they compare with.
//
// testdata/homes has whole sealed homes as older versions of the program left them. Each is a tar.gz of a policy,
// sealed tables, a ledger and unfinished trainings.
//
// testdata/figures has the questions that were asked of each home, with their figures, as gzipped JSON lines: the
// replay key, the marks, the price, the mechanisms with their sensitivities and scales, what `explain` foretells, and
// the rows with their intervals under recorded randomness. testdata/plans has the plans of these questions, over files
// and over a server's tables.
//
//   - TestGoldenReplays opens each old home and asks every question again. Each answer must be a replay, be free, and
//     have the same figures. Trainings go on where they stopped.
//   - TestGoldenFigures asks questions afresh, under the randomness that was recorded for them.
//   - TestGoldenPlans plans every question again. It needs no server.
//   - TestGoldenConstructs finds every construct of docs/reference/sql.md in a question that is answered.
//
// Whoever changes a figure updates it in the same commit, and the message says why:
//
//	DITHER_UPDATE_GOLDENS=figures go test -timeout 60m ./internal/golden  # all figures of the questions on file
//	DITHER_UPDATE_GOLDENS=plans go test ./internal/golden                 # the plans alone
//	DITHER_UPDATE_GOLDENS=homes go test -timeout 60m ./internal/golden    # homes and questions too, all anew
//
// DITHER_GOLDEN_HOME=NAME confines each of them, and the tests, to one home. Homes are evidence of what older versions
// wrote. Make one anew only where it is a new home, and never because a change cannot read an old one.
//
// DITHER_LONG=1 makes TestGoldenFigures ask all questions. To read goldens: zcat testdata/figures/NAME.jsonl.gz, and
// tar xzOf testdata/homes/NAME.tar.gz ledger.log.
//
// Numbers that are not whole have 12 digits, and are compared to 9: floating point differs between processors.
package golden
