package csp

import (
	"slices"
	"strings"

	"diagnostics/gateway/internal/text"
)

// Severity is how serious an issue is.
type Severity int

// The severities, from the lightest.
const (
	Info Severity = iota + 1 // for information
	Warn                     // weakens the policy, or does not do what its author meant
	Fail                     // leaves the policy without its main use
)

// Issue is one remark on a policy.
type Issue struct {
	Severity Severity
	Code     string // in kebab-case, stable
	Message  string // a sentence
}

// Assess returns what the policies, enforced together, leave open to someone who can inject markup into the page: the
// heaviest first.
func (s Set) Assess() []Issue {
	if len(s) == 0 {
		return nil
	}
	checks := []func(Set) []Issue{
		Set.scriptIssues, Set.scriptSourceIssues, Set.evalIssues, Set.strictDynamicIssues, Set.baseIssues, Set.pluginIssues,
	}
	if s.SandboxesScripts() {
		checks = []func(Set) []Issue{Set.sandboxIssues}
	}
	var issues []Issue
	for _, check := range append(checks, Set.otherIssues) {
		issues = append(issues, check(s)...)
	}
	return sorted(issues)
}

func one(severity Severity, code, message string) []Issue {
	return []Issue{{Severity: severity, Code: code, Message: message}}
}

func (s Set) scriptIssues() []Issue {
	switch {
	case !s.Restricts("script-src-elem") && !s.Restricts("script-src-attr"):
		return one(Fail, "no-script-policy",
			"Neither script-src nor default-src is set, so any script runs, inline or from any host.")
	case !s.Restricts("script-src-elem"):
		return one(Fail, "no-script-policy",
			"No directive governs script elements, so any script runs, inline or from any host.")
	case s.AllowsInlineScripts():
		return one(Fail, "inline-scripts",
			"'unsafe-inline' lets injected inline scripts run, and no nonce, hash or 'strict-dynamic' overrides it.")
	case s.AllowsInlineHandlers():
		return one(Fail, "inline-handlers",
			"Injected event handler attributes (such as onerror) run, because script-src-attr allows them or is not governed.")
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
		issues = append(issues, Issue{Fail, "any-script-source", "Scripts may come from anywhere over " +
			strings.Join(open, ", ") + ", so an attacker's own script may run just like the site's."})
	} else if named := s.namedBypasses(); len(named) > 0 {
		issues = append(issues, Issue{Warn, "bypass-host", "Scripts may come from " + strings.Join(named, ", ") +
			", where anyone can publish scripts or find one that bypasses the policy."})
	}
	if s.AllowsAnyScript("blob") {
		issues = append(issues, Issue{Warn, "blob-scripts",
			"blob: as a script source lets a running script create more scripts from strings."})
	}
	if hosts := s.plainScriptHosts(); len(hosts) > 0 {
		issues = append(issues, Issue{Warn, "plain-script-host", "Scripts may come over unprotected http from " +
			strings.Join(hosts, ", ") + ", where the network can change them."})
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
			named = append(named, Quote(source.Text))
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
			hosts = append(hosts, Quote(source.Text))
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
		issues = one(Warn, "eval", "'unsafe-eval' lets strings run as script (eval, Function, setTimeout with a string).")
	case s.AllowsWASM():
		issues = one(Info, "wasm", "'wasm-unsafe-eval' allows WebAssembly, without allowing eval.")
	}
	if s.some("script-src-attr", func(l list) bool { return l.has("'unsafe-hashes'") }) {
		issues = append(issues, Issue{Info, "unsafe-hashes",
			"'unsafe-hashes' lets event handlers that match a hash run wherever an attacker puts them."})
	}
	return issues
}

func (s Set) strictDynamicIssues() []Issue {
	var issues []Issue
	if s.some("script-src-elem", func(l list) bool { return l.has("'strict-dynamic'") && !l.trusts() }) {
		issues = append(issues, Issue{Warn, "strict-dynamic-alone", "'strict-dynamic' without a nonce or hash lets no " +
			"script element run at all: it makes browsers ignore 'self', hosts and schemes."})
	}
	if s.some("script-src-elem", func(l list) bool {
		return l.has("'strict-dynamic'") && l.trusts() && l.hasFallbacks()
	}) {
		issues = append(issues, Issue{Info, "strict-dynamic-fallbacks", "With 'strict-dynamic' the hosts, schemes, 'self' " +
			"and 'unsafe-inline' beside it count only in browsers that do not know it."})
	}
	return issues
}

func (s Set) baseIssues() []Issue {
	if !s.AllowsAnyBase() || !s.Restricts("script-src-elem") {
		return nil
	}
	if s.TrustsOneByOne() || s.StrictDynamic() {
		return one(Warn, "no-base-uri", "base-uri is not restricted (default-src does not cover it), so an injected base "+
			"element can make scripts that carry a nonce load from an attacker's host.")
	}
	return one(Info, "no-base-uri", "base-uri is not restricted (default-src does not cover it), so an injected base "+
		"element can redirect relative links.")
}

func (s Set) pluginIssues() []Issue {
	if !s.AllowsAnyPlugin() || !s.Restricts("script-src-elem") {
		return nil
	}
	return one(Warn, "no-object-src", "Neither object-src nor default-src restricts object and embed elements, which "+
		"can load documents and plugins of any origin.")
}

func (s Set) sandboxIssues() []Issue {
	return one(Info, "sandbox",
		"sandbox without allow-scripts lets no script run at all, whatever the lists of sources say.")
}

func (s Set) otherIssues() []Issue {
	var issues []Issue
	if s.has("upgrade-insecure-requests") {
		issues = one(Info, "upgrade",
			"upgrade-insecure-requests makes browsers ask for the page's http resources over https.")
	}
	if s.AllowsInlineStyles() && s.Restricts("style-src-elem") {
		issues = append(issues, Issue{Info, "inline-styles",
			"Inline styles are allowed, which lets injected ones read parts of a page by CSS selectors."})
	}
	if s.AllowsAnyForm() {
		issues = append(issues, Issue{Info, "no-form-action", "form-action is not restricted (default-src does not cover " +
			"it), so an injected form can send what is typed anywhere."})
	}
	if s.RequiresTrustedTypes() {
		issues = append(issues, Issue{Info, "trusted-types",
			"Trusted Types are required, so strings cannot reach the DOM's script sinks unchecked."})
	}
	return issues
}

// Quote makes a value of a server fit for a sentence: at most 60 characters, in quotation marks.
func Quote(s string) string { return "“" + text.Marked(s, 60) + "”" }
