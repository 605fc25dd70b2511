package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"diagnostics/shared/workerapi"
)

// errMalformed is all that a parser says: Config's tags say what the setting takes.
var errMalformed = errors.New("malformed")

// boolean is true or false, and nothing that merely looks like it.
type boolean bool

// Decode is envconfig's way in; so for every type here.
func (b *boolean) Decode(s string) error {
	if s != "true" && s != "false" {
		return errMalformed
	}
	*b = s == "true"
	return nil
}

const maxCount = 1_000_000_000

// count is a whole number from 0 to maxCount, in plain digits.
type count int

func (c *count) Decode(s string) error {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n > maxCount {
		return errMalformed
	}
	*c = count(n)
	return nil
}

// places is a count of at least 1.
type places int

func (p *places) Decode(s string) error {
	var c count
	if err := c.Decode(s); err != nil || c < 1 {
		return errMalformed
	}
	*p = places(c)
	return nil
}

// identity is a user or group id; 0 is unset, since becoming root is no way to drop rights.
type identity int

// maxIdentity is the highest id; the one above it means "no change" to the kernel.
const maxIdentity = 1<<32 - 2

func (i *identity) Decode(s string) error {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n < 1 || n > maxIdentity {
		return errMalformed
	}
	*i = identity(n)
	return nil
}

// duration is Go's syntax, and not negative.
type duration time.Duration

func (d *duration) Decode(s string) error {
	parsed, err := time.ParseDuration(s)
	if err != nil || parsed < 0 {
		return errMalformed
	}
	*d = duration(parsed)
	return nil
}

// listenAddr is host:port, where the host may be empty and the port 0.
type listenAddr string

func (a *listenAddr) Decode(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil || strings.ContainsAny(host, " /") {
		return errMalformed
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return errMalformed
	}
	*a = listenAddr(s)
	return nil
}

type logLevel slog.Level

func (l *logLevel) Decode(s string) error {
	switch s {
	case "debug":
		*l = logLevel(slog.LevelDebug)
	case "info":
		*l = logLevel(slog.LevelInfo)
	case "warn":
		*l = logLevel(slog.LevelWarn)
	case "error":
		*l = logLevel(slog.LevelError)
	default:
		return errMalformed
	}
	return nil
}

type logFormat string

func (f *logFormat) Decode(s string) error {
	if s != "json" && s != "text" {
		return errMalformed
	}
	*f = logFormat(s)
	return nil
}

const redacted = "[redacted]"

// secret is a value that prints itself as [redacted], however it is printed: fmt with any verb, slog, JSON. It is held
// behind a pointer, so that even a verb that goes around the methods of an unexported field prints an address.
type secret struct{ value *string }

func newSecret(value string) secret { return secret{value: &value} }

// reveal gives the value, for the one place that needs it.
func (s secret) reveal() string { return *s.value }

// String is not the value.
func (s secret) String() string { return redacted }

// Format is not the value, for any verb.
func (s secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue is not the value.
func (s secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText is not the value; JSON uses it as well.
func (s secret) MarshalText() ([]byte, error) { return []byte(redacted), nil } //nolint:unparam // encoding.TextMarshaler's

// tokens are one bearer token, or two while one replaces the other.
type tokens []secret

func (t *tokens) Decode(s string) error {
	parts := strings.Split(s, ",")
	if len(parts) > 2 {
		return errMalformed
	}
	*t = nil
	for _, part := range parts {
		part = strings.Trim(part, " ")
		if len(part) < workerapi.MinTokenLength || strings.IndexFunc(part, notTokenRune) >= 0 {
			return errMalformed
		}
		*t = append(*t, newSecret(part))
	}
	return nil
}

func (t tokens) reveal() []string {
	var all []string
	for _, s := range t {
		all = append(all, s.reveal())
	}
	return all
}

func notTokenRune(r rune) bool { return r <= ' ' || r > '~' }
