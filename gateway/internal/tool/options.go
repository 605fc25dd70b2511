package tool

import (
	"encoding/json"
	"strings"

	"diagnostics/gateway/internal/fault"
)

// Options are the members of a request's options object. Unknown ones are ignored; wrong types are not.
type Options map[string]json.RawMessage

// String gives an option that is a string; absent and null are "" and false. Another type is Invalid.
func (o Options) String(name string) (value string, present bool, err error) {
	raw, ok := o[name]
	if !ok || string(raw) == "null" {
		return "", false, nil
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", false, fault.OfOption(name, "The option %s must be a string.", name)
	}
	return value, true, nil
}

// OneOf gives an option that is one of the allowed values, or fallback where it is absent. Another value is Invalid and
// the sentence names what is allowed.
func (o Options) OneOf(name, fallback string, allowed ...string) (string, error) {
	value, present, err := o.String(name)
	if err != nil {
		return "", err
	}
	if !present {
		return fallback, nil
	}
	for _, a := range allowed {
		if value == a {
			return value, nil
		}
	}
	return "", fault.OfOption(name, "The option %s must be one of %s.", name, strings.Join(allowed, ", "))
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
