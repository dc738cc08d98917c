// Package golden tests that the program still returns the results that it returned before. It contains only tests
// and the files that they compare with.
//
// testdata/homes has whole sealed homes, as older versions of the program wrote them. Each is a tar.gz with a
// policy, sealed tables, a ledger, and unfinished trainings.
//
// testdata/figures has the questions that were asked of each home, with their figures, as gzipped JSON lines. The
// figures are the replay key, the marks, the price, the mechanisms with their sensitivities and scales, the
// expected errors that `explain` states, and the rows with their intervals under recorded randomness.
// testdata/plans has the plans of these questions, over files and over a server's tables.
//
//   - TestGoldenReplays opens each old home and asks every question again. Each answer must be a free replay with
//     the same figures. Trainings must continue where they stopped.
//   - TestGoldenFigures asks questions without replay, with the randomness that was recorded for them.
//   - TestGoldenPlans plans every question again. It needs no server.
//   - TestGoldenConstructs checks that every construct of docs/reference/sql.md is in a question that is answered.
//
// A commit that changes a figure must update it, and its message must say why:
//
//	DITHER_UPDATE_GOLDENS=figures go test -timeout 60m ./internal/golden  # all figures of the existing questions
//	DITHER_UPDATE_GOLDENS=plans go test ./internal/golden                 # only the plans
//	DITHER_UPDATE_GOLDENS=homes go test -timeout 60m ./internal/golden    # new homes and questions too
//
// DITHER_GOLDEN_HOME=NAME limits these commands, and the tests, to one home. The homes are evidence of what older
// versions wrote. Write a home only if it is a new one, and never because a change cannot read an old one.
//
// DITHER_LONG=1 makes TestGoldenFigures ask all questions. To read the files, use zcat
// testdata/figures/NAME.jsonl.gz and tar xzOf testdata/homes/NAME.tar.gz ledger.log.
//
// Numbers that are not integers have 12 digits. The tests compare 9 of them, because floating-point results differ
// between processors.
package golden
