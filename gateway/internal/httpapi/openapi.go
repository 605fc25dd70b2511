package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// description is the API's description as it is served.
type description struct{ text, etag string }

func newDescription(text string) description {
	sum := sha256.Sum256([]byte(text))
	return description{text: text, etag: `"` + hex.EncodeToString(sum[:16]) + `"`}
}

// serve writes the one answer under /api/ without an envelope and without an origin rule: it is public and cacheable.
func (d description) serve(c echo.Context) error {
	h := c.Response().Header()
	h.Set("Content-Type", "application/yaml")
	h.Set("Cache-Control", "public, max-age=3600")
	h.Set("ETag", d.etag)
	// A part of it, or a precondition that fails, would be an answer under /api/ that the description does not have.
	for _, name := range []string{"Range", "If-Match", "If-Unmodified-Since"} {
		c.Request().Header.Del(name)
	}
	http.ServeContent(c.Response(), c.Request(), "", time.Time{}, strings.NewReader(d.text))
	return nil
}
