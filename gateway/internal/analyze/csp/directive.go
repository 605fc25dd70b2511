package csp

// grammar is what a directive's values are.
type grammar int

const (
	sourceList    grammar = iota + 1 // section 2.3.1
	ancestorList                     // section 6.4.2: sources without nonces, hashes and unsafe keywords
	sandboxTokens                    // section 6.3.2
	noValue
	freeText
	retired // no browser of today acts on it
)

// about is what is known of a directive.
type about struct {
	grammar   grammar
	fallbacks []string // whose list governs where this one is absent, in order (section 6.8.3)
	note      string   // of a retired or deprecated one: what to do instead
}

// known are the directives of CSP Level 3, of the specifications that extend it, and those that were removed.
var known = map[string]about{
	"default-src":      {grammar: sourceList},
	"script-src":       {grammar: sourceList, fallbacks: []string{"default-src"}},
	"script-src-elem":  {grammar: sourceList, fallbacks: []string{"script-src", "default-src"}},
	"script-src-attr":  {grammar: sourceList, fallbacks: []string{"script-src", "default-src"}},
	"style-src":        {grammar: sourceList, fallbacks: []string{"default-src"}},
	"style-src-elem":   {grammar: sourceList, fallbacks: []string{"style-src", "default-src"}},
	"style-src-attr":   {grammar: sourceList, fallbacks: []string{"style-src", "default-src"}},
	"img-src":          {grammar: sourceList, fallbacks: []string{"default-src"}},
	"font-src":         {grammar: sourceList, fallbacks: []string{"default-src"}},
	"media-src":        {grammar: sourceList, fallbacks: []string{"default-src"}},
	"connect-src":      {grammar: sourceList, fallbacks: []string{"default-src"}},
	"manifest-src":     {grammar: sourceList, fallbacks: []string{"default-src"}},
	"object-src":       {grammar: sourceList, fallbacks: []string{"default-src"}},
	"child-src":        {grammar: sourceList, fallbacks: []string{"default-src"}},
	"frame-src":        {grammar: sourceList, fallbacks: []string{"child-src", "default-src"}},
	"fenced-frame-src": {grammar: sourceList, fallbacks: []string{"frame-src", "child-src", "default-src"}},
	"worker-src":       {grammar: sourceList, fallbacks: []string{"child-src", "script-src", "default-src"}},

	"base-uri":        {grammar: sourceList},
	"form-action":     {grammar: sourceList},
	"frame-ancestors": {grammar: ancestorList},

	"sandbox":                   {grammar: sandboxTokens},
	"upgrade-insecure-requests": {grammar: noValue},
	"require-trusted-types-for": {grammar: freeText},
	"trusted-types":             {grammar: freeText},
	"webrtc":                    {grammar: freeText},
	"report-to":                 {grammar: freeText},
	"report-uri":                {grammar: freeText},

	"prefetch-src": {grammar: retired, fallbacks: []string{"default-src"},
		note: "default-src governs prefetching"},
	"block-all-mixed-content": {grammar: retired, note: "browsers block or upgrade mixed content by themselves"},
	"plugin-types":            {grammar: retired, note: "object-src 'none' switches plugins off"},
	"referrer":                {grammar: retired, note: "the Referrer-Policy header replaced it"},
	"reflected-xss":           {grammar: retired, note: "the filters that it controlled are gone"},
	"navigate-to":             {grammar: retired, note: "it was removed from the specification"},
	"require-sri-for":         {grammar: retired, note: "the Integrity-Policy header replaced it"},
	"disown-opener":           {grammar: retired, note: "the Cross-Origin-Opener-Policy header replaced it"},
	"policy-uri":              {grammar: retired, note: "a policy is sent in the header itself"},
	"options":                 {grammar: retired, note: "script-src with 'unsafe-inline' or 'unsafe-eval' replaced it"},
	"allow":                   {grammar: retired, note: "default-src replaced it"},
	"xhr-src":                 {grammar: retired, note: "connect-src replaced it"},
}

// sandboxFlags are the tokens of the sandbox directive (HTML, "parse a sandboxing directive").
var sandboxFlags = map[string]bool{
	"allow-downloads": true, "allow-forms": true, "allow-modals": true, "allow-orientation-lock": true,
	"allow-pointer-lock": true, "allow-popups": true, "allow-popups-to-escape-sandbox": true, "allow-presentation": true,
	"allow-same-origin": true, "allow-scripts": true, "allow-storage-access-by-user-activation": true,
	"allow-top-navigation": true, "allow-top-navigation-by-user-activation": true,
	"allow-top-navigation-to-custom-protocols": true,
}
