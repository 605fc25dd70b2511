package format

import "diagnostics/gateway/internal/target"

// maxShortHost keeps sentences short: a name may have 253 octets.
const maxShortHost = 80

// ShortHost gives a host for a sentence, cut where it is long.
func ShortHost(h target.Host) string {
	s := h.String()
	if len(s) <= maxShortHost {
		return s
	}
	return s[:maxShortHost-3] + "..."
}
