package emaildnshealth

// maxSearched bounds how many selectors are tried where the client names none.
const maxSearched = 45

// commonSelectors are those that thirty of the largest services which send mail for other people's domains have their
// customers publish, in the order of results. They are from the services' own instructions for DKIM; which
// services, from what other checkers try, since no one ranks them. Services whose selectors are different for each
// customer cannot be found so: Amazon SES, Postmark, SparkPost, Marketo, Salesforce, GetResponse, newer HubSpot
// accounts.
var commonSelectors = []string{
	// Google Workspace; Gmail itself
	"google", "20230601",
	// Microsoft 365
	"selector1", "selector2",
	// iCloud Mail
	"sig1",
	// Yahoo
	"s2048",
	// Proton Mail
	"protonmail", "protonmail2", "protonmail3",
	// Fastmail
	"fm1", "fm2", "fm3",
	// Zoho Mail
	"zoho", "zmail",
	// Mailchimp
	"k1", "k2", "k3",
	// Mailchimp Transactional
	"mandrill", "mte1",
	// SendGrid
	"s1", "s2",
	// Mailgun
	"smtp", "krs",
	// Brevo
	"mail", "brevo1",
	// Mailjet
	"mailjet",
	// Klaviyo
	"kl",
	// HubSpot, older accounts
	"hs1",
	// Constant Contact
	"ctct1", "ctct2",
	// Campaign Monitor
	"cm",
	// ActiveCampaign
	"acdkim1",
	// MailerLite
	"litesrv",
	// Kit
	"cka",
	// Elastic Email
	"api",
	// Resend
	"resend",
	// Everlytic
	"everlytickey1",
	// Zendesk
	"zendesk1",
	// Intercom
	"intercom",
	// MXVault
	"mxvault",
	// Cloudflare
	"cf2024-1",
	// IONOS
	"s1-ionos",
	// Hostinger
	"hostingermail1",
	// cPanel, Plesk, and most who run a server of their own
	"default", "dkim",
}
