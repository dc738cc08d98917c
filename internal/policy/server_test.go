package policy_test

import (
	"strings"
	"testing"

	"dither/internal/policy"
)

const onServer = `
version: 1
population: {name: p}
budget: {epsilon: 1}
tables:
  visits: {source: {SOURCE}, unit: row, columns: {x: {type: real, bounds: [0, 1]}}}
  OTHER
`

func decodeServer(t *testing.T, source, other string) (*policy.Policy, error) {
	t.Helper()
	return policy.Decode([]byte(strings.NewReplacer("SOURCE", source, "OTHER", other).Replace(onServer)), "/home/owner")
}

func TestServerSources(t *testing.T) {
	for text, want := range map[string]policy.Source{
		"postgres: {service: clinic}, table: public.visits": {
			Path: "public.visits (service=clinic)", Local: "service=clinic", Service: "clinic", Schema: "public",
			Table: "visits",
		},
		`postgres: {url_env: CLINIC_URL}, table: '"My ""schema"".x".visits_2'`: {
			Path: `My "schema".x.visits_2 (url_env=CLINIC_URL)`, Local: "url_env=CLINIC_URL", URLEnv: "CLINIC_URL",
			Schema: `My "schema".x`, Table: "visits_2",
		},
	} {
		p, err := decodeServer(t, text, "")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want.Format = policy.Postgres
		if got := p.Tables[0].Source; got != want || !got.Live() {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// Sources that could be taken for each other by their names have terms and digests of their own.
func TestServerSourcesAreToldApart(t *testing.T) {
	terms, digests := map[string]string{}, map[string]string{}
	for _, text := range []string{
		"postgres: {service: clinic}, table: public.visits", "postgres: {url_env: clinic}, table: public.visits",
		"postgres: {service: clinic}, table: other.visits",
		`postgres: {service: clinic}, table: '"a.b".c'`, `postgres: {service: clinic}, table: 'a."b.c"'`,
		`postgres: {service: clinic}, table: 'a."b"".""c"'`,
		`postgres: {service: clinic}, table: '"a"".""b".c'`, "csv: service=clinic",
		"duckdb: service=clinic, table: visits",
	} {
		p, err := decodeServer(t, text, "")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		term, digest := p.Terms().Sources["visits"], p.Digest()
		if terms[term] != "" || digests[digest] != "" {
			t.Errorf("%s is told as %s%s", text, terms[term], digests[digest])
		}
		terms[term], digests[digest] = text, text
	}
}

func TestOneTableOnAServerIsOneTableHere(t *testing.T) {
	again := `again: {source: {postgres: {service: clinic}, table: '"public"."visits"'}, unit: row, columns: {y: {type: real}}}`
	if _, err := decodeServer(t, "postgres: {service: clinic}, table: public.visits", again); err == nil ||
		!strings.Contains(err.Error(), "two tables have one source") {
		t.Errorf("%v", err)
	}
	if _, err := decodeServer(t, "postgres: {service: clinic}, table: public.others", again); err != nil {
		t.Errorf("%v", err)
	}
}
