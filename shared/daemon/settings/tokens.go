package settings

import "strings"

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
