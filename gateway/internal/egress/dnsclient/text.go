package dnsclient

import (
	"strconv"
	"strings"

	"diagnostics/gateway/internal/text"
	"diagnostics/shared/ascii"
)

// TrimRoot drops the dot of the root from a name in presentation form; the root itself is "". An escaped dot at the end
// is part of the last label.
func TrimRoot(name string) string {
	trimmed, ok := strings.CutSuffix(name, ".")
	if !ok {
		return name
	}
	backslashes := len(trimmed) - len(strings.TrimRight(trimmed, `\`))
	if backslashes%2 == 1 {
		return name
	}
	return trimmed
}

// JoinTXT joins the character-strings of one TXT record as they were before presentation. A character of UTF-8 may lie
// across two of them, so that the whole is judged and not each.
func JoinTXT(chunks []string) string {
	var whole []byte
	for _, chunk := range chunks {
		whole = append(whole, Unescape(chunk)...)
	}
	return text.Decode(whole)
}

// Unescape undoes \DDD and \X of the presentation format (RFC 1035 section 5.1). A backslash at the end, and digits
// that are no byte, stand for themselves.
func Unescape(s string) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		if value, ok := decimalByte(s[i+1:]); ok {
			out = append(out, value)
			i += 3
			continue
		}
		i++
		out = append(out, s[i])
	}
	return out
}

// decimalByte reads three digits that make a byte.
func decimalByte(s string) (byte, bool) {
	if len(s) < 3 || !ascii.AllDigits(s[:3]) {
		return 0, false
	}
	value, err := strconv.ParseUint(s[:3], 10, 8)
	return byte(value), err == nil
}
