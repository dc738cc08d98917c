package dither_test

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed is the house: each package and the packages of the project that it may import. Floors point one way; what is
// not listed may not be there.
var allowed = map[string][]string{
	// floor 0
	"internal/exact":    {},
	"internal/entropy":  {},
	"internal/value":    {},
	"internal/zone":     {},
	"internal/nearest":  {},
	"internal/parallel": {},
	"internal/simplex":  {},
	"internal/rounding": {"internal/simplex"},

	"internal/ledger/index": {}, // bytes alone: it knows nothing of what entries say
	// floor 1
	"internal/sample": {"internal/exact", "internal/entropy"},
	"noise":           {"internal/exact", "internal/entropy", "internal/sample"},
	// floor 2
	"account":      {"internal/exact", "internal/nearest", "internal/pld", "privacy"},
	"privacy":      {"internal/exact"},
	"internal/pld": {"internal/exact"},
	// floor 3
	"internal/gradient": {},
	"mechanism":         {"internal/entropy", "internal/parallel", "internal/sample", "mechanism/internal/opaque", "mechanism/internal/parameter", "noise", "privacy"},
	// what engines found: only mechanism/... can open it
	"mechanism/internal/opaque":    {"internal/exact", "mechanism/internal/parameter"},
	"mechanism/internal/parameter": {"internal/exact", "noise", "privacy"},
	"mechanism/analytic":           {"account", "mechanism", "mechanism/internal/parameter", "noise", "privacy"}, // beside the kernel
	"mechanism/learning": {
		"internal/entropy", "internal/exact", "internal/gradient", "internal/sample", "mechanism", "mechanism/internal/opaque", "mechanism/internal/parameter",
		"noise", "privacy",
	},
	"mechanism/linear": {"mechanism", "mechanism/internal/opaque", "mechanism/internal/parameter"},
	"mechanism/partition": {
		"internal/entropy", "internal/exact", "internal/sample", "mechanism", "mechanism/internal/opaque", "mechanism/internal/parameter", "noise", "privacy",
	},
	"mechanism/quantile": {
		"internal/entropy", "internal/exact", "internal/sample", "internal/simplex", "mechanism", "mechanism/internal/opaque",
		"mechanism/internal/parameter", "noise", "privacy",
	},
	"mechanism/response": {
		"internal/entropy", "internal/exact", "internal/sample", "mechanism", "mechanism/internal/opaque", "mechanism/internal/parameter", "privacy",
	},
	"mechanism/selection": {
		"internal/entropy", "internal/exact", "internal/sample", "mechanism", "mechanism/internal/opaque", "mechanism/internal/parameter", "noise", "privacy",
	},
	"mechanism/stream": {
		"internal/entropy", "internal/exact", "internal/sample", "mechanism", "mechanism/internal/opaque", "mechanism/internal/parameter", "noise", "privacy",
	},
	"internal/trainprice": {"account", "internal/exact", "mechanism", "mechanism/learning", "privacy"}, // the kernel's one question to accountants
	"internal/ledger":     {"internal/exact", "internal/ledger/index", "privacy"},
	"internal/policy":     {"internal/exact", "internal/nearest", "internal/value", "internal/zone", "privacy"},
	"internal/query":      {"internal/value"},
	"internal/text":       {"internal/value"}, // the functions of texts
	"internal/spelling":   {"internal/policy", "internal/value"},
	"internal/csvtable":   {"internal/policy", "internal/spelling", "internal/value"},
	"internal/jsonlines":  {"internal/csvtable", "internal/policy", "internal/value"},
	"internal/xlsxtable":  {"internal/csvtable", "internal/policy", "internal/spelling", "internal/value"}, // beside the kernel
	"internal/seal":       {"internal/csvtable", "internal/entropy", "internal/jsonlines", "internal/policy", "internal/value"},
	// floor 4
	"internal/bounded":     {"internal/exact", "internal/policy", "internal/text", "internal/value"},
	"internal/cost":        {"internal/bounded", "internal/policy", "internal/value"},                                                                                           // what a question's running time may be
	"internal/bind":        {"internal/bounded", "internal/exact", "internal/nearest", "internal/policy", "internal/query", "internal/text", "internal/value", "internal/zone"}, // what names and expressions mean
	"internal/prune":       {"internal/bounded", "internal/policy", "internal/value"},                                                                                           // which groups can have rows
	"internal/free":        {"internal/bind", "internal/bounded", "internal/policy", "internal/prune", "internal/query", "internal/value"},                                      // answers that read no row
	"internal/post":        {"internal/bind", "internal/bounded", "internal/nearest", "internal/query", "internal/text", "internal/value", "noise"},                             // SELECTs over the rows of an answer
	"internal/sensitivity": {"internal/bounded", "internal/exact", "mechanism/linear", "privacy"},                                                                               // how far one unit moves what a statement measures
	"internal/plan": {
		"internal/bind", "internal/bounded", "internal/cost", "internal/exact", "internal/policy", "internal/query", "internal/nearest", "internal/prune",
		"internal/sensitivity", "internal/truncation", "internal/value", "mechanism", "mechanism/linear", "mechanism/partition", "mechanism/quantile", "noise", "privacy",
	},
	"internal/truncation": {"internal/bounded", "internal/policy", "internal/value"}, // the statement that counts what caps cut
	"internal/reuse":      {"internal/bounded", "internal/plan", "internal/value"},   // what follows from earlier releases
	"internal/span":       {"internal/plan", "mechanism/linear", "noise"},            // what strategies determine about cells
	"internal/derive":     {"internal/bounded", "internal/exact", "internal/parallel", "internal/plan", "internal/prune", "internal/reuse", "internal/span", "internal/truncation", "internal/value", "noise"},
	// floor 5
	"internal/engine": {"internal/bounded", "internal/parallel", "internal/value", "mechanism"},
	"internal/engine/duckdb": {
		"internal/bounded", "internal/csvtable", "internal/engine", "internal/policy", "internal/seal", "internal/value", "mechanism",
	},
	"internal/engine/postgres": {
		"internal/bounded", "internal/csvtable", "internal/engine", "internal/policy", "internal/seal", "internal/value", "mechanism",
	},
	// floor 6: the kernel, and what seals
	"internal/release": {
		"internal/bounded", "internal/cost", "internal/engine", "internal/engine/duckdb", "internal/engine/postgres", "internal/entropy", "internal/exact", "internal/ledger",
		"internal/parallel", "internal/plan", "internal/policy", "internal/query", "internal/seal", "internal/trainprice", "internal/value", "mechanism", "mechanism/learning",
		"mechanism/partition", "mechanism/quantile", "mechanism/selection", "mechanism/stream", "noise", "privacy",
	},
	"internal/sealing": {"internal/engine/duckdb", "internal/engine/postgres", "internal/policy", "internal/seal", "internal/xlsxtable"},
	"internal/draft":   {"internal/csvtable", "internal/jsonlines", "internal/nearest", "internal/policy", "internal/sealing", "internal/spelling", "internal/value"},
	"curator": {
		"internal/bounded", "internal/cost", "internal/derive", "internal/draft", "internal/exact", "internal/free", "internal/ledger", "internal/parallel", "internal/plan", "internal/policy",
		"internal/post", "internal/query", "internal/release", "internal/reuse", "internal/seal", "internal/sealing", "internal/span", "internal/trainprice", "internal/value", "mechanism/learning",
		"mechanism/linear", "mechanism/selection", "mechanism/stream", "noise", "privacy",
	},
	// floor 7: what is computed from releases
	"internal/glm":           {},
	"hypothesis":             {"internal/splitmix", "noise"}, // whose simulations anybody can repeat
	"stats/internal/request": {"curator", "internal/exact"},
	"stats/internal/scale":   {"curator", "internal/exact", "stats/internal/request"},
	"stats/cluster":          {"curator", "internal/exact", "internal/nearest", "internal/splitmix", "noise", "stats/internal/request", "stats/internal/scale"}, // whose public randomness anybody can repeat
	"stats/formula":          {"curator", "internal/exact", "internal/nearest", "stats/internal/request", "stats/internal/scale"},
	"stats/internal/student": {},
	"stats/combine":          {"stats/internal/student"},
	"stats/estimate":         {"curator", "internal/exact", "internal/splitmix", "noise", "stats/internal/request", "stats/internal/student"}, // whose simulations anybody can repeat
	"stats/regression":       {"curator", "internal/exact", "internal/glm", "internal/nearest", "internal/splitmix", "noise", "stats/formula", "stats/internal/request", "stats/internal/scale", "stats/internal/student"},
	"stats/bounds":           {"curator", "internal/exact", "stats/internal/request"},
	"stats":                  {},                                                    // the families' overview
	"strategy":               {"internal/splitmix", "mechanism/stream", "privacy"},  // whose random beginnings anybody can repeat
	"strategy/product":       {"internal/splitmix", "mechanism/linear", "strategy"}, // what to measure for questions about several columns
	"strategy/answer":        {"curator", "internal/parallel", "mechanism/linear", "noise", "strategy"},
	"strategy/marginal":      {"curator", "internal/rounding", "mechanism/linear", "noise", "strategy", "strategy/product"}, // what to measure for many marginals
	"strategy/table":         {"internal/rounding"},                                                                         // tables that add up
	"strategy/tabulate": {
		"curator", "internal/exact", "internal/policy", "mechanism/linear", "strategy/table",
	},
	"strategy/tabulate/parquet": {
		"internal/engine/duckdb", "internal/policy", "internal/value", "strategy/tabulate",
	},
	"strategy/together":     {"curator", "internal/exact", "mechanism/linear", "noise", "strategy", "strategy/product"},
	"synth/internal/layout": {},
	"synth/model":           {"internal/parallel", "synth/internal/layout"}, // a distribution that noisy marginals fit
	"synth/estimate":        {"stats/combine"},                              // statistics of several synthetic tables
	"synth/posterior":       {"synth/model"},                                // draws of models that noisy marginals allow
	"synth/aim":             {"synth/model"},
	"synth/constraint":      {},                                                                                                                                                                                                                     // statements about rows
	"synth":                 {"curator", "internal/simplex", "internal/splitmix", "mechanism/linear", "privacy", "strategy/together", "synth/aim", "synth/constraint", "synth/estimate", "synth/internal/layout", "synth/model", "synth/posterior"}, // synthetic tables
	"synth/database":        {"internal/value", "synth"},                                                                                                                                                                                            // SQL over synthetic tables: it knows nothing of real ones
	"synth/server":          {"synth"},                                                                                                                                                                                                              // tables on a server: it sends made-up rows alone
	// floors 8 and 9: doors, and what they show
	"examples/randhie":      {},
	"examples/heights":      {},
	"examples/ask":          {"curator"},                                                        // the tutorial for programmers shows it
	"examples/tpch":         {"curator", "internal/splitmix"},                                   // whose rows are made up
	"examples/kmeans":       {"curator", "internal/plot", "internal/splitmix", "stats/cluster"}, // whose rows are made up
	"internal/splitmix":     {},                                                                 // its draws are predictable: nothing that handles private rows may import it
	"internal/town":         {"internal/splitmix"},                                              // its draws are predictable: nothing that handles private rows may import it
	"internal/town/parquet": {"internal/engine/duckdb", "internal/policy", "internal/town", "internal/value"},
	"internal/plot":         {"internal/exact"},
	"internal/timing":       {"audit", "curator", "internal/engine/postgres", "internal/splitmix"}, // whose rows and questions are made up
	// the command line: what every verb is given, and a room for each family of verbs; no room knows another
	"internal/cli/render": {"curator", "internal/exact", "internal/plot", "privacy"},
	"internal/cli/console": {
		"account", "curator", "internal/cli/render", "internal/nearest", "internal/plot", "privacy",
	},
	"internal/cli/owner":   {"curator", "internal/cli/console", "internal/cli/render", "internal/ledger", "internal/plot", "privacy", "stats/bounds", "strategy"},
	"internal/cli/analyst": {"curator", "internal/cli/console", "internal/cli/render", "internal/plot", "strategy/together"},
	"internal/cli/statistics": {
		"account", "curator", "hypothesis", "internal/cli/console", "internal/cli/render", "internal/exact",
		"internal/nearest", "internal/plot", "noise", "privacy", "stats/cluster", "stats/estimate", "stats/formula", "stats/regression",
	},
	"internal/cli/laboratory": {
		"account", "audit", "audit/attack", "audit/channel", "audit/interpret", "audit/ours", "curator", "examples/heights",
		"internal/cli/console", "internal/cli/render", "internal/nearest", "internal/plot", "internal/timing", "privacy",
	},
	"internal/cli/strategies": {"curator", "internal/cli/console", "internal/cli/render", "internal/plot", "privacy", "strategy", "strategy/answer", "strategy/marginal", "strategy/product", "strategy/together", "strategy/tabulate", "strategy/tabulate/parquet", "synth", "synth/database", "synth/estimate", "synth/server"},
	"internal/cli/survey":     {"internal/cli/console", "internal/cli/render", "internal/nearest", "internal/parallel", "internal/plot", "internal/splitmix", "local", "local/collector", "local/collector/page", "local/mean", "local/survey", "noise", "privacy"},
	"internal/cli/tour": {
		"curator", "examples/randhie", "internal/cli/console", "internal/cli/render", "internal/town",
		"internal/town/parquet",
	},
	"internal/cli": {
		"internal/cli/analyst", "internal/cli/console", "internal/cli/laboratory", "internal/cli/owner",
		"internal/cli/render", "internal/cli/statistics", "internal/cli/strategies", "internal/cli/survey", "internal/cli/tour", "internal/nearest",
	},
	"cmd/dither": {"internal/cli"},
	// beside the house: the local model, in which nobody is trusted. It knows nothing of the curator.
	"local/internal/coin":  {"internal/entropy", "internal/exact", "privacy"},
	"local/internal/lines": {},
	"local/mean":           {"internal/entropy", "local/internal/coin", "local/internal/lines", "privacy"},
	"clients":              {}, // files in other languages
	"local/collector/page": {"clients"},
	"local":                {"account", "internal/entropy", "internal/exact", "internal/parallel", "internal/simplex", "local/internal/coin", "local/internal/lines", "privacy"},
	"local/survey":         {"internal/entropy", "internal/exact", "local", "local/mean", "privacy"},
	"local/collector":      {"internal/entropy", "local", "local/mean", "local/survey"},
	// beside the house: what checks it, and whatever else makes promises
	"internal/expsum": {"internal/exact"},
	"audit":           {"internal/exact", "privacy"},
	"audit/channel":   {"internal/exact", "internal/expsum"},
	"audit/interpret": {"account", "internal/exact", "privacy"},
	"audit/attack":    {"internal/exact", "internal/splitmix", "mechanism", "privacy"},
	"audit/ours":      {"audit", "audit/channel", "internal/exact", "internal/expsum", "mechanism", "mechanism/analytic", "mechanism/partition", "mechanism/quantile", "mechanism/response", "mechanism/selection", "mechanism/stream", "privacy"},
	// test support: imported by tests only
	"internal/stattest": {},
	"internal/engine/enginetest": {
		"internal/bounded", "internal/cost", "internal/plan", "internal/policy", "internal/splitmix", "internal/value", "mechanism/linear", "privacy",
	},
	"internal/golden": {}, // tests alone: what the program did, and still must

	"internal/engine/postgres/pgtest": {},
	"internal/testhome":               {"curator"},
	"stats/internal/statstest":        {"curator", "internal/exact", "internal/stattest", "internal/testhome"},
	"mechanism/internal/mechtest":     {"mechanism/internal/opaque", "privacy"},
	"local/internal/lawtest":          {"internal/entropy", "internal/exact", "internal/splitmix", "local/internal/coin", "privacy"},
}

// testOnly packages are imported by tests alone.
var testOnly = []string{
	"internal/stattest", "internal/testhome", "internal/engine/enginetest", "internal/engine/postgres/pgtest", "mechanism/internal/mechtest",
	"stats/internal/statstest", "local/internal/lawtest",
}

// wardens are the only importers, outside tests, of packages that could break a promise elsewhere.
var wardens = map[string][]string{
	"crypto/rand":                         {"internal/entropy"},
	"math/rand":                           {},
	"math/rand/v2":                        {},
	"database/sql":                        {"internal/engine/duckdb", "local/collector"}, // the latter keeps randomized reports
	"github.com/mattn/go-sqlite3":         {"local/collector"},
	"github.com/duckdb/duckdb-go/v2":      {"internal/engine/duckdb", "synth/database"}, // the latter reads made-up rows alone
	"dither/synth/database":               {"internal/cli/strategies"},
	"github.com/jackc/pgx/v5/pgconn":      {"internal/engine/postgres", "internal/engine/postgres/pgtest", "synth/server"}, // the last writes made-up rows alone
	"dither/synth/server":                 {"internal/cli/strategies"},
	"github.com/pganalyze/pg_query_go/v6": {"internal/query"},
	"dither/internal/xlsxtable":           {"internal/sealing"},
	"unsafe":                              {},
	// Engines read rows: for the kernel, for what seals, and two read rows that are made up. One only writes released
	// tables.
	"dither/internal/engine":          {"internal/engine/duckdb", "internal/engine/postgres", "internal/release"},
	"dither/internal/engine/duckdb":   {"internal/release", "internal/sealing", "internal/town/parquet", "strategy/tabulate/parquet"},
	"dither/internal/engine/postgres": {"internal/release", "internal/sealing", "internal/timing"},
	"dither/internal/release":         {"curator"},
	"dither/internal/sealing":         {"curator", "internal/draft"},
	// Accountants prove their figures for jobs that are fixed in advance. In the kernel that is a training, and nothing
	// else (docs/design/0003).
	"dither/account": {
		"audit/interpret", "internal/cli/console", "internal/cli/laboratory", "internal/cli/statistics", "internal/trainprice", "local", "mechanism/analytic",
	},
}

// duckdbTests are the only packages whose test binaries may hold DuckDB, which takes long to link.
var duckdbTests = []string{"internal/cli/strategies", "strategy/answer", "strategy/tabulate", "internal/engine/duckdb", "internal/release", "curator", "stats/bounds", "stats/cluster", "stats/estimate", "stats/formula", "stats/regression", "stats/internal/request", "internal/cli", "internal/cli/console", "internal/cli/laboratory", "internal/cli/render", "internal/cli/statistics", "cmd/dither", "internal/golden", "strategy/marginal", "strategy/together", "synth", "synth/database", "synth/server"}

type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
	Deps                               []string
	ForTest                            string
}

func list(t *testing.T, args ...string) []listed {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,TestImports,XTestImports,Deps,ForTest"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		if err := decoder.Decode(&p); err == io.EOF {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestFloors(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t, "./...") {
		name := strings.TrimPrefix(p.ImportPath, "dither/")
		if name == "dither" {
			continue
		}
		seen[name] = true
		may, ok := allowed[name]
		if !ok {
			t.Errorf("%s is not in the table", name)
			continue
		}
		for _, i := range p.Imports {
			if rest, ours := strings.CutPrefix(i, "dither/"); ours && !slices.Contains(may, rest) {
				t.Errorf("%s may not import %s", name, rest)
			}
			if only, warded := wardens[i]; warded && !slices.Contains(only, name) {
				t.Errorf("%s may not import %s", name, i)
			}
			if slices.Contains(testOnly, strings.TrimPrefix(i, "dither/")) && !slices.Contains(testOnly, name) {
				t.Errorf("%s imports %s, which is for tests", name, i)
			}
		}
	}
	for name := range allowed {
		if !seen[name] {
			t.Errorf("%s is in the table but not in the house", name)
		}
	}
	acyclic(t)
}

// acyclic checks the table itself: imports that are allowed but not made must not form a cycle either.
func acyclic(t *testing.T) {
	state := map[string]int{}
	var visit func(string)
	visit = func(name string) {
		switch state[name] {
		case 1:
			t.Errorf("the table has a cycle through %s", name)
			return
		case 2:
			return
		}
		state[name] = 1
		for _, i := range allowed[name] {
			visit(i)
		}
		state[name] = 2
	}
	for name := range allowed {
		visit(name)
	}
}

// The kernel asks an accountant for the price of a training, through internal/trainprice, and for nothing else.
func TestKernelAsksAccountantsForOnePrice(t *testing.T) {
	kernel := list(t, "./internal/release")[0].Deps
	if slices.Contains(kernel, "dither/mechanism/analytic") {
		t.Error("the kernel holds mechanism/analytic, whose noise an accountant calibrates")
	}
	asks := 0
	for _, p := range list(t, "./...") {
		if slices.Contains(kernel, p.ImportPath) && slices.Contains(p.Imports, "dither/account") {
			asks++
			if p.ImportPath != "dither/internal/trainprice" {
				t.Errorf("%s asks an accountant within the kernel", p.ImportPath)
			}
		}
	}
	if asks != 1 {
		t.Errorf("%d packages of the kernel ask accountants: the test or the table is wrong", asks)
	}
}

func TestDuckDBStaysOutOfOtherTestBinaries(t *testing.T) {
	for _, p := range list(t, "-test", "./...") {
		if !strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		name := strings.TrimSuffix(strings.TrimPrefix(p.ImportPath, "dither/"), ".test")
		holds := slices.ContainsFunc(p.Deps, func(d string) bool { return strings.HasPrefix(d, "github.com/duckdb/") })
		if holds && !slices.Contains(duckdbTests, name) {
			t.Errorf("the test binary of %s holds DuckDB", name)
		}
	}
}
