package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/curator"
)

const kmPolicy = `
version: 1
population: {name: people, neighbours: add-remove}
budget: {epsilon: 100}
price: {default: 1, maximum: 50}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      x: {type: real, bounds: [-1, 1], nullable: true}
      y: {type: real, bounds: [10, 30]}
      n: {type: integer, bounds: [0, 100]}
      word: {type: text, values: [a, b]}
      free: {type: real}
      digit: {type: integer, values: [1, 2, 9]}
      z: {type: integer, bounds: [3, 3]}
`

// kmHome is a home with rows "x,y,n" around three places, some of them with a NULL.
func kmHome(t testing.TB, edit func(string) string, rows int) (*curator.Curator, string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	must(curator.Init(home))
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString("x,y,n,word,free,digit,z\n")
	for i := range rows {
		at := [][3]float64{{-0.5, 15, 20}, {0.5, 15, 80}, {0.5, 26, 20}}[i%3]
		x := fmt.Sprintf("%.4f", at[0]+0.1*r.NormFloat64())
		if i%50 == 49 {
			x = ""
		}
		fmt.Fprintf(&b, "%s,%.3f,%d,a,1e9,9,3\n", x, at[1]+r.NormFloat64(), int(at[2])+r.IntN(9)-4)
	}
	must(os.WriteFile(filepath.Join(home, "policy.yaml"), []byte(edit(kmPolicy)), 0o600))
	must(os.WriteFile(filepath.Join(home, "t.csv"), []byte(b.String()), 0o600))
	c, err := curator.Open(home)
	must(err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = c.Seal(t.Context(), "t", curator.SealOptions{})
	must(err)
	return c, home
}

func kmAsItIs(s string) string { return s }

func kmInRho(s string) string {
	return strings.Replace(strings.Replace(s, "{epsilon: 100}", "{rho: 100, delta: 1e-6}", 1), ", maximum: 50", "", 1)
}

func kmSpent(t *testing.T, c *curator.Curator) string {
	t.Helper()
	b, err := c.Budget()
	if err != nil {
		t.Fatal(err)
	}
	return b.Spent.String()
}

// Each method finds three places in two and three columns, under ε and under ρ, for its price and no more; again it is free and the same.
func TestKMeansThroughTheCurator(t *testing.T) {
	for name, edit := range map[string]func(string) string{"pure": kmAsItIs, "zCDP": kmInRho} {
		c, _ := kmHome(t, edit, 6000)
		places := [][]float64{{-0.5, 15, 20}, {0.5, 15, 80}, {0.5, 26, 20}}
		for _, method := range []string{KMeansLloyd, KMeansGrid, KMeansTree, ""} {
			of := Clustering{Table: "T", Columns: []string{"x", "y", "n"}, K: 3, Method: method, Epsilon: "6", Seed: 5}
			before := kmSpent(t, c)
			got, err := KMeans(t.Context(), c, of)
			if err != nil {
				t.Fatal(name, method, err)
			}
			if got.Replayed != (method == "") || (kmSpent(t, c) == before) != (method == "") || len(got.Clusters) != 3 || len(got.Warnings) > 0 {
				t.Fatalf("%s %s: %+v", name, method, got)
			}
			if math.Abs(got.Rows-5880) > 200 {
				t.Errorf("%s %s: %g rows of 5880", name, method, got.Rows)
			}
			for _, p := range places {
				best := math.Inf(1)
				for _, k := range got.Clusters {
					best = min(best, math.Max(math.Abs(k.Centre[0].Value-p[0])/1, math.Max(math.Abs(k.Centre[1].Value-p[1])/10, math.Abs(k.Centre[2].Value-p[2])/50)))
				}
				if best > 0.1 {
					t.Errorf("%s %s: no centre is near %v: %+v", name, method, p, got.Clusters)
				}
			}
			for _, k := range got.Clusters {
				for _, x := range append(k.Centre, k.Size) {
					if !(x.Low <= x.Value && x.Value <= x.High) || math.IsInf(x.Low, 0) || math.IsInf(x.High, 0) {
						t.Errorf("%s %s: %+v", name, method, x)
					}
				}
			}
			spent := kmSpent(t, c)
			again, err := KMeans(t.Context(), c, of)
			if err != nil || !again.Replayed || kmSpent(t, c) != spent || fmt.Sprint(again.Clusters) != fmt.Sprint(got.Clusters) {
				t.Errorf("%s %s: again %v, %v", name, method, again, err)
			}
		}
		if want := map[string]string{"pure": "ε = 18", "zCDP": "ρ = 54"}[name]; !strings.HasPrefix(kmSpent(t, c), want) {
			t.Errorf("%s: spent %s, want %s", name, kmSpent(t, c), want)
		}
	}
}
