package target

import (
	"errors"
	"strings"
	"unicode"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// maxLocation bounds a Location in octets, twice what RFC 9110 section 4.1 recommends.
const maxLocation = 16 << 10

// LocationProblem is a way in which a Location header cannot be followed.
type LocationProblem int

// The problems of a Location.
const (
	LocationMissing     LocationProblem = iota + 1 // absent or blank
	LocationInvalid                                // not a URL, or a host that is none (http:foo, %zz, bad port)
	LocationScheme                                 // a scheme other than http and https
	LocationCredentials                            // user information
	LocationRefused                                // a host that the public-address rules refuse
	LocationConflicting                            // several fields that differ; Resolve reads one and never returns it
)

// LocationError is the reason why a Location was not followed. Err is the *fault.Error for the client.
type LocationError struct {
	Problem LocationProblem
	Err     error
	// BrowsersFollow means that browsers repair the Location, or read its host, in a way that this service does not
	// follow.
	BrowsersFollow bool
}

// Error returns the sentence.
func (e *LocationError) Error() string { return e.Err.Error() }

// Unwrap returns the fault.
func (e *LocationError) Unwrap() error { return e.Err }

func invalid(want, code string, args finding.Args) *LocationError {
	return &LocationError{Problem: LocationInvalid, Err: fail(fault.Invalid, want, code, args)}
}

// followed marks an error as one of this service alone.
func (e *LocationError) followed(byBrowsers bool) *LocationError {
	e.BrowsersFollow = byBrowsers
	return e
}

// hostProblem reads the problem off a fault about a host: refused by policy, or no host at all.
func hostProblem(err error) *LocationError {
	if refused, is := errors.AsType[*fault.Error](err); is && refused.Kind == fault.Refused {
		// Browsers read a name that ends in a number as an IPv4 address.
		return &LocationError{LocationRefused, err, refused.Rule == fault.RuleNumericName}
	}
	return &LocationError{Problem: LocationInvalid, Err: err}
}

// Resolve reads a Location header against u (RFC 9110 section 10.2.2, RFC 3986 section 5), repaired as by Repair, and
// judges the result as a first target is judged. The fragment of u is not kept here. Errors are *LocationError.
func (u URL) Resolve(location string) (URL, error) {
	if len(location) > maxLocation {
		return URL{}, invalid("", "LOCATION_TOO_LONG", finding.Args{"most": maxLocation})
	}
	repaired, changed := Repair(location)
	next, err := u.resolve(repaired)
	if err != nil {
		if changed && (err.Problem == LocationRefused || err.Problem == LocationCredentials) {
			err.BrowsersFollow = true
		}
		return URL{}, err
	}
	return next, nil
}

// resolve returns errors without advice: the text is the server's, not the client's.
func (u URL) resolve(ref string) (URL, *LocationError) {
	if ref == "" {
		return URL{}, &LocationError{Problem: LocationMissing,
			Err: fail(fault.Invalid, "", "LOCATION_EMPTY", nil)}
	}
	ref, _, _ = strings.Cut(ref, "#")
	if _, _, ok := cutScheme(ref); ok {
		return parseAbsolute(ref, advice{})
	}
	if strings.HasPrefix(ref, "//") {
		return parseAbsolute(u.scheme+":"+ref, advice{})
	}
	next := u
	var err *LocationError
	if next.requestURI, err = requestURI(u.merge(ref)); err != nil {
		return URL{}, err
	}
	return next, nil
}

// merge returns the path and query of a reference that has neither scheme, authority nor fragment (RFC 3986 section
// 5.2.2).
func (u URL) merge(ref string) string {
	path, _, _ := strings.Cut(u.requestURI, "?")
	switch {
	case ref == "":
		return u.requestURI
	case ref[0] == '/':
		return ref
	case ref[0] == '?':
		return path + ref
	}
	return path[:strings.LastIndexByte(path, '/')+1] + ref
}

// checkCharacters refuses control characters anywhere in a URL: some readers drop tabs and newlines, others stop at
// them, and either way the rest becomes something else.
func checkCharacters(s string) *LocationError {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return invalid("", "URL_CONTROL_CHARACTER", nil)
	}
	return nil
}
