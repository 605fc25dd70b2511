package csp

import (
	"maps"
	"slices"
	"strings"

	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

// The codes of issues. The sentences and how serious each is stand in the catalogue of security-headers.
const (
	NoScriptPolicy        = "CSP_NO_SCRIPT_POLICY"
	ScriptElementsOpen    = "CSP_SCRIPT_ELEMENTS_OPEN"
	InlineScripts         = "CSP_INLINE_SCRIPTS"
	InlineHandlers        = "CSP_INLINE_HANDLERS"
	AnyScriptSource       = "CSP_ANY_SCRIPT_SOURCE"
	BypassHost            = "CSP_BYPASS_HOST" // #nosec G101 -- a code
	BlobScripts           = "CSP_BLOB_SCRIPTS"
	PlainScriptHost       = "CSP_PLAIN_SCRIPT_HOST"
	Eval                  = "CSP_EVAL"
	WASM                  = "CSP_WASM"
	UnsafeHashes          = "CSP_UNSAFE_HASHES"
	StrictDynamicAlone    = "CSP_STRICT_DYNAMIC_ALONE"
	StrictDynamicFallback = "CSP_STRICT_DYNAMIC_FALLBACKS"
	BaseWithNonce         = "CSP_BASE_URI_WITH_NONCE"
	Base                  = "CSP_BASE_URI"
	Plugins               = "CSP_PLUGINS"
	Sandbox               = "CSP_SANDBOX"
	Upgrade               = "CSP_UPGRADE"
	InlineStyles          = "CSP_INLINE_STYLES"
	Forms                 = "CSP_FORM_ACTION"
	TrustedTypes          = "CSP_TRUSTED_TYPES"
)

// Issue is one remark on a policy.
type Issue struct {
	Code string
	Args finding.Args
}

// Equal reports whether two issues are the same remark.
func (i Issue) Equal(other Issue) bool { return i.Code == other.Code && maps.Equal(i.Args, other.Args) }

// Assess returns what the policies, enforced together, leave open to someone who can inject markup into the page.
func (s Set) Assess() []Issue {
	if len(s) == 0 {
		return nil
	}
	checks := []func(Set) []Issue{
		Set.scriptIssues, Set.scriptSourceIssues, Set.evalIssues, Set.strictDynamicIssues, Set.baseIssues, Set.pluginIssues,
	}
	if s.SandboxesScripts() {
		checks = []func(Set) []Issue{func(Set) []Issue { return one(Sandbox, nil) }}
	}
	var issues []Issue
	for _, check := range append(checks, Set.otherIssues) {
		issues = append(issues, check(s)...)
	}
	return issues
}

func one(code string, args finding.Args) []Issue { return []Issue{{code, args}} }

func (s Set) scriptIssues() []Issue {
	switch {
	case !s.Restricts("script-src-elem") && !s.Restricts("script-src-attr"):
		return one(NoScriptPolicy, nil)
	case !s.Restricts("script-src-elem"):
		return one(ScriptElementsOpen, nil)
	case s.AllowsInlineScripts():
		return one(InlineScripts, nil)
	case s.AllowsInlineHandlers():
		return one(InlineHandlers, nil)
	}
	return nil
}

// bypasses are hosts that serve what anyone publishes, or old libraries and callbacks that run what a page hands
// them, so that naming them as a source of scripts allows nearly any script.
var bypasses = []string{
	"ajax.googleapis.com", "cdn.jsdelivr.net", "cdnjs.cloudflare.com", "unpkg.com", "esm.sh", "code.angularjs.org",
	"accounts.google.com", "www.google.com", "www.googletagmanager.com", "storage.googleapis.com", "s3.amazonaws.com",
	"cdn.rawgit.com", "yandex.st", "yastatic.net", "d3js.org", "raw.githack.com",
}

func (s Set) scriptSourceIssues() []Issue {
	if !s.Restricts("script-src-elem") {
		return nil
	}
	var issues []Issue
	if open := s.openScriptSchemes(); len(open) > 0 {
		issues = one(AnyScriptSource, finding.Args{"schemes": strings.Join(open, ", ")})
	} else if named := s.namedBypasses(); len(named) > 0 {
		issues = one(BypassHost, finding.Args{"hosts": strings.Join(named, ", ")})
	}
	if s.AllowsAnyScript("blob") {
		issues = append(issues, Issue{BlobScripts, nil})
	}
	if hosts := s.plainScriptHosts(); len(hosts) > 0 {
		issues = append(issues, Issue{PlainScriptHost, finding.Args{"hosts": strings.Join(hosts, ", ")}})
	}
	return issues
}

func (s Set) openScriptSchemes() []string {
	var open []string
	for _, scheme := range []string{"https", "http", "data", "filesystem"} {
		if s.AllowsAnyScript(scheme) {
			open = append(open, scheme+":")
		}
	}
	return open
}

const (
	maxNamed = 4  // how many of a kind one message names
	maxAsked = 20 // how many suffixes are looked into
)

// namedBypasses are the wildcards below suffixes that are lent to anybody, and the hosts of the list above, that all
// policies allow.
func (s Set) namedBypasses() []string {
	var named, asked []string
	for _, source := range s.scriptSources() {
		suffix, _ := source.sharedSuffix()
		// Each question goes through all sources of all policies, and a hostile header may hold thousands.
		if suffix == "" || len(named) == maxNamed || len(asked) == maxAsked || slices.Contains(asked, suffix) {
			continue
		}
		asked = append(asked, suffix)
		if s.AllowsScriptsOf("anybody." + suffix) {
			named = append(named, "“"+Shown(source.Text)+"”")
		}
	}
	for _, host := range bypasses {
		if len(named) < maxNamed && s.AllowsScriptsOf(host) {
			named = append(named, host)
		}
	}
	return named
}

// scriptSources are those of every policy's list for script elements that counts.
func (s Set) scriptSources() list {
	var all list
	for _, p := range s {
		if sources, ok := p.effectiveList("script-src-elem"); ok && !sources.has("'strict-dynamic'") {
			all = append(all, sources...)
		}
	}
	return all
}

func (s Set) plainScriptHosts() []string {
	var hosts []string
	for _, source := range s.scriptSources() {
		if source.Kind == Host && source.Scheme == "http" && source.Host != "*" && len(hosts) < maxNamed {
			hosts = append(hosts, "“"+Shown(source.Text)+"”")
		}
	}
	return hosts
}

func (s Set) evalIssues() []Issue {
	if !s.Restricts("script-src") {
		return nil
	}
	var issues []Issue
	switch {
	case s.AllowsEval():
		issues = one(Eval, nil)
	case s.AllowsWASM():
		issues = one(WASM, nil)
	}
	if s.some("script-src-attr", func(l list) bool { return l.has("'unsafe-hashes'") }) {
		issues = append(issues, Issue{UnsafeHashes, nil})
	}
	return issues
}

func (s Set) strictDynamicIssues() []Issue {
	var issues []Issue
	if s.some("script-src-elem", func(l list) bool { return l.has("'strict-dynamic'") && !l.trusts() }) {
		issues = one(StrictDynamicAlone, nil)
	}
	if s.some("script-src-elem", func(l list) bool {
		return l.has("'strict-dynamic'") && l.trusts() && l.hasFallbacks()
	}) {
		issues = append(issues, Issue{StrictDynamicFallback, nil})
	}
	return issues
}

func (s Set) baseIssues() []Issue {
	switch {
	case !s.AllowsAnyBase() || !s.Restricts("script-src-elem"):
		return nil
	case s.TrustsOneByOne() || s.StrictDynamic():
		return one(BaseWithNonce, nil)
	}
	return one(Base, nil)
}

func (s Set) pluginIssues() []Issue {
	if !s.AllowsAnyPlugin() || !s.Restricts("script-src-elem") {
		return nil
	}
	return one(Plugins, nil)
}

func (s Set) otherIssues() []Issue {
	var issues []Issue
	if s.has("upgrade-insecure-requests") {
		issues = one(Upgrade, nil)
	}
	if s.AllowsInlineStyles() && s.Restricts("style-src-elem") {
		issues = append(issues, Issue{InlineStyles, nil})
	}
	if s.AllowsAnyForm() {
		issues = append(issues, Issue{Forms, nil})
	}
	if s.RequiresTrustedTypes() {
		issues = append(issues, Issue{TrustedTypes, nil})
	}
	return issues
}

// Shown makes a value of a server fit for a sentence: at most 60 characters.
func Shown(s string) string { return text.Marked(s, 60) }
