package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"diagnostics/gateway/internal/conns"
	"diagnostics/gateway/internal/tool"

	"github.com/labstack/echo/v4"
)

// readBody is steps 3 and 4: the media type, then at most so many bytes whether or not a length is declared.
func readBody(c echo.Context, most int64) ([]byte, error) {
	r := c.Request()
	if !isJSON(r.Header["Content-Type"]) {
		return nil, errMediaType
	}
	if isCompressed(r.Header["Content-Encoding"]) {
		return nil, errCompressed
	}
	if r.ContentLength > most {
		return nil, errTooLarge
	}
	// Until the body is here the connection may have to make room for another's.
	conn := conns.Of(r.Context())
	conn.Receiving()
	defer conn.Received()
	// The framework's writer would hide from net/http that the rest is not wanted.
	body := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
	_, err := body.ReadFrom(http.MaxBytesReader(c.Response().Writer, r.Body, most))
	if err == nil {
		return body.Bytes(), nil
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, errTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errBodySlow
	}
	return nil, errBodyBroken
}

// isJSON reports whether a media type is application/json, alone or with charset=utf-8 in any case.
func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	if values[0] == echo.MIMEApplicationJSON { // what nearly everybody sends
		return true
	}
	media, params, err := mime.ParseMediaType(values[0])
	if err != nil || media != echo.MIMEApplicationJSON {
		return false
	}
	charset, given := params["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}

var (
	errNotObject = badRequest("REQUEST_BODY_NOT_OBJECT")
	errNotUTF8   = badRequest("REQUEST_BODY_NOT_UTF8")
	errInput     = badField("input", "FIELD_INPUT")
	errOptions   = badField("options", "FIELD_OPTIONS")
)

func badField(field, code string) *problem {
	p := badRequest(code)
	p.field = field
	return p
}

// body is what a request's body holds.
type body struct {
	input   string
	options tool.Options
	fields  map[string]json.RawMessage
}

// decodeBody is step 5. Keys are matched exactly; of a repeated key the last counts, as in a browser's JSON.parse.
func decodeBody(text []byte) (b body, err error) {
	if !utf8.Valid(text) {
		return b, errNotUTF8
	}
	if json.Unmarshal(text, &b.fields) != nil || b.fields == nil {
		return b, errNotObject
	}
	if raw := b.fields["input"]; !startsWith(raw, '"') || json.Unmarshal(raw, &b.input) != nil {
		return b, errInput
	}
	raw, given := b.fields["options"]
	if !given || string(raw) == "null" {
		return b, nil
	}
	if !startsWith(raw, '{') || json.Unmarshal(raw, &b.options) != nil {
		return b, errOptions
	}
	return b, nil
}

// startsWith reports whether a JSON value is of a kind. Unmarshal alone does not check it: it accepts null for every
// type.
func startsWith(raw json.RawMessage, c byte) bool { return bytes.HasPrefix(raw, []byte{c}) }

// isCompressed reports whether a Content-Encoding names any coding: identity and nothing at all are none (RFC 9110
// section 8.4).
func isCompressed(fields []string) bool {
	for _, field := range fields {
		for coding := range strings.SplitSeq(field, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
				return true
			}
		}
	}
	return false
}
