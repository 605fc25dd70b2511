package dmarc

import (
	"context"
	"slices"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/netpolicy"
	"diagnostics/shared/parallel"
)

// maxExternal bounds at how many other domains consent to reports is looked up.
const maxExternal = 6

// external looks up the consent of every other domain that reports are to go to.
func (c *check) external(ctx context.Context, dns Resolver) {
	hosts := c.externalHosts()
	if len(hosts) > maxExternal {
		c.add("DMARC_TOO_MANY_DESTINATIONS", finding.Args{"domains": len(hosts), "most": maxExternal})
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
	args := finding.Args{"host": mail.Show(d.Host), "owner": mail.Show(c.report.FoundAt)}
	switch {
	case d.Authorized:
	case d.Elsewhere != "":
		c.add("DMARC_REPORTS_REDIRECTED", args.With(finding.Args{"elsewhere": mail.Show(d.Elsewhere),
			"name": mail.Show(d.Name)}))
	case d.Failure == nil:
		c.add("DMARC_REPORTS_NOT_AUTHORIZED", args)
	case d.Failure.Code == mail.CodeName:
		c.add("DMARC_REPORTS_NEVER_AUTHORIZED", args)
	default:
		c.report.Failed = true
		c.add("DMARC_DESTINATION_LOOKUP_FAILED", args.With(d.Failure.Args()))
	}
}
