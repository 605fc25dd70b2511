package web

import (
	"net/http"
	"strings"
)

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
	// The address of a page may name what a visitor looked into: it goes to nobody else.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Permissions-Policy", permissionsPolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.TLS != nil || strings.HasPrefix(s.config.PublicOrigin, "https://") {
		// Neighbours on other subdomains are not ours to bind, so without includeSubDomains.
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
