package curator

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The questions of testdata/questions have the forms that people's tools send. A file is a family of questions. Its
// head names the policy and the floor: the least share of the family, in per cent, that is answered. A line before
// each question says what is expected of it:
//
//	--= answered
//	--= open: words of the refusal       it should be answered, and is not yet
//	--= refused: words of the refusal    it is refused for good; docs/reference/sql.md has the reason and a pattern
//
// TestQuestions explains every question, so it reads no row. When a change makes more questions answered, run it
// with the flag -questions.update: it turns "open" into "answered", raises floors and copies new words of refusals.
// It never turns "answered" into a refusal. If two branches change the same notes, take either version and run it
// again. The flag -questions.list prints all refusals (make questions).
var (
	updateQuestions = flag.Bool("questions.update", false, "note which further questions are answered, and raise floors")
	listQuestions   = flag.Bool("questions.list", false, "print each refused question with its message and hint")
)

// questionTables lists the tables of each policy in testdata/questions. Public tables come first, because others take
// values from them.
var questionTables = map[string][]string{
	"ferry":   {"routes", "trips", "passengers"},
	"meters":  {"readings", "households"},
	"freight": {"ports", "zones", "carriers", "goods", "offers", "clients", "shipments", "parcels"},
}

// finalRates are the shares of answered questions that are the goal for each family, in per cent.
var finalRates = map[string]int{
	"metabase": 97, "superset": 97, "grafana": 97, "dbeaver": 97, "tpch": 70, "analysts": 85,
}

// noted is one question with the line before it.
type noted struct {
	line          int
	verdict, want string // the verdict is "answered", "open", "refused" or "?"
	sql           string
}

// family is one file of questions.
type family struct {
	name, policy string
	floor        int
	head         []string
	questions    []noted
}

func TestQuestions(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	files, err := filepath.Glob("../testdata/questions/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no questions", err)
	}
	sessions, all := map[string]*Session{}, 0
	for _, file := range files {
		f := readFamily(t, file)
		if sessions[f.policy] == nil {
			sessions[f.policy] = sealedHome(t, f.policy)
		}
		all += len(f.questions)
		t.Run(f.name, func(t *testing.T) { f.check(t, sessions[f.policy], file) })
	}
	if all < 400 {
		t.Errorf("there are %d questions, fewer than 400", all)
	}
}

// check explains each question of the family, and compares the outcome with its note.
func (f *family) check(t *testing.T, session *Session, file string) {
	answered, named := 0, documentedReasons(t)
	for i := range f.questions {
		q := &f.questions[i]
		_, err := session.Explain(t.Context(), Question{SQL: q.sql})
		message, hint := refusal(err)
		if err == nil {
			answered++
		} else if *listQuestions {
			fmt.Printf("%s:%d: %s%s\nhint: %s\n\n", file, q.line, q.sql, message, hint)
		}
		if err != nil && !named(message) {
			t.Errorf("%s:%d: docs/reference/sql.md has no row for the reason %q, below Reasons", file, q.line, message)
		}
		switch {
		case err == nil && q.verdict == "answered":
		case err != nil && (q.verdict == "open" || q.verdict == "refused") && strings.Contains(message, q.want):
		case *updateQuestions && err == nil && q.verdict != "refused":
			q.verdict, q.want = "answered", ""
		case *updateQuestions && err != nil && q.verdict != "answered":
			if q.verdict == "?" {
				q.verdict = "open"
			}
			q.want = words(message)
		default:
			t.Errorf("%s:%d: want %s %q; got %q (hint: %s)\n%sIf this is better than before: "+
				"go test ./curator -run TestQuestions -questions.update", file, q.line, q.verdict, q.want, message, hint, q.sql)
		}
	}
	rate := 100 * answered / len(f.questions)
	t.Logf("%d of %d are answered: %d %% (floor %d %%, goal %d %%)", answered, len(f.questions), rate, f.floor,
		finalRates[f.name])
	if rate < f.floor {
		t.Errorf("%d %% are answered, below the floor of %d %%", rate, f.floor)
	}
	if *updateQuestions && !t.Failed() {
		f.floor = max(f.floor, rate/5*5) // in steps of 5, so that branches seldom change the same line
		f.write(t, file)
	}
}

// documentedReasons returns a function that reports whether the table of reasons in docs/reference/sql.md has the reason of
// a refusal.
func documentedReasons(t *testing.T) func(message string) bool {
	t.Helper()
	page, err := os.ReadFile("../docs/reference/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n### Reasons\n")
	table, _, _ = strings.Cut(table, "\n#")
	var reasons []*regexp.Regexp
	for line := range strings.Lines(table) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, quoted := range regexp.MustCompile("`[^`]+`").FindAllString(cell, -1) {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.Trim(quoted, "`")), "…", ".+")
			reasons = append(reasons, regexp.MustCompile("^"+pattern+"$"))
		}
	}
	if len(reasons) < 20 {
		t.Fatalf("%d reasons are documented", len(reasons))
	}
	return func(message string) bool {
		message = placeOfError.ReplaceAllString(message, "")
		return slices.ContainsFunc(reasons, func(r *regexp.Regexp) bool { return r.MatchString(message) })
	}
}

// refusal returns the message and the hint of an error.
func refusal(err error) (message, hint string) {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Message, e.Hint
	}
	if err != nil {
		message = err.Error()
	}
	return message, ""
}

var placeOfError = regexp.MustCompile(`^\d+:\d+: `)

// words returns the first words of a message, without its position.
func words(message string) string {
	const most = 60
	message = placeOfError.ReplaceAllString(message, "")
	if len(message) <= most {
		return message
	}
	return message[:strings.LastIndexByte(message[:most], ' ')]
}

func readFamily(t *testing.T, file string) *family {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f := &family{name: strings.TrimSuffix(filepath.Base(file), ".sql"), floor: -1}
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		note, ok := strings.CutPrefix(line, "--= ")
		switch {
		case ok:
			verdict, want, _ := strings.Cut(note, ": ")
			f.questions = append(f.questions, noted{line: i + 1, verdict: verdict, want: want})
		case len(f.questions) > 0:
			f.questions[len(f.questions)-1].sql += line + "\n"
		default:
			f.head = append(f.head, line)
			if name, ok := strings.CutPrefix(line, "-- policy: "); ok {
				f.policy = name
			}
			if floor, ok := strings.CutPrefix(line, "-- floor: "); ok {
				f.floor, err = strconv.Atoi(floor)
			}
		}
	}
	if err != nil || f.floor < 0 || questionTables[f.policy] == nil || len(f.questions) == 0 {
		t.Fatalf("%s: a file begins with the lines `-- policy: name` and `-- floor: number`, then come questions", file)
	}
	return f
}

func (f *family) write(t *testing.T, file string) {
	t.Helper()
	var out bytes.Buffer
	for _, line := range f.head {
		if strings.HasPrefix(line, "-- floor: ") {
			line = fmt.Sprintf("-- floor: %d", f.floor)
		}
		fmt.Fprintln(&out, line)
	}
	for _, q := range f.questions {
		note := q.verdict
		if q.want != "" {
			note += ": " + q.want
		}
		fmt.Fprintf(&out, "--= %s\n%s", note, q.sql)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// sealedHome makes a home with a policy of testdata/questions, seals its tables, and returns its session.
func sealedHome(t *testing.T, policy string) *Session {
	t.Helper()
	return sealedHomeAt(t, policy, filepath.Join(t.TempDir(), policy))
}

func sealedHomeAt(t *testing.T, policy, home string) *Session {
	t.Helper()
	return sealedTables(t, policy, home, questionTables[policy])
}

// sealedTables is sealedHomeAt with only some of the tables sealed.
func sealedTables(t *testing.T, policy, home string, sealed []string) *Session {
	t.Helper()
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	take := func(from, to string) {
		text, err := os.ReadFile(filepath.Join("../testdata/questions", from))
		if err == nil {
			err = os.WriteFile(filepath.Join(home, to), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	take(policy+".yaml", "policy.yaml")
	for _, table := range questionTables[policy] {
		take(table+".csv", table+".csv")
	}
	owner, err := Open(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Close() })
	for _, table := range sealed {
		if _, err := owner.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(table, err)
		}
	}
	return owner.Session()
}
