package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"diagnostics/shared/accept"
)

// content is one answer.
type content struct {
	status int // 200 where it is 0
	kind   string
	cache  string
	body   []byte
	// tag is the entity tag of the body, empty to compute it now.
	tag string
	// zipped gives the body compressed, nil to compress it now.
	zipped func() []byte
	// vary is the request header that the body depends on, empty for none.
	vary string
}

// smallest is the size from which compression pays.
const smallest = 1024

// serve writes a response: compressed if the client accepts that, 304 if it has the content.
func serve(w http.ResponseWriter, r *http.Request, c content) {
	h := w.Header()
	h.Set("Content-Type", c.kind)
	h.Set("Cache-Control", c.cache)
	vary := "Accept-Encoding"
	if c.vary != "" {
		vary += ", " + c.vary
	}
	h.Set("Vary", vary)
	body, zipped := c.body, false
	if len(c.body) >= smallest && accept.Gzip(r.Header.Values("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		zipped = true
		if c.zipped != nil {
			body = c.zipped()
		} else {
			body = compress(c.body)
		}
	}
	if status := cmp.Or(c.status, http.StatusOK); status != http.StatusOK {
		write(w, r, status, body)
		return
	}
	tag := c.tag
	if tag == "" {
		tag = etag(c.body)
	}
	if zipped { // the two encodings are two representations, and a strong tag names one (RFC 9110, 8.8.3.3)
		tag = strings.TrimSuffix(tag, `"`) + `-gzip"`
	}
	ServeWhole(w, r, tag, body)
}

// ServeWhole answers a GET or HEAD with a body, or with 304 if the client has it by its entity tag. It ignores Range,
// unlike http.ServeContent: the ranges of one request would cost more than a hundred pages, and no reader needs a part.
func ServeWhole(w http.ResponseWriter, r *http.Request, tag string, body []byte) {
	h := w.Header()
	h.Set("ETag", tag)
	if hasTag(r.Header.Values("If-None-Match"), tag) {
		h.Del("Content-Type")
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	write(w, r, http.StatusOK, body)
}

func write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

// hasTag reports whether If-None-Match names an entity tag, weak or strong (RFC 9110, 13.1.2).
func hasTag(fields []string, tag string) bool {
	for _, field := range fields {
		for one := range strings.SplitSeq(field, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}

func etag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// zippers are kept, since each takes most of a megabyte.
var zippers = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one of theirs
	}
	return z
}}

// compressOnce compresses a body when it is first asked for, and keeps that.
func compressOnce(body []byte) func() []byte {
	return sync.OnceValue(func() []byte { return compress(body) })
}

func compress(body []byte) []byte {
	var out bytes.Buffer
	z := zippers.Get().(*gzip.Writer)
	defer zippers.Put(z)
	z.Reset(&out)
	_, _ = z.Write(body)
	_ = z.Close()
	return out.Bytes()
}

const contentSecurityPolicy = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; " +
	"frame-ancestors 'none'"

const permissionsPolicy = "accelerometer=(), autoplay=(), camera=(), display-capture=(), encrypted-media=(), " +
	"fullscreen=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=(), " +
	"xr-spatial-tracking=()"

// setHeaders sets what our own security-headers tool asks of others.
func (s *Site) setHeaders(h http.Header, r *http.Request) {
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	// The address of a page may name what a visitor looked into: it goes to no one else.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Permissions-Policy", permissionsPolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.TLS != nil || strings.HasPrefix(s.config.PublicOrigin, "https://") {
		// Neighbours on other subdomains are not ours to bind, so without includeSubDomains.
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// documentHeaders apply to documents alone.
var documentHeaders = []string{
	"Content-Security-Policy", "X-Frame-Options", "Referrer-Policy", "Permissions-Policy", "Cross-Origin-Opener-Policy",
}
