package postgres

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
)

// slow makes table t a view that takes long for each of its rows.
func (b *bench) slow(t *testing.T) *plan.Plan {
	t.Helper()
	b.exec(t, `ALTER TABLE t RENAME TO base; INSERT INTO base(__row) VALUES (1), (2);
	 CREATE VIEW t AS SELECT base.* FROM base, LATERAL (SELECT pg_sleep(20 + base.__row) OFFSET 0) AS s`)
	p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT COUNT(*) FROM t"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// backends waits until so many other connections to the database run a statement (if any, the slow one: what comes
// before it is over too soon to be ended), and ends them if asked.
func (b *bench) backends(t *testing.T, want int, end bool) {
	t.Helper()
	for range 200 {
		n := 0
		sql := "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'dither' AND pid <> pg_backend_pid() AND state = 'active'"
		if want > 0 {
			sql += " AND wait_event = 'PgSleep'"
		}
		if err := b.query(sql, func([][]byte) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		if n == want {
			if end {
				b.exec(t, "SELECT pg_terminate_backend(pid) FROM ("+sql+") AS a")
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("there are never %d other statements", want)
}

// When the time is up the statement ends, here and on the server.
func TestTimeIsUp(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	p := b.slow(t)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := b.engine("t").Aggregate(ctx, &p.Statement, engine.Sealed{})
	if err == nil || time.Since(start) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	b.backends(t, 0, false)
}

// A caller who gives up ends the statement on the server too.
func TestGivenUp(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	p := b.slow(t)
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error)
	go func() {
		_, err := b.engine("t").Aggregate(ctx, &p.Statement, engine.Sealed{})
		failed <- err
	}()
	b.backends(t, 1, false)
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) && !isCode(err, "57014") {
		t.Errorf("%v", err)
	}
	b.backends(t, 0, false)
}

// A server process that dies in the middle is an error.
func TestConnectionCut(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	p := b.slow(t)
	failed := make(chan error)
	go func() {
		_, err := b.engine("t").Aggregate(context.Background(), &p.Statement, engine.Sealed{})
		failed <- err
	}()
	b.backends(t, 1, true)
	if err := <-failed; err == nil {
		t.Error("an answer without a server")
	}
}

// All passes read one snapshot, which is given back when ctx ends.
func TestPassesReadOneSnapshot(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	b.write(t, "t", crowd(1)[:9])
	q, err := plan.BuildOrder(b.policy, plan.Request{SQL: "SELECT i FROM t"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	scan, err := b.engine("t").scan(ctx, &q.Statement, engine.Sealed{})
	if err != nil {
		t.Fatal(err)
	}
	count := func() (n int64, err error) {
		err = scan(func(_, m int64) bool { n += m; return true })
		return n, err
	}
	if n, err := count(); n != 9 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	b.exec(t, "DELETE FROM t")
	if n, err := count(); n != 9 || err != nil {
		t.Errorf("the second pass sees another table: %d rows, %v", n, err)
	}
	cancel()
	if _, err := count(); err == nil {
		t.Error("a pass after the end")
	}
	for range 100 {
		left := 0
		if err := b.query(
			"SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'dither' AND pid <> pg_backend_pid()", func([][]byte) error { left++; return nil }); err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the connection is kept")
}

func isCode(err error, code string) bool {
	var raised *pgconn.PgError
	return errors.As(err, &raised) && raised.Code == code
}

func TestNoServer(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT SUM(i) FROM t"})
	if err != nil {
		t.Fatal(err)
	}
	b.exec(
		t, "CREATE ROLE stranger LOGIN; CREATE ROLE narrow LOGIN; GRANT SELECT (j) ON t TO narrow; REVOKE ALL ON t FROM PUBLIC")
	defer b.exec(t, "DROP OWNED BY narrow; DROP ROLE stranger; DROP ROLE narrow")
	for name, url := range map[string]string{
		"another port":      b.url + " port=1",
		"no permission":     strings.Replace(b.url, "user=owner", "user=stranger", 1),
		"another column's":  strings.Replace(b.url, "user=owner", "user=narrow", 1),
		"another database":  strings.Replace(b.url, "dbname=", "dbname=no", 1),
		"no user":           strings.Replace(b.url, "user=owner", "user=nobody_", 1),
		"no URL":            "postgres://:::::",
		"not set":           "",
		"over the network":  "host=192.0.2.1 user=x dbname=y",
		"TLS, not verified": "host=192.0.2.1 user=x dbname=y sslmode=require",
	} {
		t.Setenv(urlVariable, url)
		if _, err := b.engine("t").Aggregate(context.Background(), &p.Statement, engine.Sealed{}); err == nil {
			t.Errorf("%s: an answer", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
	t.Setenv(urlVariable, strings.Replace(b.url, "user=owner", "user=narrow", 1))
	narrow, err := plan.Build(b.policy, plan.Request{SQL: "SELECT SUM(j) FROM t"})
	if err == nil {
		_, err = b.engine("t").Aggregate(context.Background(), &narrow.Statement, engine.Sealed{})
	}
	if err != nil {
		t.Errorf("the permission on one column: %v", err)
	}
}

// Exact sums travel over a socket, inside the machine, or by TLS to a server that is verified.
func TestPrivateWays(t *testing.T) {
	root := authority(t)
	for url, ok := range map[string]bool{
		"host=/tmp":                               true,
		"host=localhost":                          true,
		"host=127.0.0.1":                          true,
		"host=::1":                                true,
		"host=db.example.org":                     false,
		"host=db.example.org sslmode=disable":     false,
		"host=db.example.org sslmode=prefer":      false,
		"host=db.example.org sslmode=require":     false,
		"host=db.example.org sslmode=verify-full": true,
		// any certificate of any public authority would do
		"host=db.example.org sslmode=verify-ca":                     false,
		"host=db.example.org sslmode=require sslrootcert=" + root:   true,
		"host=db.example.org sslmode=verify-ca sslrootcert=" + root: true,
		"host=/tmp,db.example.org":                                  false,
		"host=/tmp,db.example.org sslmode=verify-full":              true,
		"postgres://u:secret@db.example.org/d":                      false,
		"postgres://u:s@db.example.org?sslmode=verify-ca":           false,
		"host=127.0.0.1.example.org":                                false,
		"host=localhost.example.org":                                false,
	} {
		t.Setenv(urlVariable, url)
		if _, err := configure(source("t")); (err == nil) != ok || err != nil &&
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := configure(policy.Source{Format: policy.Postgres, Service: "none"}); err == nil {
		t.Error("a service that is not there")
	}
}

// authority is a file with a certificate of one's own.
func authority(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	self := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, self, self, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "root.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A server is found by the name of a service, too.
func TestService(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	b.write(t, "t", crowd(0)[:5])
	p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT COUNT(*) FROM t"})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pg_service.conf")
	if err := os.WriteFile(file, []byte("[clinic]\n"+strings.ReplaceAll(b.url, " ", "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGSERVICEFILE", file)
	e := New(policy.Source{Format: policy.Postgres, Service: "clinic", Schema: "public", Table: "t"})
	out := map[string]*big.Int{}
	if err := e.sums(context.Background(), &p.Statement, engine.Sealed{}, gather(out)); err != nil ||
		fmt.Sprint(nonZero(out)) != "map[[] 0:5]" {
		t.Errorf("%v, %v", nonZero(out), err)
	}
}

// Rows that a policy of the server hides are an error, not another table.
func TestHiddenRows(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT COUNT(*) FROM t"})
	if err != nil {
		t.Fatal(err)
	}
	b.exec(
		t, "CREATE ROLE reader LOGIN; GRANT SELECT ON t TO reader; ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY part ON t USING (__row > 1)")
	defer b.exec(t, "DROP OWNED BY reader; DROP ROLE reader")
	t.Setenv(urlVariable, strings.Replace(b.url, "user=owner", "user=reader", 1))
	if _, err := b.sums(p); !isCode(err, "42501") {
		t.Errorf("%v", err)
	}
}

// A table that somebody has locked holds up a rehearsal no longer than it may take, and costs nothing.
func TestLockedTable(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT COUNT(i) FROM t"})
	if err != nil {
		t.Fatal(err)
	}
	b.exec(t, "BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := b.engine("t").Rehearse(ctx, &p.Statement, engine.Sealed{}); !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	b.exec(t, "ROLLBACK")
	if err := b.engine("t").Rehearse(context.Background(), &p.Statement, engine.Sealed{}); err != nil {
		t.Error(err)
	}
}
