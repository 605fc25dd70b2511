package egress

import (
	"slices"
	"strings"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
)

// Locations are the different values of an answer's Location fields, in the order in which they came. More than one is
// a conflict: browsers refuse such an answer as a whole, whatever its status (Chromium with
// ERR_RESPONSE_HEADERS_MULTIPLE_LOCATION), since whoever can add a field must not decide where visitors go. Fields that
// are equal are one.
func (r *Response) Locations() []string {
	var different []string
	for _, value := range r.Header.Values("Location") {
		value = strings.Trim(value, " \t")
		if !slices.Contains(different, value) {
			different = append(different, value)
		}
	}
	return different
}

// Destination is where a browser would go after an answer that redirects. Errors are *target.LocationError.
func (r *Response) Destination() (target.URL, error) {
	switch locations := r.Locations(); len(locations) {
	case 0:
		return r.URL.Resolve("")
	case 1:
		return r.URL.Resolve(locations[0])
	}
	return target.URL{}, &target.LocationError{Problem: target.LocationConflicting,
		Err: fault.New(fault.Invalid, "The answer has conflicting Location headers.")}
}
