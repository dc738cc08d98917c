package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	update  = flag.Bool("update", false, "write the golden files")
	gallery = flag.String("gallery", "", "write every case as a picture into this folder, to look at")
)

const caption = "price ε = 0.2; 95 % intervals cover noise, not sampling"

// around is a mark of v ± half.
func around(v, half float64) Mark {
	return Mark{Value: v, Low: v - half, High: v + half, Text: fmt.Sprintf("%g ± %g", v, half)}
}

// series makes marks of a function of the group's number.
func series(n int, f func(int) Mark) []Mark {
	out := make([]Mark, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

func numbers(n int, f string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(f, i)
	}
	return out
}

func one(name string, points bool, marks ...Mark) []Panel {
	return []Panel{{Name: name, Points: points, Marks: [][]Mark{marks}}}
}

var hostile = []string{
	"</text><script>alert(1)</script>", "a\x1b[31mred\x00", "q\"uote'&amp;", strings.Repeat("long ", 4000), "\xff\xfe bad", "\u202eevil", "two\nlines", "",
}

// cases are charts of every kind, with what a reader would do to one.
func cases() map[string]Chart {
	inf, nan := math.Inf(1), math.NaN()
	bell := func(i int) Mark {
		x := float64(i-40) / 18
		return around(math.Round(9000*math.Exp(-x*x/2)+60*math.Sin(float64(i*i))), 180)
	}
	regions := []string{"north", "south", "east", "west", "the far north-east, with its islands"}
	return map[string]Chart{
		"bars": {
			Title: "SELECT region, COUNT(*) AS n FROM people GROUP BY region", Caption: caption, Key: "region", Groups: regions,
			Panels: one("n", false, around(12840, 900), around(9120, 900), around(15010, 900), around(310, 900), around(-420, 900)),
		},
		"histogram": {
			Title: "SELECT age, COUNT(*) AS n FROM people GROUP BY age", Caption: caption, Key: "age", Groups: numbers(100, "%d"), Ordered: true,
			Panels: one("n", false, series(100, bell)...),
		},
		"points": {
			Title:   "SELECT CASE WHEN hlthp = 1 THEN 'poor' WHEN hlthf = 1 THEN 'fair' WHEN hlthg = 1 THEN 'good' ELSE 'excellent' END AS health, AVG(mdvis) AS visits, AVG(disea) AS disease_index FROM visits GROUP BY health ORDER BY visits",
			Caption: caption, Key: "health", Groups: []string{"excellent", "good", "fair", "poor"},
			Panels: []Panel{
				{Name: "visits", Points: true, Marks: [][]Mark{{around(2.57, 0.05), around(2.98, 0.07), around(3.61, 0.2), around(4.86, 0.62)}}},
				{Name: "disease_index", Points: true, Marks: [][]Mark{{around(9.6, 0.1), around(11.8, 0.15), around(15.8, 0.5), around(20.3, 1.3)}}},
			},
		},
		"series": {
			Title: "SELECT year, sex, SUM(cost) AS cost FROM visits GROUP BY year, sex", Caption: caption, Key: "year", Ordered: true,
			Groups: numbers(12, "20%02d"), Legend: "sex", Series: []string{"female", "male", "not said"},
			Panels: []Panel{{Name: "cost", Marks: [][]Mark{
				series(12, func(i int) Mark { return around(1.2e6+float64(i)*4e4, 9e4) }),
				series(12, func(i int) Mark { return around(1.1e6+float64(i)*3e4, 9e4) }),
				series(12, func(i int) Mark { return Mark{Value: 6e4, Low: -3e4, High: 1.5e5, Missing: i == 4} }),
			}}},
		},
		"three panels": {
			Title: "SELECT region, COUNT(*) AS n, AVG(age) AS age, SUM(balance) AS balance FROM people GROUP BY region", Caption: caption,
			Key: "region", Groups: regions,
			Panels: []Panel{
				{Name: "n", Marks: [][]Mark{series(5, func(i int) Mark { return around(float64(100*i), 30) })}},
				{Name: "age", Points: true, Marks: [][]Mark{series(5, func(i int) Mark { return around(40+float64(i), 2) })}},
				{Name: "balance", Marks: [][]Mark{series(5, func(i int) Mark { return around(float64(i-2)*1e9, 3e8) })}},
			},
		},
		"alone": {Title: "SELECT COUNT(*) FROM people", Caption: caption, Groups: []string{""}, Panels: one("count", false, around(20190, 15))},
		"open ends": {
			Title: "SELECT k, AVG(x) FROM t GROUP BY k", Caption: caption, Key: "k", Groups: numbers(6, "k%d"),
			Panels: one(
				"avg", true, around(5, 1), Mark{Value: 4, Low: -inf, High: inf}, Mark{Value: nan, Low: 3, High: 7}, Mark{Value: nan, Low: -inf, High: inf},
				around(6, 900), Mark{Value: 5, Low: nan, High: nan},
			),
		},
		"infinite": {Caption: caption, Groups: numbers(4, "g%d"), Panels: one("x", false, Mark{Value: inf, Low: -inf, High: inf}, Mark{Value: -inf}, around(1e308, 1e307), around(1, 1))},
		"tiny":     {Groups: numbers(2, "g%d"), Panels: one("x", true, Mark{Value: 5e-324}, Mark{Value: 1e-310, High: 2e-310})},
		"close":    {Groups: numbers(2, "g%d"), Panels: one("x", true, Mark{Value: 1e17, Low: 1e17 - 16, High: 1e17 + 16}, Mark{Value: 1e17 + 16, Low: 1e17, High: 1e17 + 32})},
		"nothing":  {Groups: numbers(2, "g%d"), Panels: one("x", false, Mark{Value: nan, Low: nan, High: nan}, Mark{Missing: true})},
		"empty":    {Title: "SELECT k, COUNT(*) FROM t GROUP BY k HAVING COUNT(*) > 9", Caption: caption, Key: "k", Panels: one("count", false)},
		"no panel": {Title: "SELECT k FROM t", Groups: []string{"a"}},
		"equal":    {Title: "equal", Groups: numbers(3, "g%d"), Panels: one("x", true, Mark{Value: 7, Low: 7, High: 7}, Mark{Value: 7, Low: 7, High: 7}, Mark{Value: 7, Low: 7, High: 7})},
		"hostile": {
			Title: hostile[0] + hostile[1] + hostile[3], Caption: hostile[2] + hostile[5], Key: hostile[6], Groups: hostile, Legend: hostile[0], Series: hostile,
			Panels: []Panel{{Name: hostile[0] + hostile[3], Marks: func() (out [][]Mark) {
				for range hostile {
					out = append(out, series(len(hostile), func(i int) Mark { return around(float64(i), 1) }))
				}
				return out
			}()}},
		},
		"many names": {
			Title: "SELECT town, COUNT(*) AS n FROM people GROUP BY town", Caption: caption, Key: "town", Groups: numbers(90, "a town called %d"),
			Panels: one("n", false, series(90, bell)...),
		},
		"ten thousand": {
			Title: "SELECT day, COUNT(*) AS n FROM events GROUP BY day", Caption: caption, Key: "day", Groups: numbers(10_000, "%d"), Ordered: true,
			Panels: one("n", false, series(10_000, func(i int) Mark {
				m := around(500+400*math.Sin(float64(i)/900)+20*math.Sin(float64(i*i)), 60)
				m.Missing = i/100 == 33
				return m
			})...),
		},
		"forty": {
			Title: "SELECT region, AVG(income) AS income FROM people GROUP BY region", Caption: caption, Key: "region", Groups: numbers(40, "region number %d"),
			Panels: one("income", true, series(40, func(i int) Mark { return around(31000+2000*math.Sin(float64(i)), 800) })...),
		},
	}
}

// Every case can be drawn in every format, twice the same; an SVG is one well-formed document whose texts carry no markup.
func TestDraws(t *testing.T) {
	for name, c := range cases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range Formats {
				var first, second bytes.Buffer
				if err := Write(&first, f, c); err != nil {
					t.Fatal(err)
				}
				if f == SVG || name == "bars" { // pixels take long under the race detector
					if err := Write(&second, f, c); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(first.Bytes(), second.Bytes()) {
						t.Errorf("%s: two drawings differ", f)
					}
				}
				if *gallery != "" {
					if err := os.WriteFile(filepath.Join(*gallery, strings.ReplaceAll(name, " ", "-")+"."+string(f)), first.Bytes(), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if f == SVG {
					wellFormed(t, first.Bytes())
					continue
				}
				p := newPage(&c)
				picture, err := png.Decode(&first)
				if err != nil {
					t.Fatal(err)
				}
				size := picture.Bounds().Size()
				if size.X != int(2*p.width) || math.Abs(float64(size.Y)-2*float64(p.height)) > 1 {
					t.Errorf("%v pixels for %v × %v points", size, p.width, p.height)
				}
			}
		})
	}
}

// wellFormed checks that a document is XML of the library's own elements, with finite numbers.
func wellFormed(t *testing.T, doc []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(doc))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		if e, ok := token.(xml.StartElement); ok && !strings.Contains(" svg g path text ", " "+e.Name.Local+" ") {
			t.Errorf("an element <%s>", e.Name.Local)
		}
		if e, ok := token.(xml.StartElement); ok {
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s=%q", a.Name.Local, a.Value)
				}
			}
		}
	}
	if bytes.ContainsAny(doc, "\x00\x1b\u202e\ufffd") {
		t.Error("the document has a character that steers")
	}
}

func TestGolden(t *testing.T) {
	c := cases()["bars"]
	c.Groups, c.Panels[0].Marks[0] = c.Groups[2:], []Mark{around(1010, 90), {Value: math.NaN(), Low: 20, High: math.Inf(1)}, around(-120, 90)}
	var out bytes.Buffer
	if err := Write(&out, SVG, c); err != nil {
		t.Fatal(err)
	}
	golden(t, "bars.svg", out.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestRefuses(t *testing.T) {
	nine := numbers(9, "%d")
	for name, c := range map[string]Chart{
		"too many series":  {Series: nine},
		"too many panels":  {Panels: make([]Panel, 13)},
		"a series short":   {Series: nine[:2], Panels: []Panel{{Marks: make([][]Mark, 1)}}},
		"a mark too many":  {Groups: nine, Panels: one("x", false, make([]Mark, 10)...)},
		"no series at all": {Panels: []Panel{{}}},
	} {
		if err := Write(io.Discard, SVG, c); !errors.Is(err, ErrChart) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Write(io.Discard, "gif", Chart{}); err == nil {
		t.Error("a gif was drawn")
	}
	failing := errors.New("full")
	for _, f := range Formats {
		if err := Write(brokenWriter{failing}, f, cases()["bars"]); !errors.Is(err, failing) {
			t.Errorf("%s to a full disk: %v", f, err)
		}
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// The text charts, for a person to read.
func TestText(t *testing.T) {
	var b strings.Builder
	all := cases()
	for _, name := range []string{"bars", "points", "series", "three panels", "alone", "open ends", "infinite", "tiny", "nothing", "empty", "hostile"} {
		got, err := Text(all[name], 80, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(got, "\n") {
			if n := len([]rune(l)); n > 80 {
				t.Errorf("%s: a line of %d columns", name, n)
			}
		}
		if strings.ContainsAny(got, "\x00\x1b\u202e\ufffd") {
			t.Errorf("%s steers the terminal", name)
		}
		if name != "hostile" {
			fmt.Fprintf(&b, "%s\n\n%s\n", name, got)
		}
	}
	golden(t, "text.golden", b.String())
	for name, c := range all {
		plain, _ := Text(c, 100, false)
		coloured, _ := Text(c, 100, true)
		for _, hue := range []string{"34", "33", "32", "35", "36", "31", "90", "94", "0"} {
			coloured = strings.ReplaceAll(coloured, "\x1b["+hue+"m", "")
		}
		if plain != coloured {
			t.Errorf("%s: colour changes more than colours", name)
		}
	}
	if _, err := Text(Chart{Series: numbers(9, "%d")}, 80, false); !errors.Is(err, ErrChart) {
		t.Errorf("nine series: %v", err)
	}
	if _, err := Text(all["bars"], 0, false); err != nil {
		t.Error(err)
	}
}

// Axes have a few round numbers in their range, in order and told apart by their labels, whatever the range.
func TestTicks(t *testing.T) {
	for _, r := range [][2]float64{
		{0, 1}, {0, 7}, {-3, 12345}, {0.001, 0.00123}, {-1e300, 1e300}, {99.5, 100.5}, {0, 5e-324}, {-1e-9, 1e-9}, {1e17, 1e17 + 16}, {-1, -0.999999},
	} {
		low, high := roomy(r[0], r[1], true)
		labels := map[string]bool{}
		last := math.Inf(-1)
		got := ticks(low, high, 9)
		for _, tick := range got {
			if tick.Value < low || tick.Value > high || tick.Value <= last || labels[tick.Label] {
				t.Errorf("%v: %v", r, got)
				break
			}
			last, labels[tick.Label] = tick.Value, true
		}
		if len(got) < 2 && high > 1e-300 || len(got) > 10 {
			t.Errorf("%v: %d ticks", r, len(got))
		}
	}
}

func TestNumber(t *testing.T) {
	for want, got := range map[string]string{
		"1,234,567": number(1234567, 0), "−1,000": number(-1000, 0), "999": number(999, 0), "0.25": number(0.25, 2), "−0.5": number(-0.5, 1),
		"0": number(math.Copysign(0, -1), 0), "0.0": number(-0.001, 1), "1e15": number(1e15, 0), "−2.5e−07": number(-2.5e-7, 10),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// One interval that is far longer than the others does not flatten them, and its arrow says that it goes on.
func TestSpan(t *testing.T) {
	p := one("x", true, around(5, 1), around(6, 1), around(7, 1), around(6, 1e6))[0]
	low, high := p.span()
	if low > 4 || high < 8 || high-low > 20 {
		t.Errorf("[%v, %v]", low, high)
	}
	c := Chart{Groups: numbers(4, "%d"), Panels: []Panel{p}}
	if got := strings.Join(newPage(&c).caption, ""); !strings.Contains(got, "goes on") {
		t.Errorf("the caption is %q", got)
	}
	// the axis has the line of points, and the numbers that the panel's measure can have, but no line at 0
	p.Line, p.Within = new(20.0), []float64{-3}
	if low, high := p.span(); low > -3 || high < 20 || !slices.Equal(p.lines(), []float64{20}) {
		t.Errorf("[%v, %v], lines %v", low, high, p.lines())
	}
	p.Line = nil
	if low, high := p.span(); low > -3 || high > 20 || len(p.lines()) > 0 {
		t.Errorf("without a line: [%v, %v]", low, high)
	}
	if p.Points = false; !slices.Equal(p.lines(), []float64{0}) {
		t.Errorf("bars have lines at %v", p.lines())
	}
}
