// Package accept reads what a client accepts.
package accept

import (
	"strconv"
	"strings"
)

// Gzip reports whether Accept-Encoding fields (RFC 9110 section 12.5.3) name gzip with a weight above 0; "*" does not
// count.
func Gzip(fields []string) bool {
	for _, field := range fields {
		for listed := range strings.SplitSeq(field, ",") {
			coding, parameters, _ := strings.Cut(listed, ";")
			if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
				return weight(parameters) > 0
			}
		}
	}
	return false
}

func weight(parameters string) float64 {
	name, value, _ := strings.Cut(strings.TrimSpace(parameters), "=")
	if !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return 0
	}
	return q
}
