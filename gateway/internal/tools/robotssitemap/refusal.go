package robotssitemap

import "net/http"

// The codes of issues about a server that has the file, for all that can be seen, but does not give it.
const (
	codeRefused = "ACCESS_REFUSED"
	codeLimited = "RATE_LIMITED"
)

// fileKind is what the two kinds of files differ in.
type fileKind struct {
	misled  string // the state where redirects lead nowhere
	refused string // what crawlers do that are refused the file
	limited string // and those that are asked to come later
}

func robotsKind() fileKind {
	return fileKind{
		// Redirects beyond the fifth may count as no file (RFC 9309 section 2.3.1.2).
		misled: fileMissing,
		refused: "Under RFC 9309, crawlers that are refused as well may visit everything, though some stay away. Let " +
			"everybody read the file.",
		limited: "Under RFC 9309, crawlers that get this answer may visit everything, but Google treats it as a server " +
			"error and the whole site as closed. Let everybody read the file.",
	}
}

func sitemapKind() fileKind {
	const unread = "Crawlers that get this answer cannot read it."
	return fileKind{misled: fileUnreachable, refused: unread, limited: unread}
}

// isRefusal reports whether a status keeps the file back, rather than says that there is none.
func isRefusal(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return true
	}
	return false
}

// refuse tells of a refusal. It may have been meant for this service and not for crawlers.
func (s *served) refuse(status int, kind fileKind) {
	code, reason, then := codeRefused, "", kind.refused
	if status == http.StatusTooManyRequests {
		code, reason, then = codeLimited, " because of too many requests", kind.limited
	}
	s.add(code, fileWarn, "The server refuses the file%s (%d %s), perhaps only to this service. %s", reason, status,
		http.StatusText(status), then)
}
