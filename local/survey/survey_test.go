package survey_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"dither/local/survey"
)

const declaration = `
survey: 1
name: dinner
version: 1
window: {opens: 2026-12-01T00:00:00Z, closes: 2027-01-31T00:00:00Z, skew: 5m}
lifetime: {reports: 10}
retention: {fold: 7d}
questions:
  - name: phone
    text: Do you use your phone at dinner?
    values: [never, sometimes, always]
    mechanism: krr
    epsilon: 1
  - {name: meat, values: [yes, no], mechanism: coin}
  - {name: postcode, values: 1000, mechanism: hr, epsilon: 2}
  - {name: mood, values: 5, mechanism: dbit, epsilon: 1, positions: 2}
`

func parse(t testing.TB, text string) *survey.Survey {
	t.Helper()
	s, err := survey.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func report(t testing.TB, s *survey.Survey) survey.Report {
	t.Helper()
	r, err := s.Randomize(make([]survey.Answer, len(s.Questions)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The ε of a report is the sum over questions. With memory, a lifetime has ε∞ for each state at most.
func TestEpsilonAddsUp(t *testing.T) {
	s := parse(t, declaration)
	if got := s.Epsilon().String(); got != "5.0986123" {
		t.Errorf("a report has ε = %s", got)
	}
	if got := s.Lifetime().String(); got != "43.986123" { // 10·1 + 10·1.0986123 + 10·2 + 3·1
		t.Errorf("a lifetime has ε = %s", got)
	}
	if got := s.Questions[1].ValueName(1); got != "no" {
		t.Errorf("the value no is %q", got)
	}
}

// Everything but the retention changes the digest.
func TestDigestCoversTheDeclaration(t *testing.T) {
	first := parse(t, declaration).DigestText()
	if first != parse(t, strings.Replace(declaration, "fold: 7d", "fold: 8d", 1)).DigestText() {
		t.Error("the retention changes the digest")
	}
	seen := map[string]string{first: ""}
	for _, change := range [][2]string{
		{"name: dinner", "name: lunch"},
		{"version: 1\nwindow", "version: 2\nwindow"},
		{"opens: 2026-12-01", "opens: 2026-12-02"},
		{"closes: 2027-01-31", "closes: 2027-02-01"},
		{"skew: 5m", "skew: 6m"},
		{"reports: 10", "reports: 11"},
		{"name: phone", "name: tablet"},
		{"at dinner?", "at lunch?"},
		{"[never, sometimes", "[sometimes, never"},
		{"mechanism: krr", "mechanism: oue"},
		{"epsilon: 1\n", "epsilon: 1.5\n"},
		{"values: 1000", "values: 1001"},
		{"positions: 2", "positions: 1"},
	} {
		text := strings.Replace(declaration, change[0], change[1], 1)
		digest := parse(t, text).DigestText()
		if earlier, there := seen[digest]; there {
			t.Errorf("%s has the digest of %q", change[1], earlier)
		}
		seen[digest] = change[1]
	}
}

// A survey that is read from its public form is the same, except for its retention. Other forms are refused.
func TestPublicForm(t *testing.T) {
	s := parse(t, strings.Replace(declaration, "questions:", `questions:
  - {name: city, values: 9, mechanism: loloha, epsilon: 2, first: 0.5}
  - {name: age, bounds: [-0.5, 1e2], mechanism: hybrid, epsilon: 2}
  - {name: tea, values: 300, mechanism: flh, epsilon: 2, seed: 7}`, 1))
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := survey.ReadPublic(text)
	if err != nil {
		t.Fatal(err)
	}
	r := report(t, again)
	if b, err := s.ReadBinary(again.Binary([]survey.Report{r}), 1); err != nil || len(b.Reports) != 1 || again.Fold != 0 {
		t.Errorf("a report of the public form: %v %v", b.Refused, err)
	}
	if v, err := again.Questions[3].ValueOf("always"); err != nil || v != 2 {
		t.Errorf("the value always is %d, %v", v, err)
	}
	for _, change := range [][2]string{
		{`{"version":1,`, `{"version":2,`},
		{`"digest":"`, `"digest":"0`},
		{`"name":"dinner"`, `"name":"dinner "`},
		{`"name":"phone"`, `"name":"meat"`},
		{`"name":"phone"`, `"name":"pho\u0000ne"`},
		{`"always"`, `"never"`},
		{`"sometimes",`, ``},
		{`"epsilon":"2"`, `"epsilon":"-2"`},
		{`"epsilon":"2"`, `"epsilon":"2.1"`},
		{`"first":"0.5"`, `"first":"3"`},
		{`"first":"0.5"`, `"first":"x"`},
		{`"lifetime_epsilon":"`, `"lifetime_epsilon":"1`},
		{`"bits":2`, `"bits":1000000000000`},
		{`"low":"-0.5"`, `"low":"-0.50"`},
		{`"low":"-0.5"`, `"low":"100"`},
		{`"low":"-0.5"`, `"low":"1e-999999999"`},
		{`"low":"-0.5",`, ``},
		{`"high":"1e2"`, `"high":"1e19"`},
		{`"mechanism":"hybrid"`, `"mechanism":"best"`},
		{`"mechanism":"hybrid"`, `"mechanism":"krr"`},
		{`"k":1000,`, `"k":1,`},
		{`"k":1000,`, `"k":18446744073709551615,`},
		{`"reports":10,`, `"reports":0,`},
		{`"skew_seconds":300`, `"skew_seconds":-1`},
		{`"skew_seconds":300`, `"skew_seconds":9223372036854775807`},
		{`"opens":"2026-12-01T00:00:00Z"`, `"opens":"2026-12-01"`},
		{`"mechanism":"hr"`, `"mechanism":"none"`},
		{`"survey_version":1`, `"survey_version":1,"more":1`},
		{`"questions":[`, `"questions":[],"x":[`},
	} {
		other := strings.Replace(string(text), change[0], change[1], 1)
		if _, err := survey.ReadPublic([]byte(other)); other == string(text) || !errors.Is(err, survey.ErrSurvey) {
			t.Errorf("%s: %v", change[1], err)
		}
	}
	for _, other := range []string{"", "null", "[]", "{}", string(text) + "{}", string(text[:len(text)-1])} {
		if _, err := survey.ReadPublic([]byte(other)); !errors.Is(err, survey.ErrSurvey) {
			t.Errorf("%.20s: %v", other, err)
		}
	}
}

// Answers about numbers are clamped and scaled, and texts that are no decimal numbers are refused. So are bytes that the
// randomizer never sends.
func TestNumbers(t *testing.T) {
	s := parse(t, `
survey: 1
name: sleep
version: 1
retention: {fold: 1d}
questions: [{name: hours, bounds: [-2.5, 12.5], mechanism: piecewise, epsilon: 1}]
`)
	q := &s.Questions[0]
	for text, want := range map[string]float64{"5": 0, "12.5": 1, "-99": -1, "1e3": 1, "8.75": .5} {
		if a, err := q.AnswerOf(text); err != nil || a.Number != want {
			t.Errorf("%s is %v, %v", text, a, err)
		}
	}
	for _, text := range []string{"", "x", "NaN", "Inf", "1,5", "0x1", "1e999999999"} {
		if _, err := q.AnswerOf(text); !errors.Is(err, survey.ErrValue) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := s.Randomize([]survey.Answer{{Number: 1.5}}); !errors.Is(err, survey.ErrValue) {
		t.Errorf("a number outside: %v", err)
	}
	r := report(t, s)
	bad := r
	bad.Answers = [][]byte{{0xff, 0xff, 0xff}}
	b, err := s.ReadBinary(s.Binary([]survey.Report{r, bad}), 2)
	if err != nil || len(b.Reports) != 1 || len(b.Refused) != 1 || b.Refused[0].Code != survey.InvalidReport {
		t.Errorf("%+v, %v", b, err)
	}
	if s.Epsilon().String() != "1" || q.Bits() != 22 || q.Size() != 3 {
		t.Errorf("ε = %s, %d bits", s.Epsilon(), q.Bits())
	}
}

// A retention that cannot be kept is refused wherever it stands.
func TestRetentionAfterQuestions(t *testing.T) {
	for values, ok := range map[int]bool{1 << 20: true, 1<<20 + 1: false, 1 << 30: false} {
		text := fmt.Sprintf("survey: 1\nname: a\nversion: 1\nquestions: [{name: q, values: %d, mechanism: olh, epsilon: 1}]\n"+
			"retention: {fold: 1d}\n", values)
		if _, err := survey.Parse([]byte(text)); (err == nil) != ok {
			t.Errorf("%d values: %v", values, err)
		}
	}
}

func TestInvalidSurveysAreRefused(t *testing.T) {
	for _, change := range [][3]string{
		{"survey: 1", "survey: 2", "line 2: survey"},
		{"survey: 1", "surveys: 1", `no key "surveys"`},
		{"name: dinner", "name: dinner\nname: lunch", "name is there twice"},
		{"name: dinner", "name: a b", "letters"},
		{"name: dinner", "", "has no name"},
		{"version: 1\nwindow", "version: 0\nwindow", "line 4: version"},
		{"version: 1\nwindow", "version: 1e1\nwindow", "line 4: version"},
		{"opens: 2026-12-01T00:00:00Z", "opens: tomorrow", "is a time"},
		{"opens: 2026-12-01", "opens: 2028-12-01", "after opens"},
		{"skew: 5m", "skew: -5m", "a duration"},
		{"skew: 5m", "skew: 5", "a duration"},
		{"skew: 5m", "skew: 40d", "at most 31d"},
		{"reports: 10", "reports: 0", "reports"},
		{"[never, sometimes", "[always, sometimes", "there twice"},
		{"[never, sometimes, always]", "[never]", "at least 2"},
		{"[never, sometimes, always]", "[never, [a]]", "single value"},
		{"[never, sometimes, always]", "3.5", "whole number"},
		{"[never, sometimes, always]", "&a [x, y]", "a list of"},
		{"    mechanism: krr\n", "", "krr suits few values"},
		{"mechanism: krr", "mechanism: kr", "no mechanism"},
		{"mechanism: krr", "mechanism: duchi", "no mechanism"},
		{"epsilon: 1\n", "epsilon: 0\n", "line 13: epsilon"},
		{"epsilon: 1\n", "epsilon: 41\n", "ε"},
		{"    epsilon: 1\n", "", "epsilon"},
		{"mechanism: coin", "mechanism: coin, epsilon: 1", "coin"},
		{"positions: 2", "positions: 6", "positions"},
		{"name: meat", "name: phone", "two questions"},
		{"values: 1000, mechanism: hr", "values: 100000000, mechanism: olh", "fold"},
		{"values: 1000, mechanism: hr", "values: 1048577, mechanism: loloha", "use flh or hr, or at most 1048576 values"},
		{"retention: {fold: 7d}", "retention: {fold: 0d}", "fold is above 0"},
		{"values: 1000, mechanism: hr", "values: 16000000, mechanism: oue", "bytes"},
		{"values: 5, mechanism: dbit, epsilon: 1, positions: 2", "mechanism: krr, epsilon: 1", "values, or bounds"},
		{"values: 5, mechanism: dbit, epsilon: 1, positions: 2", "bounds: [0, 1], mechanism: krr, epsilon: 1", "duchi, piecewise or hybrid"},
		{"values: 5, mechanism: dbit, epsilon: 1, positions: 2", "bounds: [1, 0], mechanism: duchi, epsilon: 1", "the smaller one first"},
		{"values: 5, mechanism: dbit, epsilon: 1, positions: 2", "bounds: [1, 1.0000000000000000001], mechanism: duchi, epsilon: 1", "bounds"},
		{"values: 5, mechanism: dbit, epsilon: 1, positions: 2", "bounds: [0, 1e99], mechanism: duchi, epsilon: 1", "10¹⁸"},
		{"values: 5, mechanism: dbit, epsilon: 1, positions: 2", "bounds: [0], mechanism: duchi, epsilon: 1", "two numbers"},
		{"values: 5, mechanism: dbit, epsilon: 1, positions: 2", "bounds: [0, x], mechanism: duchi, epsilon: 1", "decimal"},
		{"values: 5, mechanism: dbit, epsilon: 1, positions: 2", "bounds: [0, 1], mechanism: duchi, epsilon: 41", "at most 40"},
		{"values: 5, mechanism: dbit, epsilon: 1, positions: 2", "bounds: [0, 1], mechanism: duchi", "at least 1e-6"},
		{"mechanism: dbit, epsilon: 1, positions: 2", "bounds: [0, 1], mechanism: duchi, epsilon: 1", "values and bounds"},
		{"values: 5, mechanism: dbit", "bounds: [0, 1], mechanism: duchi", "without seed, first and positions"},
		{"survey: 1", "--- {}\n---\nsurvey: 1", "document"},
	} {
		text := strings.Replace(declaration, change[0], change[1], 1)
		if text == declaration {
			t.Fatalf("%q changes nothing", change[0])
		}
		_, err := survey.Parse([]byte(text))
		if !errors.Is(err, survey.ErrSurvey) || !strings.Contains(err.Error(), change[2]) {
			t.Errorf("%q: %v", change[1], err)
		}
	}
	for _, text := range []string{"", "- a", "a", "\x00", "a: &a [*a]", "questions: []"} {
		if _, err := survey.Parse([]byte(text)); !errors.Is(err, survey.ErrSurvey) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Reports pass through both forms unchanged.
func TestFormsKeepReports(t *testing.T) {
	s := parse(t, declaration)
	var reports []survey.Report
	for range 20 {
		reports = append(reports, report(t, s))
	}
	text, err := s.BatchJSON(reports)
	if err != nil {
		t.Fatal(err)
	}
	one, err := s.JSON(reports[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func() (survey.Batch, error){
		"binary": func() (survey.Batch, error) { return s.ReadBinary(s.Binary(reports), 20) },
		"JSON":   func() (survey.Batch, error) { return s.ReadJSON(text, 20) },
		"one":    func() (survey.Batch, error) { return s.ReadJSON(one, 20) },
	} {
		b, err := read()
		want := reports
		if name == "one" {
			want = reports[:1]
		}
		if err != nil || len(b.Refused) > 0 || string(s.Binary(b.Reports)) != string(s.Binary(want)) {
			t.Errorf("%s: %v, %v", name, err, b.Refused)
		}
	}
}

// code returns the code of the refusal of a batch, or of its one report.
func code(t *testing.T, b survey.Batch, err error) string {
	t.Helper()
	var why *survey.Refusal
	switch {
	case errors.As(err, &why):
		return why.Code
	case err != nil:
		t.Fatal(err)
	case len(b.Refused) == 1 && len(b.Reports) == 0:
		return b.Refused[0].Code
	}
	return ""
}

func TestHostileJSONIsRefused(t *testing.T) {
	s := parse(t, declaration)
	text, err := s.JSON(report(t, s))
	if err != nil {
		t.Fatal(err)
	}
	var of struct{ ID, Survey string }
	if err := json.Unmarshal(text, &of); err != nil {
		t.Fatal(err)
	}
	good := `{"version":1,"survey":"` + of.Survey + `","id":"` + of.ID +
		`","answers":{"phone":"40","meat":"80","postcode":"` + strings.Repeat("0", 2*s.Questions[2].Size()) + `","mood":"06"}}`
	if b, err := s.ReadJSON([]byte(good), 1); err != nil || len(b.Reports) != 1 {
		t.Fatalf("%v %v", b.Refused, err)
	}
	other := parse(t, strings.Replace(declaration, "epsilon: 1\n", "epsilon: 3\n", 1))
	for _, change := range [][3]string{
		{`"version":1`, `"version":2`, survey.WrongVersion},
		{`"version":1`, `"version":1.5`, survey.Malformed},
		{`"version":1`, `"version":1,"version":1`, survey.Malformed},
		{`"version":1`, `"Version":1`, survey.Malformed},
		{`"version":1,`, ``, survey.Malformed},
		{of.Survey, other.DigestText(), survey.AnotherSurvey}, // a larger ε than the declared one
		{of.Survey, strings.Repeat("z", 10000), survey.AnotherSurvey},
		{of.ID, of.ID[1:], survey.Malformed},
		{of.ID, "zz" + of.ID[2:], survey.Malformed},
		{`"phone":"40"`, `"phone":"c0"`, survey.InvalidReport}, // the value 3 of 3
		{`"phone":"40"`, `"phone":"41"`, survey.InvalidReport}, // bits after the end
		{`"phone":"40"`, `"phone":"4040"`, survey.InvalidReport},
		{`"phone":"40"`, `"phone":"4"`, survey.InvalidReport},
		{`"phone":"40"`, `"phone":"4x"`, survey.Malformed},
		{`"phone":"40"`, `"phone":40`, survey.Malformed},
		{`"phone":"40"`, `"phone":"40","phone":"40"`, survey.Malformed},
		{`"phone":"40"`, `"Phone":"40"`, survey.UnknownQuestion},
		{`"phone":"40",`, ``, survey.MissingQuestion},
		{`"mood":"06"`, `"mood":"02"`, survey.InvalidReport}, // the position 0 twice
		{`"mood":"06"`, `"mood":"06","x":"00"`, survey.UnknownQuestion},
		{`}}`, `}`, survey.Malformed},
		{`}}`, `}}{}`, survey.Malformed},
		{`{"version"`, `[{"version"`, survey.Malformed},
		{`"answers":{`, `"answers":[],"answer":{`, survey.Malformed},
		{`"id"`, `"epsilon":9,"id"`, survey.Malformed},
	} {
		text := strings.Replace(good, change[0], change[1], 1)
		b, err := s.ReadJSON([]byte(text), 1)
		if got := code(t, b, err); got != change[2] {
			t.Errorf("%s: %q, want %s", text, got, change[2])
		}
	}
	two, err := s.BatchJSON([]survey.Report{report(t, s), report(t, s)})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.ReadJSON(two, 1)
	if got := code(t, b, err); got != survey.TooLarge {
		t.Errorf("a batch beyond the limit: %q", got)
	}
	b, err = s.ReadJSON([]byte(strings.Replace(string(two), `"answers"`, `"answer"`, 1)), 2)
	if err != nil || len(b.Reports) != 1 || len(b.Refused) != 1 || b.Refused[0].Index != 0 || b.At[0] != 1 {
		t.Errorf("a batch with one malformed report: %v, %v", b, err)
	}
}

func TestHostileBytesAreRefused(t *testing.T) {
	s := parse(t, declaration)
	good := s.Binary([]survey.Report{report(t, s), report(t, s)})
	change := func(at int, to byte) []byte {
		out := append([]byte(nil), good...)
		out[at] = to
		return out
	}
	for name, of := range map[string]struct {
		data []byte
		code string
	}{
		"empty":     {nil, survey.Malformed},
		"no magic":  {change(0, 'x'), survey.Malformed},
		"version":   {change(3, 2), survey.WrongVersion},
		"digest":    {change(5, good[5]^1), survey.AnotherSurvey},
		"header":    {good[:survey.HeaderSize], survey.Malformed},
		"truncated": {good[:len(good)-1], survey.Malformed},
		"oversized": {append(append([]byte(nil), good...), good[survey.HeaderSize:]...), survey.TooLarge},
	} {
		b, err := s.ReadBinary(of.data, 2)
		if got := code(t, b, err); got != of.code {
			t.Errorf("%s: %q, want %s", name, got, of.code)
		}
	}
	b, err := s.ReadBinary(change(survey.HeaderSize+16, 0xc0), 2)
	if err != nil || len(b.Reports) != 1 || len(b.Refused) != 1 || b.Refused[0].Code != survey.InvalidReport {
		t.Errorf("an unknown value: %v, %v", b, err)
	}
}

func FuzzSurvey(f *testing.F) {
	f.Add([]byte(declaration))
	f.Add([]byte("survey: 1\nname: a\nversion: 1\nquestions: [{name: q, values: 2, mechanism: coin}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := survey.Parse(text)
		if err != nil {
			if !errors.Is(err, survey.ErrSurvey) {
				t.Fatal(err)
			}
			return
		}
		if s.Size() < 1 || s.Epsilon().IsZero() || s.Lifetime().Cmp(s.Epsilon()) < 0 {
			t.Fatalf("a survey without reports or ε: %+v", s)
		}
	})
}

// A report that is read is one that the randomizers can send, so it is counted without an error.
func fuzzed(t *testing.T, s *survey.Survey, b survey.Batch, err error) {
	if why := (*survey.Refusal)(nil); err != nil && !errors.As(err, &why) {
		t.Fatal(err)
	}
	for _, r := range b.Reports {
		for i := range s.Questions {
			if err := s.Questions[i].Oracle.NewTally().Add(r.Answers[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func FuzzJSON(f *testing.F) {
	s := parse(f, declaration)
	one, err := s.JSON(report(f, s))
	if err != nil {
		f.Fatal(err)
	}
	two, err := s.BatchJSON([]survey.Report{report(f, s), report(f, s)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(one)
	f.Add(two)
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := s.ReadJSON(data, 10)
		fuzzed(t, s, b, err)
	})
}

func FuzzBinary(f *testing.F) {
	s := parse(f, declaration)
	f.Add(s.Binary([]survey.Report{report(f, s), report(f, s)}))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := s.ReadBinary(data, 10)
		fuzzed(t, s, b, err)
		if err == nil && len(b.Refused) == 0 && string(s.Binary(b.Reports)) != string(data) {
			t.Fatal("the reports are not those of the bytes")
		}
	})
}
