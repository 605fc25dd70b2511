package tool

import (
	"encoding/json"
	"slices"
	"strings"

	"diagnostics/gateway/internal/fault"
)

// Options are the members of a request's options object. Unknown ones are ignored; wrong types are not.
type Options map[string]json.RawMessage

// String gives an option that is a string; absent and null are "" and false. Another type is Invalid, and the sentence
// says that the option must be what allowed names, such as "one of A, AAAA".
func (o Options) String(name, allowed string) (value string, present bool, err error) {
	raw, ok := o[name]
	if !ok || string(raw) == "null" {
		return "", false, nil
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", false, notAllowed(name, allowed)
	}
	return value, true, nil
}

// notAllowed is a value that an option cannot have, of whatever type.
func notAllowed(name, allowed string) error {
	return fault.OfOption(name, "The option %s must be %s.", name, allowed)
}

// OneOf gives an option that is one of the allowed values, or fallback where it is absent. Another value is Invalid and
// the sentence names what is allowed.
func (o Options) OneOf(name, fallback string, allowed ...string) (string, error) {
	choice := "one of " + strings.Join(allowed, ", ")
	value, present, err := o.String(name, choice)
	if err != nil {
		return "", err
	}
	if !present {
		return fallback, nil
	}
	if !slices.Contains(allowed, value) {
		return "", notAllowed(name, choice)
	}
	return value, nil
}

// Port gives an option that is a port, a whole number from 1 to 65535; absent and null are 0 and false. Anything else
// is Invalid.
func (o Options) Port(name string) (port uint16, present bool, err error) {
	raw, ok := o[name]
	if !ok || string(raw) == "null" {
		return 0, false, nil
	}
	if err := json.Unmarshal(raw, &port); err != nil || port == 0 {
		return 0, false, fault.OfOption(name, "The option %s must be a whole number from 1 to 65535.", name)
	}
	return port, true, nil
}
