package caa

import "slices"

// IssuersDate is the day as of which the names of Issuers were collected.
const IssuersDate = "2025-07-23"

// issuer is an authority: the organizations that its certificates name as their issuer, the CAA names that it accepts,
// and where it publishes them.
type issuer struct {
	organizations []string
	names         []string
	source        string
}

// issuers are the authorities whose CAA names are known, from their practice statements and manuals. One of them may
// accept more names than are listed for resellers and brands of the past.
var issuers = []issuer{
	{[]string{"Let's Encrypt", "Internet Security Research Group"}, []string{"letsencrypt.org"},
		"https://letsencrypt.org/docs/caa/"},
	{[]string{"Google Trust Services", "Google Trust Services LLC"}, []string{"pki.goog"}, "https://pki.goog/repository/"},
	{[]string{"Amazon", "Amazon Trust Services"},
		[]string{"amazon.com", "amazontrust.com", "awstrust.com", "amazonaws.com", "aws.amazon.com"},
		"https://www.amazontrust.com/repository/"},
	{[]string{"DigiCert Inc", "DigiCert, Inc.", "GeoTrust", "GeoTrust, Inc.", "RapidSSL", "Thawte", "thawte, Inc.",
		"Encryption Everywhere CA", "QuoVadis Limited"},
		[]string{"digicert.com", "www.digicert.com", "digicert.ne.jp", "cybertrust.ne.jp", "symantec.com", "thawte.com",
			"geotrust.com", "rapidssl.com", "digitalcertvalidation.com", "quovadisglobal.com", "pkioverheid.nl",
			"amazon.com", "amazontrust.com", "awstrust.com", "amazonaws.com"},
		"https://docs.digicert.com/en/certcentral/manage-certificates/dns-caa-resource-record-check.html"},
	{[]string{"Sectigo Limited", "COMODO CA Limited", "The USERTRUST Network"},
		[]string{"sectigo.com", "comodo.com", "comodoca.com", "usertrust.com", "trust-provider.com", "entrust.net",
			"affirmtrust.com"}, "https://www.sectigo.com/legal"},
	{[]string{"GlobalSign nv-sa", "GlobalSign"}, []string{"globalsign.com"}, "https://www.globalsign.com/en/repository"},
	{[]string{"GoDaddy.com, Inc.", "Starfield Technologies, Inc."}, []string{"godaddy.com", "starfieldtech.com"},
		"https://certs.godaddy.com/repository/"},
	{[]string{"Entrust, Inc.", "Entrust Limited", "Entrust Corporation", "Entrust", "AffirmTrust"},
		[]string{"entrust.net", "affirmtrust.com"},
		"https://www.entrust.com/legal-compliance/entrust-certificate-services-repository"},
	{[]string{"SSL Corporation", "SSL Corp"}, []string{"ssl.com", "entrust.net", "affirmtrust.com"},
		"https://www.ssl.com/repository/"},
	{[]string{"Microsoft Corporation"}, []string{"microsoft.com"}, "https://www.microsoft.com/pkiops/docs/repository.htm"},
	{[]string{"Apple Inc."}, []string{"pki.apple.com"}, "https://www.apple.com/certificateauthority/public/"},
	{[]string{"IdenTrust", "IdenTrust, Inc."}, []string{"identrust.com"},
		"https://www.identrust.com/support/documents/trustid"},
	{[]string{"Certainly"}, []string{"certainly.com"}, "https://www.certainly.com/repository/"},
	{[]string{"Buypass AS-983163327"}, []string{"buypass.com", "buypass.no"},
		"https://www.buypass.com/security/buypass-legal-documents"},
	{[]string{"Actalis S.p.A.", "Actalis S.p.A./03358520967"}, []string{"actalis.it"},
		"https://www.actalis.com/documents"},
	{[]string{"Asseco Data Systems S.A.", "Unizeto Technologies S.A.", "Certum"}, []string{"certum.pl", "certum.eu"},
		"https://www.certum.eu/en/repository/"},
	{[]string{"Hellenic Academic and Research Institutions CA",
		"Hellenic Academic and Research Institutions Cert. Authority"}, []string{"harica.gr"},
		"https://repo.harica.gr/"},
	{[]string{"D-Trust GmbH"}, []string{"d-trust.net", "dtrust.de", "d-trust.de"},
		"https://www.d-trust.net/en/support/repository"},
	{[]string{"Deutsche Telekom Security GmbH", "T-Systems Enterprise Services GmbH"},
		[]string{"telesec.de", "pki.dfn.de", "dfn.de"}, "https://www.telesec.de/en/service/downloads/pki-repository/"},
	{[]string{"SwissSign AG"}, []string{"swisssign.com"}, "https://repository.swisssign.com/"},
	{[]string{"Telia Company AB", "Telia Finland Oyj", "TeliaSonera"}, []string{"telia.com"},
		"https://cps.trust.telia.com/"},
	{[]string{"SECOM Trust Systems CO.,LTD.", "SECOM Trust Systems Co., Ltd."}, []string{"secomtrust.net"},
		"https://repository.secomtrust.net/"},
	{[]string{"Cybertrust Japan Co., Ltd."}, []string{"cybertrust.ne.jp", "cybertrust.co.jp"},
		"https://www.cybertrust.ne.jp/ssl/repository/"},
	{[]string{"TAIWAN-CA", "TAIWAN-CA Inc.", "TWCA"}, []string{"twca.com.tw"}, "https://www.twca.com.tw/repository"},
	{[]string{"Microsec Ltd."}, []string{"e-szigno.hu"}, "https://e-szigno.hu/en/all-documents.html"},
	{[]string{"NETLOCK Kft.", "NetLock Kft."}, []string{"netlock.hu", "netlock.net", "netlock.eu", "netlock.com"},
		"https://netlock.hu/en/terms-conditions/"},
	{[]string{"CERTSIGN SA", "certSIGN"}, []string{"certsign.ro"}, "https://www.certsign.ro/en/repository/"},
	{[]string{"Dhimyotis", "Certigna"}, []string{"certigna.fr", "certigna.com"}, "https://www.certigna.com/autorites/"},
	{[]string{"ACCV"}, []string{"accv.es"}, "https://www.accv.es/en/about-us/policies/"},
	{[]string{"eMudhra Technologies Limited", "eMudhra Inc"}, []string{"emsign.com"}, "https://repository.emsign.com/"},
	{[]string{"TrustAsia Technologies, Inc."}, []string{"trustasia.com"}, "https://repository.trustasia.com/"},
	{[]string{"Viking Cloud, Inc.", "Trustwave Holdings, Inc."},
		[]string{"trustwave.com", "securetrust.com", "vikingcloud.com"}, "https://certs.securetrust.com/CA/"},
	{[]string{"China Financial Certification Authority"}, []string{"cfca.com.cn"}, "https://www.cfca.com.cn/us/us-12.htm"},
	{[]string{"UniTrust"}, []string{"sheca.com", "imtrust.cn", "wwwtrust.cn"}, "https://www.sheca.com/repository"},
	{[]string{"BEIJING CERTIFICATE AUTHORITY"}, []string{"bjca.cn"}, "https://www.bjca.cn/cps/"},
}

// Names returns the CAA names of the authority with an organization (O of a certificate's issuer); nil where it is not
// listed.
func Names(organization string) []string {
	at := slices.IndexFunc(issuers, func(i issuer) bool { return slices.Contains(i.organizations, organization) })
	if at < 0 {
		return nil
	}
	return issuers[at].names
}

// Permits reports whether an authority with these CAA names may issue, wildcards or other certificates. It is null
// where the names are not known and that depends on them.
func (p Policy) Permits(wild bool, names []string) *bool {
	restricted, issuers := p.Restricted, p.Issuers
	if wild {
		restricted, issuers = p.WildRestricted, p.Wildcards
	}
	switch {
	case !restricted:
		return new(true)
	case len(issuers) == 0:
		return new(false)
	case len(names) == 0:
		return nil
	}
	return new(slices.ContainsFunc(issuers, func(name string) bool { return slices.Contains(names, name) }))
}
