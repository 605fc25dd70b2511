package dmarc

import (
	"context"
	"slices"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/shared/netpolicy"
	"diagnostics/shared/parallel"
)

// maxExternal bounds at how many other domains consent to reports is looked up.
const maxExternal = 6

const sectionExternal = "RFC 9990, Verifying External Destinations; RFC 7489 section 7.1"

// external looks up the consent of every other domain that reports are to go to.
func (c *check) external(ctx context.Context, dns Resolver) {
	hosts := c.externalHosts()
	if len(hosts) > maxExternal {
		c.add(mail.Warn, "DMARC_TOO_MANY_DESTINATIONS", sectionExternal,
			"Reports go to %d other domains; only the first %d were asked whether they accept them.", len(hosts), maxExternal)
		hosts = hosts[:maxExternal]
	}
	c.report.Destinations = make([]Destination, len(hosts))
	var lookups parallel.Group
	for i, host := range hosts {
		lookups.Go(func() { c.report.Destinations[i] = c.askDestination(ctx, dns, host) })
	}
	lookups.Wait()
	for _, d := range c.report.Destinations {
		c.judgeDestination(d)
	}
}

// externalHosts gives the destinations outside the organization, each once.
func (c *check) externalHosts() []string {
	home := c.report.Organizational
	if home == "" {
		// The walk did not get to the end. What the public suffix list says is better than to take the domain for all.
		home = listedDomain(c.report.FoundAt)
	}
	var hosts []string
	for _, uri := range slices.Concat(c.report.Record.Aggregate, c.report.Record.Failure) {
		if !mail.Under(uri.Host, home) && !slices.Contains(hosts, uri.Host) {
			hosts = append(hosts, uri.Host)
		}
	}
	return hosts
}

// Destination is another domain that reports go to, and whether it says that it takes them.
type Destination struct {
	Host string
	// Name is where it says so.
	Name string
	// Authorized means that it does, for reports to itself; Elsewhere is another host that it wants them sent to, which
	// is not allowed.
	Authorized bool
	Elsewhere  string
	// Failure is the lookup that gave no answer, nil where one did.
	Failure *mail.LookupError
}

func (c *check) askDestination(ctx context.Context, dns Resolver, host string) Destination {
	d := Destination{Host: host, Name: c.report.FoundAt + "._report._dmarc." + host}
	name, err := netpolicy.ParseName(d.Name, true)
	if err != nil {
		d.Failure = &mail.LookupError{Code: mail.CodeName}
		return d
	}
	txt, err := dns.TXT(ctx, name)
	d.Failure = mail.Failure(err)
	for _, record := range txt {
		if !IsRecord(record) {
			continue
		}
		elsewhere := c.elsewhere(record, host)
		if d.Authorized = elsewhere == ""; d.Authorized {
			d.Elsewhere = ""
			return d
		}
		d.Elsewhere = elsewhere
	}
	return d
}

// elsewhere gives another host that a destination's record sends the reports to, empty where there is none. Only the
// tag that names the destination counts.
func (c *check) elsewhere(record, host string) string {
	override, _ := Parse(record)
	for _, lists := range [][2][]mail.ReportURI{
		{c.report.Record.Aggregate, override.Aggregate}, {c.report.Record.Failure, override.Failure},
	} {
		if !slices.ContainsFunc(lists[0], func(uri mail.ReportURI) bool { return uri.Host == host }) {
			continue
		}
		for _, uri := range lists[1] {
			if uri.Host != host {
				return uri.Host
			}
		}
	}
	return ""
}

func (c *check) judgeDestination(d Destination) {
	host, from := mail.Show(d.Host), mail.Show(c.report.FoundAt)
	switch {
	case d.Authorized:
	case d.Elsewhere != "":
		c.add(mail.Warn, "DMARC_REPORTS_REDIRECTED", sectionExternal, "%s wants reports about %s sent on to %s, another "+
			"host, so none are sent to either. Its record at %s may only name addresses at %s itself.", host, from,
			mail.Show(d.Elsewhere), mail.Show(d.Name), host)
	case d.Failure == nil:
		c.add(mail.Warn, "DMARC_REPORTS_NOT_AUTHORIZED", sectionExternal,
			"%s does not say that it accepts reports about %s, so none are sent there. It must publish a TXT record v=DMARC1 "+
				"at %s._report._dmarc.%s.", host, from, from, host)
	case d.Failure.Code == mail.CodeName:
		c.add(mail.Warn, "DMARC_REPORTS_NOT_AUTHORIZED", sectionExternal, "%s cannot say that it accepts reports "+
			"about %s, because the name that would say so cannot exist in the public DNS.", host, from)
	default:
		c.report.Failed = true
		c.add(mail.Warn, "DMARC_DESTINATION_LOOKUP_FAILED", sectionExternal,
			"Whether %s accepts reports about %s could not be looked up: %s.", host, from, d.Failure.Reason())
	}
}
