package robotstxt

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"diagnostics/shared/ascii"
)

const upperHex = "0123456789ABCDEF"

// normal writes a pattern as its octets are compared and counted (RFC 9309 section 2.2.2): escapes of unreserved
// characters are undone, all others in upper case; octets outside ASCII are escaped, and so is $, which is special at
// the end alone.
func normal(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' && ascii.StartsWithEscape(path[i:]) {
			octet, _ := strconv.ParseUint(path[i+1:i+3], 16, 8)
			c = byte(octet)
			i += 2
			if isUnreserved(c) {
				b.WriteByte(c)
			} else {
				writeEscape(&b, c)
			}
			continue
		}
		if c >= utf8.RuneSelf || c == '$' {
			writeEscape(&b, c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func writeEscape(b *strings.Builder, c byte) { b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]}) }

func isUnreserved(c byte) bool {
	return ascii.IsAlphanumeric(c) || strings.IndexByte("-._~", c) >= 0
}
