package policy

import (
	"regexp"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

var (
	serviceName  = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,63}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

	// qualifiedName matches schema.table. Each of the two parts is a lower-case PostgreSQL identifier or a name in
	// double quotes.
	qualifiedName = regexp.MustCompile(`^([a-z_][a-z0-9_$]*|"(?:[^"]|"")+")\.([a-z_][a-z0-9_$]*|"(?:[^"]|"")+")$`)
)

// server reads the server of a live source: the name of a service in pg_service.conf, or of an environment
// variable. A policy cannot contain a password.
func (f field) server(s *Source) {
	const hint = "postgres: {service: clinic}, the server's name in pg_service.conf, or {url_env: CLINIC_URL}, an " +
		"environment variable that holds its URL"
	if f.present() && f.node.Kind != yaml.MappingNode { // do not quote the value, which may contain a password
		f.fail(hint, "name a server by either service or url_env")
		return
	}
	keys, ok := f.keys("service", "url_env")
	if !ok {
		return
	}
	service, url := keys["service"], keys["url_env"]
	switch {
	case service.present() == url.present():
		f.fail(hint, "name a server by either service or url_env")
	case service.present():
		s.Service = service.word(serviceName, "the name of a service in pg_service.conf")
		s.Local = "service=" + s.Service
	default:
		s.URLEnv = url.word(variableName,
			"the name of an environment variable; the URL itself, which holds a password, does not belong here")
		s.Local = "url_env=" + s.URLEnv
	}
}

// word reads a text that must match form.
func (f field) word(form *regexp.Regexp, what string) string {
	s, ok := f.text()
	if ok && !form.MatchString(s) {
		f.fail("", "expected %s", what) // do not quote the value, which may be a password
		return ""
	}
	return s
}

// qualifiedText returns the name of a source's table on a server, as qualified reads it.
func qualifiedText(s Source) string {
	parts := []string{s.Schema, s.Table}
	for i, part := range parts {
		if quoted := `"` + strings.ReplaceAll(part, `"`, `""`) + `"`; !qualifiedName.MatchString(part + "." + part) {
			parts[i] = quoted
		}
	}
	return strings.Join(parts, ".")
}

// qualified reads the name of a table on a server: public.visits. A name that is not a lower-case identifier is in
// double quotes: public."Visits".
func (f field) qualified() (schema, table string) {
	s, ok := f.text()
	if !ok {
		return "", ""
	}
	parts := qualifiedName.FindStringSubmatch(s)
	if parts == nil || strings.ContainsFunc(s, unicode.IsControl) {
		f.fail(`write, for example, public.visits; put names other than lower-case words in double quotes: 'public."Visits"'`,
			"not the name of a table in its schema: %s", quote(s))
		return "", ""
	}
	for i, part := range parts[1:] {
		if part[0] == '"' {
			part = strings.ReplaceAll(part[1:len(part)-1], `""`, `"`)
		}
		if len(part) > maxNameBytes {
			f.fail("", "a name may have at most %d bytes", maxNameBytes)
		}
		parts[i+1] = part
	}
	return parts[1], parts[2]
}
