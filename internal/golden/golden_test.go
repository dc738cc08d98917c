package golden

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/plan"
)

// update says what is written anew.
var update = os.Getenv("DITHER_UPDATE_GOLDENS")

func homeFile(name string) string    { return filepath.Join("testdata", "homes", name+".tar.gz") }
func figuresFile(name string) string { return filepath.Join("testdata", "figures", name+".jsonl.gz") }

// recorded makes all randomness that of a name, until the function that it gives is called. Tests here must not run
// at once.
func recorded(name string) (done func()) {
	system := rand.Reader
	rand.Reader = mathrand.NewChaCha8(sha256.Sum256([]byte(name)))
	return func() { rand.Reader = system }
}

// eachHome runs a test for every home that there is a golden of.
func eachHome(t *testing.T, test func(t *testing.T, name string)) {
	t.Helper()
	if update != "" {
		return // what is compared is being written
	}
	files, err := filepath.Glob(homeFile("*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no homes", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".tar.gz")
		if only := os.Getenv("DITHER_GOLDEN_HOME"); only == "" || only == name {
			t.Run(name, func(t *testing.T) { test(t, name) })
		}
	}
}

// Every answer that an old home holds is given again, from its ledger: with the same figures, free, and without an
// entry more.
func TestGoldenReplays(t *testing.T) {
	if update != "" {
		return
	}
	n := 0
	eachHome(t, func(t *testing.T, name string) {
		home, goldens, lost := unpack(t, homeFile(name)), readLines[golden](t, figuresFile(name)), 0
		c, p := open(t, home), policyOf(t, name)
		for _, g := range goldens {
			if g.ID == name {
				got, err := account(c)
				if err != nil {
					t.Fatal(err)
				}
				check(t, g, "account", got, g.Again)
				continue
			}
			if !g.Ask.replayable() {
				continue
			}
			before, err := logged(home)
			if err != nil {
				t.Fatal(err)
			}
			got, err := answered(t.Context(), c, home, g.Ask, false)
			if err != nil {
				t.Errorf("%s: %v", g.ID, err)
				continue
			}
			if _, refused := got.figures["refused"]; !refused {
				if n++; !got.replayed {
					t.Errorf("%s: paid for again, as %s, and not answered from %s\n\tof %s", g.ID, got.release, g.Release, g.Ask.SQL)
					check(t, g, "charged", figures{"": got.figures["charged"]}, figures{"": g.Fresh["charged"]})
					if lost++; lost == 10 {
						t.Fatal("ten answers of this home are not given again: there may be more")
					}
					continue // its numbers have other noise
				}
				if got.release != g.Release {
					t.Errorf("%s: answered from %s, want %s\n\tof %s", g.ID, got.release, g.Release, g.Ask.SQL)
				}
			}
			if after, err := logged(home); err != nil || after != before {
				t.Errorf("%s: free, and the ledger has grown: %v\n\tof %s", g.ID, err, g.Ask.SQL)
			}
			check(t, g, "again", again(got.figures), g.again())
			if foretold, ok := g.Fresh["explained"].(figures); ok {
				e, err := explained(t.Context(), c, g.Ask, g.sums(p) == plan.SumsBeside)
				if err != nil {
					t.Errorf("%s: %v", g.ID, err)
				}
				check(t, g, "explained", e, foretold)
			}
		}
		for _, g := range goldens {
			if g.Ask.Do != "train" {
				continue
			}
			if got, err := resumed(t.Context(), c, home, g); err != nil {
				t.Errorf("%s: %v", g.ID, err)
			} else {
				check(t, g, "next", got, g.Next)
			}
		}
	})
	if t.Logf("%d answers were given again", n); n < 3000 && os.Getenv("DITHER_GOLDEN_HOME") == "" {
		t.Errorf("%d answers were given again, and not 3000", n)
	}
}

// resumed goes on with a training: what was recorded is given again, free, and the next step is drawn.
func resumed(ctx context.Context, c *curator.Owner, home string, g golden) (figures, error) {
	defer recorded(g.ID + " next")()
	before, err := logged(home)
	if err != nil {
		return nil, err
	}
	out, had, err := train(ctx, c, g.Ask, min(g.Ask.Taken+1, g.Ask.Steps), false)
	if err != nil {
		return nil, err
	}
	entries, err := before.since(home)
	if err != nil {
		return nil, err
	}
	var kinds []string
	for _, e := range entries {
		kinds = append(kinds, e.Kind)
	}
	out["recorded"], out["entries"] = had, kinds
	return plain(out)
}

// computed asks a question afresh, under the randomness of its name.
func computed(ctx context.Context, c *curator.Owner, home string, g golden) (figures, error) {
	defer recorded(g.ID)()
	got, err := answered(ctx, c, home, g.Ask, true)
	if err != nil || g.Ask.Do != "" {
		return got.figures, err
	}
	if _, refused := got.figures["refused"]; refused {
		return got.figures, nil
	}
	e, err := explained(ctx, c, g.Ask, true)
	if err != nil {
		return nil, err
	}
	got.figures["explained"] = e
	return got.figures, nil
}

// again are the figures that a replay has too.
func again(all figures) figures {
	out := figures{}
	for name, v := range all {
		if name != "charged" && name != "explained" {
			out[name] = v
		}
	}
	return out
}

func (g golden) again() figures {
	if g.Again != nil {
		return g.Again
	}
	return again(g.Fresh)
}

// Questions are planned, charged and answered afresh with the same figures as before, over the sealed tables of the
// old homes, under the randomness that goes with their names: the replays' own figures are of the same randomness.
// Each takes some 80 ms, most of them the rehearsal's: by default every primitive is asked, and of the questions
// for an answer one in sixteen; with DITHER_LONG=1 all.
func TestGoldenFigures(t *testing.T) {
	if update != "" {
		return
	}
	n, long := 0, os.Getenv("DITHER_LONG") != ""
	eachHome(t, func(t *testing.T, name string) {
		home, goldens := unpack(t, homeFile(name)), readLines[golden](t, figuresFile(name))
		c, p := open(t, home), policyOf(t, name)
		for i, g := range goldens {
			if g.ID == name || g.Ask.Follows || g.Ask.Do == "" && i%16 != 3 && !long {
				continue
			}
			if g.sums(p) == plan.SumsApart { // such a plan is only replayed: see TestGoldenReplays
				continue
			}
			got, err := computed(t.Context(), c, home, g)
			if err != nil {
				t.Errorf("%s: %v\n\tof %s", g.ID, err, g.Ask.SQL)
				continue
			}
			if check(t, g, "fresh", got, g.Fresh); len(got["charged"].([]any)) > 0 {
				n++
			}
		}
	})
	if t.Logf("%d questions were answered", n); (n < 250 || n < 3000 && long) && os.Getenv("DITHER_GOLDEN_HOME") == "" {
		t.Errorf("%d questions were answered", n)
	}
}
