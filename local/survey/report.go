package survey

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ID is the identity of a report: 16 random bytes, which the device draws. A report with an ID that was accepted
// before is a duplicate. IDs link nothing else: each report has a fresh one.
type ID [16]byte

// Report is one person's randomized answers to all questions, in their order.
type Report struct {
	ID      ID
	Answers [][]byte
}

// Refusal is a reason to refuse reports. It is an error.
type Refusal struct {
	Code   string // a fixed word for programs
	Reason string // a sentence for people
}

func (r *Refusal) Error() string { return r.Reason }

// The codes of refusals that reading reports can have.
const (
	Malformed       = "malformed"        // not in the form
	WrongVersion    = "wrong_version"    // of another version of the form
	AnotherSurvey   = "another_survey"   // of another digest
	UnknownQuestion = "unknown_question" // not in the survey
	MissingQuestion = "missing_question" // each report answers all questions
	InvalidReport   = "invalid_report"   // bytes that the randomizer never sends
	TooLarge        = "too_large"        // too many bytes or reports
)

func refuse(code, format string, args ...any) *Refusal {
	return &Refusal{code, fmt.Sprintf(format, args...)}
}

// Refused is a refused report of a batch.
type Refused struct {
	Index int
	*Refusal
}

// Batch is the result of reading reports.
type Batch struct {
	Reports []Report
	At      []int     // the index in the batch of each of Reports
	Refused []Refused // by increasing index
}

// Len returns the number of reports of the batch, refused ones included.
func (b Batch) Len() int { return len(b.Reports) + len(b.Refused) }

func (b *Batch) add(s *Survey, index int, r Report, why *Refusal) {
	if why == nil {
		why = s.check(r)
	}
	if why != nil {
		b.Refused = append(b.Refused, Refused{index, why})
		return
	}
	b.Reports, b.At = append(b.Reports, r), append(b.At, index)
}

// check refuses answers that the randomizers never send.
func (s *Survey) check(r Report) *Refusal {
	for i := range s.Questions {
		if err := s.Questions[i].check(r.Answers[i]); err != nil {
			return refuse(InvalidReport, "the answer to %s: %v", s.Questions[i].Name, err)
		}
	}
	return nil
}

// The binary form begins with the three bytes "dlr", the byte of the version, and the digest. Then it has any number of
// reports: the ID, and the answers in the order of the questions. All have fixed sizes.
var magic = [4]byte{'d', 'l', 'r', FormVersion}

// HeaderSize is the number of bytes before the first report of the binary form.
const HeaderSize = len(magic) + DigestSize

// ReadBinary reads the binary form. The error is a *Refusal of the whole batch. The reports are parts of data.
func (s *Survey) ReadBinary(data []byte, most int) (Batch, error) {
	var b Batch
	if len(data) < HeaderSize || !bytes.Equal(data[:3], magic[:3]) {
		return b, refuse(Malformed, "the bytes are not reports in the binary form")
	}
	if data[3] != FormVersion {
		return b, refuse(WrongVersion, "the reports are in version %d of the form, not in %d", data[3], FormVersion)
	}
	if digest := data[len(magic):HeaderSize]; !bytes.Equal(digest, s.digest[:]) {
		return b, s.another(hex.EncodeToString(digest))
	}
	rest, size := data[HeaderSize:], len(ID{})+s.size
	switch {
	case len(rest) == 0:
		return b, refuse(Malformed, "the batch has no reports")
	case len(rest)%size != 0:
		return b, refuse(Malformed, "the batch is truncated: a report of this survey has %d bytes, and %d are left over",
			size, len(rest)%size)
	case len(rest)/size > most:
		return b, refuse(TooLarge, "the batch has more than %d reports", most)
	}
	answers := make([][]byte, len(rest)/size*len(s.Questions))
	b.Reports, b.At = make([]Report, 0, len(rest)/size), make([]int, 0, len(rest)/size)
	for index := 0; len(rest) > 0; index++ {
		r := Report{ID: ID(rest), Answers: answers[:len(s.Questions):len(s.Questions)]}
		answers, rest = answers[len(s.Questions):], rest[len(ID{}):]
		for i := range s.Questions {
			n := s.Questions[i].size
			r.Answers[i], rest = rest[:n:n], rest[n:]
		}
		b.add(s, index, r, nil)
	}
	return b, nil
}

func (s *Survey) another(digest string) *Refusal {
	return refuse(AnotherSurvey, "the reports are for the survey %s, but this one is %s: its questions, values, "+
		"mechanisms, ε or times differ", digest, s.DigestText())
}

// Binary returns reports in the binary form.
func (s *Survey) Binary(reports []Report) []byte {
	out := make([]byte, 0, HeaderSize+len(reports)*(len(ID{})+s.size))
	out = append(append(out, magic[:]...), s.digest[:]...)
	for _, r := range reports {
		out = append(out, r.ID[:]...)
		for _, a := range r.Answers {
			out = append(out, a...)
		}
	}
	return out
}

// reportJSON is a report in JSON.
type reportJSON struct {
	Version int               `json:"version,omitempty"`
	Survey  string            `json:"survey,omitempty"`
	ID      string            `json:"id"`
	Answers map[string]string `json:"answers"`
}

func (s *Survey) json(r Report) reportJSON {
	j := reportJSON{ID: hex.EncodeToString(r.ID[:]), Answers: map[string]string{}}
	for i := range s.Questions {
		j.Answers[s.Questions[i].Name] = hex.EncodeToString(r.Answers[i])
	}
	return j
}

// JSON returns a report as JSON.
func (s *Survey) JSON(r Report) ([]byte, error) {
	j := s.json(r)
	j.Version, j.Survey = FormVersion, s.DigestText()
	return json.Marshal(j)
}

// BatchJSON returns reports as JSON.
func (s *Survey) BatchJSON(reports []Report) ([]byte, error) {
	j := struct {
		Version int          `json:"version"`
		Survey  string       `json:"survey"`
		Reports []reportJSON `json:"reports"`
	}{FormVersion, s.DigestText(), make([]reportJSON, 0, len(reports))}
	for _, r := range reports {
		j.Reports = append(j.Reports, s.json(r))
	}
	return json.Marshal(j)
}

// ReadJSON reads a report or a batch as JSON. Members that the form does not have, and members that are there twice,
// are refused. The error is a *Refusal of the whole batch.
func (s *Survey) ReadJSON(data []byte, most int) (Batch, error) {
	if len(data) == 0 {
		return Batch{}, refuse(Malformed, "the body is empty")
	}
	members, err := object(data)
	if err != nil {
		return Batch{}, err
	}
	batch := slices.ContainsFunc(members, func(m member) bool { return m.name == "reports" })
	names := []string{"version", "survey", "id", "answers"}
	if batch {
		names = []string{"version", "survey", "reports"}
	}
	at, err := exactly(members, names)
	if err != nil {
		return Batch{}, err
	}
	var version int64
	if json.Unmarshal(at["version"], &version) != nil {
		return Batch{}, refuse(Malformed, "the version is no whole number")
	}
	if version != FormVersion {
		return Batch{}, refuse(WrongVersion, "the reports are in version %d of the form, not in %d", version, FormVersion)
	}
	var digest string
	if json.Unmarshal(at["survey"], &digest) != nil {
		return Batch{}, refuse(Malformed, "the member survey is no text")
	}
	if digest != s.DigestText() {
		return Batch{}, s.another(shown(digest))
	}
	var b Batch
	if !batch {
		r, why := s.readOne(at)
		b.add(s, 0, r, why)
		return b, nil
	}
	var reports []json.RawMessage
	if json.Unmarshal(at["reports"], &reports) != nil || len(reports) == 0 {
		return Batch{}, refuse(Malformed, "the member reports is no list of reports, or it is empty")
	}
	if len(reports) > most {
		return Batch{}, refuse(TooLarge, "the batch has more than %d reports", most)
	}
	for i, data := range reports {
		members, err := object(data)
		if err == nil {
			at, err = exactly(members, []string{"id", "answers"})
		}
		if err != nil {
			var why *Refusal
			if !errors.As(err, &why) {
				return Batch{}, err
			}
			b.add(s, i, Report{}, why)
			continue
		}
		r, why := s.readOne(at)
		b.add(s, i, r, why)
	}
	return b, nil
}

// shown returns at most 40 bytes of a text in a report.
func shown(text string) string {
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return fmt.Sprintf("%q", text)
}

func (s *Survey) readOne(at map[string]json.RawMessage) (r Report, why *Refusal) {
	var id string
	if json.Unmarshal(at["id"], &id) != nil || len(id) != 2*len(r.ID) {
		return r, refuse(Malformed, "the id has %d hexadecimal digits", 2*len(r.ID))
	}
	if _, err := hex.Decode(r.ID[:], []byte(id)); err != nil {
		return r, refuse(Malformed, "the id has %d hexadecimal digits", 2*len(r.ID))
	}
	members, err := object(at["answers"])
	if err != nil {
		return r, refuse(Malformed, "the member answers: %v", err)
	}
	answers := make(map[string]json.RawMessage, len(members))
	for _, m := range members {
		if !slices.ContainsFunc(s.Questions, func(q Question) bool { return q.Name == m.name }) {
			return r, refuse(UnknownQuestion, "the survey has no question %s", shown(m.name))
		}
		answers[m.name] = m.value
	}
	for i := range s.Questions {
		q := &s.Questions[i]
		value, ok := answers[q.Name]
		if !ok {
			return r, refuse(MissingQuestion, "the answer to %s is missing: a report answers all questions", q.Name)
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			return r, refuse(Malformed, "the answer to %s is no text", q.Name)
		}
		if len(text) != 2*q.size {
			return r, refuse(InvalidReport, "the answer to %s has %d characters: %s sends %d hexadecimal digits", q.Name,
				len(text), q.Mechanism(), 2*q.size)
		}
		answer, err := hex.DecodeString(text)
		if err != nil {
			return r, refuse(Malformed, "the answer to %s is not in hexadecimal digits", q.Name)
		}
		r.Answers = append(r.Answers, answer)
	}
	return r, nil
}

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// object reads a JSON object, and refuses a member that is there twice.
func object(data []byte) ([]member, error) {
	in := json.NewDecoder(bytes.NewReader(data))
	open, err := in.Token()
	if err != nil || open != json.Delim('{') {
		return nil, refuse(Malformed, "JSON with an object was expected: {…}")
	}
	var members []member
	seen := map[string]bool{}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return nil, refuse(Malformed, "the JSON is malformed or truncated")
		}
		m := member{name: name.(string)} // the decoder accepts no other token here
		if err := in.Decode(&m.value); err != nil {
			return nil, refuse(Malformed, "the JSON is malformed or truncated")
		}
		if seen[m.name] {
			return nil, refuse(Malformed, "the member %s is there twice", shown(m.name))
		}
		seen[m.name] = true
		members = append(members, m)
	}
	if _, err := in.Token(); err != nil {
		return nil, refuse(Malformed, "the JSON is malformed or truncated")
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, refuse(Malformed, "there is more after the JSON object")
	}
	return members, nil
}

// exactly returns the members by name, and refuses other members and missing ones.
func exactly(members []member, names []string) (map[string]json.RawMessage, error) {
	at := make(map[string]json.RawMessage, len(members))
	for _, m := range members {
		if !slices.Contains(names, m.name) {
			return nil, refuse(Malformed, "the member %s is not one of %s", shown(m.name), strings.Join(names, ", "))
		}
		at[m.name] = m.value
	}
	for _, name := range names {
		if _, ok := at[name]; !ok {
			return nil, refuse(Malformed, "the member %q is missing", name)
		}
	}
	return at, nil
}
