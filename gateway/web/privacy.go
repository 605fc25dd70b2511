package web

import (
	"fmt"
	"slices"
	"time"
)

// Privacy is what the page on privacy shows of this instance's settings.
type Privacy struct {
	// AuditLog reports whether this instance writes down who ran what.
	AuditLog bool
	// Shared reports whether limits and answers are kept in a Redis, which instances share.
	Shared bool
	// Window is that of the limits.
	Window time.Duration
	// OwnResolvers reports whether the operator chose the resolvers.
	OwnResolvers bool
	// Redirector is the host of the operator's own RDAP redirector, empty where IANA's lists and rdap.org are asked.
	Redirector string
	// ASNZone is the zone of who announces an address.
	ASNZone string
}

// The tools that ask others than the target, or that keep more than the rest.
var (
	registrationTools = []string{"whois-lookup", "ip-geolocation"}
	networkTools      = []string{"ip-geolocation", "asn-lookup", "traceroute"}
)

// privacyView is Privacy with what of it concerns the tools that run here.
type privacyView struct {
	Privacy
	// Refill is how long the limits take to fill up.
	Refill string
	// Worker, Registrations, Port43, Networks, Comparison, Mail and Certificates name which kinds of tools run.
	Worker, Registrations, Port43, Networks, Comparison, Mail, Certificates bool
	// Places are those that can be chosen besides this one.
	Places []Place
}

func (s *Site) privacy() page {
	var others []Place
	if s.config.Places != nil {
		others = s.config.Places().Others
	}
	return page{
		template: "privacy.html", Path: "/privacy", Icon: tabIconName("site"), Title: "Privacy",
		Description: "What this service keeps of a visit, and who receives your query.",
		Styles:      []string{"site.css"}, Modules: []string{"pages/site.js"},
		Privacy: &privacyView{
			Privacy:       s.config.Privacy,
			Refill:        inWords(s.config.Privacy.Window),
			Worker:        s.anyRuns(func(t toolView) bool { return t.probes }),
			Registrations: s.anyRuns(oneOf(registrationTools...)),
			Port43:        s.anyRuns(oneOf("whois-lookup")),
			Networks:      s.anyRuns(oneOf(networkTools...)),
			Comparison:    s.anyRuns(oneOf("dns-resolver-check")),
			Mail:          s.anyRuns(oneOf("email-dns-health")),
			Certificates:  s.anyRuns(oneOf("ssl-checker")),
			Places:        others,
		},
	}
}

// anyRuns reports whether any such tool may run here.
func (s *Site) anyRuns(such func(toolView) bool) bool {
	for _, t := range s.tools {
		if t.Unavailable == "" && such(t) {
			return true
		}
	}
	return false
}

func oneOf(slugs ...string) func(toolView) bool {
	return func(t toolView) bool { return slices.Contains(slugs, t.Slug) }
}

// inWords is a duration as people say it: "a minute", "5 minutes", "90 seconds".
func inWords(d time.Duration) string {
	switch {
	case d == time.Hour:
		return "an hour"
	case d == time.Minute:
		return "a minute"
	case d == time.Second:
		return "a second"
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d hours", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	case d >= time.Second && d%time.Second == 0:
		return fmt.Sprintf("%d seconds", d/time.Second)
	}
	return d.String()
}
