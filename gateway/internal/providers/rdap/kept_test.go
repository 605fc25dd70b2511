package rdap

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/providers/registry"
)

func optional(s string) *string { return &s }

// What is kept of a name is held to all that is demanded of a registry's own answer.
func TestWhatFitsAName(t *testing.T) {
	t.Parallel()
	const name = "one-site.com"
	found := func() domainRecord {
		return domainRecord{URL: "https://" + registryHost + "/domain/one-site.com", Domain: &Domain{
			Name: name, UnicodeName: name, Status: []string{"active"}, Nameservers: []string{"ns1.one-site.com"},
			Registrar: &Registrar{Name: optional("A registrar"), URL: optional("https://registrar-site.com")},
			Events:    Events{Expires: optional("2027-01-01T00:00:00Z")},
			DNSSEC:    DNSSEC{DS: []DS{{KeyTag: 1, Algorithm: 8, DigestType: 2, Digest: "AB12"}}},
			Contacts: []Contact{{Roles: []string{"registrant"}, Organization: optional("Example & Söhne"),
				Country: optional("DE"), Redactions: []Redaction{
					{Name: optional("Registrant Phone"), Reason: optional("Server policy")},
				}}},
			Redactions: []Redaction{{Reason: optional("Server policy")}},
		}, Notices: []Notice{{Title: "Terms", Description: "Of use."}},
			Related: "https://" + registrarHost + "/domain/one-site.com"}
	}
	for what, c := range map[string]struct {
		change func(*domainRecord)
		ok     bool
	}{
		"as it was kept":           {func(*domainRecord) {}, true},
		"no notices":               {func(r *domainRecord) { r.Notices = nil }, true},
		"from a server of ours":    {func(r *domainRecord) { r.URL = "" }, true},
		"not found":                {func(r *domainRecord) { r.Domain, r.Reason = nil, NotFound }, true},
		"a failure":                {func(r *domainRecord) { *r = domainRecord{Failure: "It failed."} }, true},
		"nothing":                  {func(r *domainRecord) { *r = domainRecord{} }, false},
		"found and not":            {func(r *domainRecord) { r.Reason = NotFound }, false},
		"an unknown reason":        {func(r *domainRecord) { r.Domain, r.Reason = nil, "because" }, false},
		"another name":             {func(r *domainRecord) { r.Domain.Name = "two-site.com" }, false},
		"another name to be shown": {func(r *domainRecord) { r.Domain.UnicodeName = "two-site.com" }, false},
		"a private source":         {func(r *domainRecord) { r.URL = "https://10.0.0.5/domain/one-site.com" }, false},
		"a source without TLS":     {func(r *domainRecord) { r.URL = "http://" + registryHost + "/domain/one-site.com" }, false},
		"no source's URL":          {func(r *domainRecord) { r.URL = "javascript:alert(1)" }, false},
		"a script as a link":       {func(r *domainRecord) { r.Domain.Registrar.URL = optional("javascript:alert(1)") }, false},
		"no e-mail address":        {func(r *domainRecord) { r.Domain.Registrar.AbuseEmail = optional("call us") }, false},
		"a line break":             {func(r *domainRecord) { r.Domain.Handle = optional("a\nb") }, false},
		"an escape":                {func(r *domainRecord) { r.Notices[0].Description = "\x1b[2J" }, false},
		"a text that turns":        {func(r *domainRecord) { r.Domain.Contacts[0].Organization = optional("a\u202eb") }, false},
		"a long text":              {func(r *domainRecord) { r.Related = strings.Repeat("x", maxHref+1) }, false},
		"a notice of ours":         {func(r *domainRecord) { r.Notices[0].FromService = true }, false},
		"many notices":             {func(r *domainRecord) { r.Notices = slices.Repeat(r.Notices, maxNotices+1) }, false},
		"many contacts":            {func(r *domainRecord) { r.Domain.Contacts = slices.Repeat(r.Domain.Contacts, maxContacts+1) }, false},
		"many name servers":        {func(r *domainRecord) { r.Domain.Nameservers = slices.Repeat(r.Domain.Nameservers, 10_000) }, false},
		"many states":              {func(r *domainRecord) { r.Domain.Status = slices.Repeat(r.Domain.Status, 10_000) }, false},
		"no list of states":        {func(r *domainRecord) { r.Domain.Status = nil }, false},
		"no list of roles":         {func(r *domainRecord) { r.Domain.Contacts[0].Roles = nil }, false},
		"no list of DS":            {func(r *domainRecord) { r.Domain.DNSSEC.DS = nil }, false},
		"no list of redactions":    {func(r *domainRecord) { r.Domain.Redactions = nil }, false},
		"none of a contact":        {func(r *domainRecord) { r.Domain.Contacts[0].Redactions = nil }, false},
		"an empty redaction":       {func(r *domainRecord) { r.Domain.Redactions[0].Reason = nil }, false},
		"a redaction given twice":  {func(r *domainRecord) { r.Domain.Redactions = slices.Repeat(r.Domain.Redactions, 2) }, false},
		"long redactions":          {func(r *domainRecord) { r.Domain.Contacts[0].Redactions[0].Name = optional(strings.Repeat("<", 700)) }, false},
		"a reason that turns":      {func(r *domainRecord) { r.Domain.Redactions[0].Reason = optional("a\u202eb") }, false},
		"a digest that is none":    {func(r *domainRecord) { r.Domain.DNSSEC.DS[0].Digest = "<b>" }, false},
		"a moment that is none":    {func(r *domainRecord) { r.Domain.Events.Expires = optional("tomorrow") }, false},
	} {
		r := found()
		c.change(&r)
		if got := domainFits(name)(stored(t, r)); got != c.ok {
			t.Errorf("%s: fits is %t", what, got)
		}
	}
}

func TestWhatFitsAnAddress(t *testing.T) {
	t.Parallel()
	addr := netip.MustParseAddr("193.0.6.139")
	for what, c := range map[string]struct {
		change func(*networkRecord)
		ok     bool
	}{
		"as it was kept":       {func(*networkRecord) {}, true},
		"not found":            {func(r *networkRecord) { r.Network, r.Reason = nil, NoService }, true},
		"nothing":              {func(r *networkRecord) { *r = networkRecord{} }, false},
		"another block":        {func(r *networkRecord) { r.Network.StartAddress, r.Network.EndAddress = "8.8.8.0", "8.8.8.255" }, false},
		"no end":               {func(r *networkRecord) { r.Network.EndAddress = "" }, false},
		"an end before it":     {func(r *networkRecord) { r.Network.EndAddress = "1.1.1.1" }, false},
		"another spelling":     {func(r *networkRecord) { r.Network.StartAddress += "/32" }, false},
		"other prefixes":       {func(r *networkRecord) { r.Network.CIDRs = []string{"10.0.0.0/8"} }, false},
		"no prefixes":          {func(r *networkRecord) { r.Network.CIDRs = nil }, false},
		"texts for prefixes":   {func(r *networkRecord) { r.Network.CIDRs = []string{"<script>"} }, false},
		"a country that is no": {func(r *networkRecord) { r.Network.Country = optional("nowhere") }, false},
		"a control character":  {func(r *networkRecord) { r.Network.Name = "a\x00b" }, false},
		"no e-mail address":    {func(r *networkRecord) { r.Network.AbuseContact = optional("<abuse>") }, false},
		"no list of states":    {func(r *networkRecord) { r.Network.Status = nil }, false},
		"no redactions":        {func(r *networkRecord) { r.Network.Redactions = nil }, false},
		"an empty redaction":   {func(r *networkRecord) { r.Network.Redactions = []Redaction{{}} }, false},
	} {
		r, err := readNetwork(fixture(t, "ripe.json"), addr)
		if err != nil {
			t.Fatal(err)
		}
		r.URL = "https://" + registryHost + "/ip/" + addr.String()
		c.change(&r)
		if got := networkFits(addr)(stored(t, r)); got != c.ok {
			t.Errorf("%s: fits is %t", what, got)
		}
	}
}

// Another writer to the shared store gets nothing shown that is of another object, and no server queried that is not
// public.
func TestAPoisonedStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.on(redirectorHost+"/domain/one-site.com", to("https://"+registryHost+"/domain/one-site.com"))
	w.on(registryHost+"/domain/one-site.com", domainBody("one-site.com"))
	lie := domainRecord{Domain: &Domain{Name: "two-site.com", UnicodeName: "two-site.com", Status: []string{},
		Nameservers: []string{},
		DNSSEC:      DNSSEC{DS: []DS{}}, Contacts: []Contact{}, Redactions: []Redaction{}}}
	stored := cache.NewTyped[domainRecord](w.store, "rdap-domain", registry.KeepFound)
	stored.Keep(t.Context(), "one-site.com", lie, time.Hour)
	a, err := w.domain("one-site.com")
	if err != nil || !a.Found || a.Domain.Name != "one-site.com" || a.Sources[0].Cached {
		t.Errorf("%+v, %v", a, err)
	}
	w.wantAsked(redirectorHost+"/domain/one-site.com", registryHost+"/domain/one-site.com")
	if a, err = w.domain("one-site.com"); err != nil || !a.Sources[0].Cached {
		t.Errorf("the lie was not replaced: %+v, %v", a, err)
	}
}
