package lab

import (
	"diagnostics/lab/internal/site"
	"diagnostics/lab/internal/zone"
)

// Step is a scripted answer of a resolver.
type Step = zone.Step

// RedirectTo is the URL of one redirect with a status to a location, exactly as given, on a host that serves redirects
// (the site "redirects").
func RedirectTo(host, location string, status int) string {
	return site.RedirectTo(host, location, status)
}
