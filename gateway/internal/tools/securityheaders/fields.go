package securityheaders

import (
	"errors"

	"github.com/dunglas/httpsfv"
)

// parseFieldDictionary reads a structured field that is a dictionary (RFC 9651). One mistake makes browsers ignore all
// of it.
func parseFieldDictionary(values []string) (*httpsfv.Dictionary, error) {
	if len(values) == 0 {
		return nil, errNoField
	}
	return httpsfv.UnmarshalDictionary(values)
}

var errNoField = errors.New("there is no such field")

// fieldToken reads a structured field that is one token with parameters. endpoint is its report-to parameter, empty
// where it has none. ok is false for everything else, several fields included, and browsers then ignore the header.
func fieldToken(values []string) (token, endpoint string, ok bool) {
	item, err := httpsfv.UnmarshalItem(values)
	if err != nil {
		return "", "", false
	}
	t, ok := item.Value.(httpsfv.Token)
	if !ok {
		return "", "", false
	}
	if reportTo, has := item.Params.Get("report-to"); has {
		endpoint, _ = reportTo.(string)
	}
	return string(t), endpoint, true
}
