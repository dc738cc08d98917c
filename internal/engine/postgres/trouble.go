package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// troubled is a failure to reach a server or a table, in words for the owner. It never contains the connection string,
// which may hold a password.
type troubled struct {
	message string
	cause   error
}

func (e *troubled) Error() string { return "postgres: " + e.message }
func (e *troubled) Unwrap() error { return e.cause }

// explained returns an error with words for the owner that name the fault and what to do. It returns other errors
// unchanged.
func explained(err error) error {
	if err == nil || errors.As(err, new(*troubled)) {
		return err
	}
	message := raisedMessage(err)
	var refused *pgconn.ConnectError
	if message == "" && errors.As(err, &refused) {
		if message = networkMessage(err); message != "" && refused.Config != nil {
			message += fmt.Sprintf(" (%s, port %d)", refused.Config.Host, refused.Config.Port)
		}
	}
	if message == "" {
		return err
	}
	return &troubled{message, err}
}

// raisedMessage explains an error that the server raised, by its code, or returns "".
func raisedMessage(err error) string {
	var raised *pgconn.PgError
	if !errors.As(err, &raised) {
		return ""
	}
	switch raised.Code {
	case "28P01":
		return "the server refused the password: check ~/.pgpass, the service or the variable that holds it"
	case "28000":
		if strings.HasSuffix(raised.Message, "no encryption") {
			return "the server demands TLS (" + raised.Message + "): set sslmode=verify-full, and sslrootcert to its authority"
		}
		return "the server refused the login (" + raised.Message + "): check the role's name, LOGIN and pg_hba.conf"
	case "3D000":
		return "the server has no such database (" + raised.Message + "): check the database in the service or the variable"
	case "42501":
		return raised.Message + ": GRANT USAGE on the schema and SELECT on the table to it"
	case "42P01", "3F000":
		return "the database has no such table (" + raised.Message + "): write it as public.visits, and check the database and the spelling"
	case "42703":
		return "the table lacks a declared column: " + raised.Message
	case "53300":
		return "the server has no connection left for this role: raise CONNECTION LIMIT or max_connections"
	case "57P03":
		return "the server is starting or stopping: try again"
	}
	return ""
}

// networkMessage explains an error of the connection, or returns "".
func networkMessage(err error) string {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return "the server's host is unknown: check its name"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused, so no server listens there: check the host and the port, and whether it runs"
	case errors.Is(err, fs.ErrNotExist):
		return "there is no server at this socket: check its folder and the port, and whether it runs"
	case errors.As(err, new(*tls.CertificateVerificationError)), errors.As(err, new(x509.UnknownAuthorityError)),
		errors.As(err, new(x509.HostnameError)), errors.As(err, new(x509.CertificateInvalidError)):
		return "TLS failed: the server's certificate is not verified: set sslrootcert to its authority, and use the host's " +
			"name that it was issued for"
	case strings.Contains(err.Error(), "tls error"), strings.Contains(err.Error(), "server refused TLS"):
		return "TLS failed: check that the server has ssl = on, and sslmode and sslrootcert here"
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return "the server did not answer in time: check the host, the port and the firewall"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the server's host cannot be reached: check the network"
	}
	return ""
}

func isTimeout(err error) bool {
	var failed net.Error
	return errors.As(err, &failed) && failed.Timeout()
}
