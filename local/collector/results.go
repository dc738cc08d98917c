package collector

import (
	"encoding/binary"

	"dither/local"
	"dither/local/mean"
	"dither/local/survey"
)

// Results are the estimates of a survey.
type Results struct {
	Survey    *survey.Survey
	Reports   int64
	Folded    int64 // those of Reports that are counts alone
	Malicious int64 // the assumed number of malicious reports
	Questions []QuestionResults
}

// QuestionResults are the estimates of a question.
type QuestionResults struct {
	Question  *survey.Question
	Estimates []local.Estimate
	// Suspect has intervals that hold even if Results.Malicious of the reports are malicious; see local.Tally.Suspect.
	Suspect []local.Estimate
	// Mean is the estimated mean of a question about a number, which has no Estimates. SuspectMean is as Suspect.
	Mean, SuspectMean *mean.Estimate
	// One malicious report lowers an estimate by at most Down, and raises it by at most Up; see local.Oracle.Influence and
	// mean.Randomizer.Largest.
	Down, Up float64
}

// Results estimates all values of all questions from the reports that are stored now. malicious returns the number of
// malicious reports to assume for n reports. The error is an ErrStore, or that of local.Tally.Estimate.
func (st *Store) Results(confidence float64, malicious func(n int64) int64) (Results, error) {
	st.reading.Lock()
	defer st.reading.Unlock()
	if err := st.refresh(); err != nil {
		return Results{}, err
	}
	n := st.seen.folded + st.seen.reports
	out := Results{Survey: st.survey, Reports: n, Folded: st.seen.folded, Malicious: malicious(n)}
	for i, t := range st.seen.tallies {
		q, err := t.results(&st.survey.Questions[i], confidence, out.Malicious)
		if err != nil {
			return Results{}, err
		}
		out.Questions = append(out.Questions, q)
	}
	return out, nil
}

// Reports returns the number of stored reports, folded ones included.
func (st *Store) Reports() (int64, error) {
	st.reading.Lock()
	defer st.reading.Unlock()
	if err := st.refresh(); err != nil {
		return 0, err
	}
	return st.seen.folded + st.seen.reports, nil
}

// refresh reads the reports that were stored since the last call. If some were folded in between, it reads all.
func (st *Store) refresh() error {
	tx, err := st.reader.Begin()
	if err != nil {
		return named(err)
	}
	defer func() { _ = tx.Rollback() }() // it only reads
	var folded int64
	err = tx.QueryRow(`SELECT coalesce(max(n), 0) FROM folded WHERE version = ?`, st.survey.Version).Scan(&folded)
	if err != nil {
		return named(err)
	}
	v := st.seen
	if v == nil || v.folded != folded {
		v = newSeen(st.survey)
		if err := v.readFolded(tx, st.survey); err != nil {
			return named(err)
		}
	}
	st.seen = nil // until all is read
	if err := v.read(tx, `SELECT number, n, answers FROM reports WHERE version = ? AND number > ? ORDER BY number`,
		st.survey, v.last); err != nil {
		return named(err)
	}
	st.seen = v
	return nil
}

// packed returns counts as bytes.
func packed(counts []int64) []byte {
	var out []byte
	for _, c := range counts {
		out = binary.AppendUvarint(out, uint64(c))
	}
	return out
}

func unpacked(data []byte) (counts []int64, ok bool) {
	for len(data) > 0 {
		c, n := binary.Uvarint(data)
		if n <= 0 || c > local.MostReports {
			return nil, false
		}
		counts, data = append(counts, int64(c)), data[n:]
	}
	return counts, true
}
