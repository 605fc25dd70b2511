package tool

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"diagnostics/gateway/internal/fault"
)

// MaxInput bounds an input in characters (Unicode code points), before it is trimmed.
const MaxInput = 2048

// CleanInput applies the rules that the inputs of all tools share, and trims surrounding spaces. Control characters are
// refused before the trimming, so that a line break at the end is refused like one in the middle. Errors are
// *fault.Error of kind Invalid.
func CleanInput(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fault.New(fault.Invalid, "INPUT_NOT_UTF8", nil)
	}
	if utf8.RuneCountInString(s) > MaxInput {
		return "", fault.New(fault.Invalid, "INPUT_TOO_LONG", nil)
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "", fault.New(fault.Invalid, "INPUT_HAS_CONTROL_CHARACTERS", nil)
	}
	return strings.TrimSpace(s), nil
}
