package httpapi

import (
	"crypto/sha256"
	"encoding/hex"

	"diagnostics/gateway/web"

	"github.com/labstack/echo/v4"
)

// description is the API's description as it is served.
type description struct {
	text []byte
	etag string
}

func newDescription(text string) description {
	sum := sha256.Sum256([]byte(text))
	return description{text: []byte(text), etag: `"` + hex.EncodeToString(sum[:16]) + `"`}
}

// serve writes the one answer under /api/ without an envelope and without an origin rule: it is public and cacheable.
func (d description) serve(c echo.Context) error {
	h := c.Response().Header()
	h.Set("Content-Type", "application/yaml")
	h.Set("Cache-Control", "public, max-age=3600")
	web.ServeWhole(c.Response(), c.Request(), d.etag, d.text)
	return nil
}
