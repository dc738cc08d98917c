package postgres

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"dither/internal/policy"
)

// configure returns the connection settings of a source's server. It finds them as libpq does: from a named service
// or an environment variable, the PG… variables, ~/.pg_service.conf and ~/.pgpass.
func configure(source policy.Source) (*pgconn.Config, error) {
	return configureAt(whereabouts(source), source)
}

// configureAt is configure for a connection string. No error contains it, because it may hold a password.
func configureAt(where string, source policy.Source) (*pgconn.Config, error) {
	if where == "" {
		return nil, fmt.Errorf("postgres: the environment variable %s, which names the server, is not set",
			source.URLEnv)
	}
	config, err := pgconn.ParseConfig(where)
	if err != nil {
		return nil, errors.New("postgres: the server's settings cannot be read: write a URL as " +
			"postgres://role@host:5432/database?sslmode=verify-full, and check the service in pg_service.conf")
	}
	if err := private(config); err != nil {
		return nil, err
	}
	config.RuntimeParams["application_name"] = "dither"
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: goodbye}
	}
	return config, nil
}

// whereabouts returns the connection string of a source's server, or "" if its environment variable is not set.
func whereabouts(source policy.Source) string {
	if source.URLEnv != "" {
		return os.Getenv(source.URLEnv)
	}
	return "service=" + source.Service
}

var errNotPrivate = errors.New(
	"postgres: exact sums would travel over the network from a server whose identity is not verified: set " +
		"sslmode=verify-full, and sslrootcert if a public authority did not sign its certificate")

// private returns an error if somebody could read a connection, or answer in the server's place. It accepts a local
// socket, the local machine, and TLS with a verified certificate. The certificate must be verified for the host's
// name, or (verify-ca) by an authority that the owner names. Without a named authority, verify-ca would accept any
// host's certificate from any public authority.
func private(config *pgconn.Config) error {
	ways := append([]*pgconn.FallbackConfig{{Host: config.Host, TLSConfig: config.TLSConfig}}, config.Fallbacks...)
	for _, way := range ways {
		if network, _ := pgconn.NetworkAddress(way.Host, 1); network == "unix" || way.Host == "localhost" ||
			net.ParseIP(way.Host).IsLoopback() {
			continue
		}
		if t := way.TLSConfig; t == nil || t.InsecureSkipVerify &&
			(t.VerifyPeerCertificate == nil || t.RootCAs == nil) {
			return errNotPrivate
		}
	}
	return nil
}
