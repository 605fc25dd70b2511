package settings

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// ErrMalformed is a type's error for a value that it rejects: the setting's tags list what it takes.
var ErrMalformed = errors.New("malformed")

// Bool is true or false, in exactly this spelling.
type Bool bool

// Decode implements envconfig.Decoder, as for every type here.
func (b *Bool) Decode(s string) error {
	if s != "true" && s != "false" {
		return ErrMalformed
	}
	*b = s == "true"
	return nil
}

const maxCount = 1_000_000_000

// Count is a whole number from 0 to 1,000,000,000, in plain digits.
type Count int

// Decode takes digits alone.
func (c *Count) Decode(s string) error {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n > maxCount {
		return ErrMalformed
	}
	*c = Count(n)
	return nil
}

// Duration is a time.Duration in Go's syntax, and not negative.
type Duration time.Duration

// Decode takes what time.ParseDuration takes, but for a negative one.
func (d *Duration) Decode(s string) error {
	parsed, err := time.ParseDuration(s)
	if err != nil || parsed < 0 {
		return ErrMalformed
	}
	*d = Duration(parsed)
	return nil
}

// Choice is one of the values in the field's oneof tag.
type Choice string

// Decode takes anything: the tag decides.
func (c *Choice) Decode(s string) error {
	*c = Choice(s)
	return nil
}

// ListenAddr is host:port, where the host may be empty, or a range (192.0.2.0/24) that this host has an address in, and
// the port 0.
type ListenAddr string

// Decode takes a port in digits: the name of a service depends on the system.
func (a *ListenAddr) Decode(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil || strings.ContainsAny(host, " /") && !isRange(host) {
		return ErrMalformed
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return ErrMalformed
	}
	*a = ListenAddr(s)
	return nil
}

func isRange(host string) bool {
	_, err := netip.ParsePrefix(host)
	return err == nil
}

// FilePath is the path of a file.
type FilePath string

// Decode takes what the system could open.
func (p *FilePath) Decode(s string) error {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return ErrMalformed
	}
	*p = FilePath(s)
	return nil
}

// IsPrintable reports whether a text is printable ASCII without spaces, which goes into a header as it is.
func IsPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// ParseTokens reads one bearer token, or two with a comma between while one replaces the other. Each has at least the
// given number of printable ASCII characters; spaces around one do not count.
func ParseTokens(s string, least int) ([]Secret, error) {
	parts := strings.Split(s, ",")
	if len(parts) > 2 {
		return nil, ErrMalformed
	}
	var all []Secret
	for _, part := range parts {
		part = strings.Trim(part, " ")
		if len(part) < least || !IsPrintable(part) {
			return nil, ErrMalformed
		}
		all = append(all, NewSecret(part))
	}
	return all, nil
}
