package tool

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
)

// Options are the members of a request's options object. Unknown members are ignored; null counts as absent.
type Options map[string]json.RawMessage

// Option describes one member of the options object. A tool parses it by Choice, Text, Number or Flag; its schema in
// OpenAPI, its field on the tool's page and the sentence of a 400 are made from the same value.
type Option struct {
	Name string
	// Doc is one line for the API's description.
	Doc string
	// Values are all values of a choice, and Default is the one that an absent option has. Empty for text and numbers.
	Values  []string
	Default string
	// Min and Max bound a whole number; both are 0 for text.
	Min, Max int
	// Bool marks true or false; an absent option is false.
	Bool bool
	// Allowed completes "The option x must be" for a text. Pattern (ECMA 262) and MaxLength, in characters, describe it
	// to clients; the tool's Parse enforces Pattern.
	Allowed   string
	Pattern   string
	MaxLength int
}

// IsNumber reports whether the option is a whole number.
func (o Option) IsNumber() bool { return o.Max > 0 }

// Choice returns the value of an option with Values. Any other value is Invalid.
func (o Option) Choice(from Options) (string, error) {
	value, present, err := o.Text(from)
	switch {
	case err != nil:
		return "", err
	case !present:
		return o.Default, nil
	case !slices.Contains(o.Values, value):
		return "", o.Reject()
	}
	return value, nil
}

// Text returns the value of an option that is a string, and reports whether it is present. Another type and a longer
// text are Invalid.
func (o Option) Text(from Options) (value string, present bool, err error) {
	raw, ok := from[o.Name]
	if !ok || string(raw) == "null" {
		return "", false, nil
	}
	if json.Unmarshal(raw, &value) != nil {
		return "", false, o.Reject()
	}
	if o.MaxLength > 0 && utf8.RuneCountInString(value) > o.MaxLength {
		return "", false, fault.OfOption(o.Name, "OPTION_TOO_LONG",
			finding.Args{"option": o.Name, "most": o.MaxLength})
	}
	return value, true, nil
}

// Number returns the value of an option that is a whole number from Min to Max, and reports whether it is present.
// Anything else is Invalid.
func (o Option) Number(from Options) (value int, present bool, err error) {
	raw, ok := from[o.Name]
	if !ok || string(raw) == "null" {
		return 0, false, nil
	}
	if json.Unmarshal(raw, &value) != nil || value < o.Min || value > o.Max {
		return 0, false, o.Reject()
	}
	return value, true, nil
}

// Flag returns the value of an option that is a boolean. Anything else is Invalid.
func (o Option) Flag(from Options) (value bool, err error) {
	raw, ok := from[o.Name]
	if ok && json.Unmarshal(raw, &value) != nil {
		return false, o.Reject()
	}
	return value, nil
}

// Reject returns the failure of a value that the option cannot have, of kind Invalid. It names what is allowed.
func (o Option) Reject() error {
	code, args := "OPTION_INVALID", finding.Args{"option": o.Name}
	switch {
	case len(o.Values) > 0:
		code, args["values"] = "OPTION_NOT_LISTED", strings.Join(o.Values, ", ")
	case o.Bool:
		code = "OPTION_NOT_FLAG"
	case o.IsNumber():
		code, args["least"], args["most"] = "OPTION_OUT_OF_RANGE", o.Min, o.Max
	default:
		args["allowed"] = o.Allowed
	}
	return fault.OfOption(o.Name, code, args)
}
