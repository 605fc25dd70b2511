package csp

import (
	"slices"
	"strings"
)

// Set are the policies that are enforced together: what one of them forbids is forbidden (section 4.1.2). The empty set
// allows everything.
type Set []Policy

// governed reports whether all policies allow something that lists decide; a policy without one allows it.
func (s Set) governed(directive string, allows func(list) bool) bool {
	return !s.some(directive, func(l list) bool { return !allows(l) })
}

// Restricts reports whether any policy has a list for what the directive governs.
func (s Set) Restricts(directive string) bool {
	return s.some(directive, func(list) bool { return true })
}

// AllowsInlineScripts reports whether a script element that someone injected runs.
func (s Set) AllowsInlineScripts() bool {
	return s.governed("script-src-elem", func(l list) bool { return l.allowsAllInline(true) })
}

// AllowsInlineHandlers reports whether an event handler attribute that someone injected runs.
func (s Set) AllowsInlineHandlers() bool {
	return s.governed("script-src-attr", func(l list) bool { return l.allowsAllInline(true) })
}

// AllowsInlineStyles reports whether style elements or attributes that someone injected apply.
func (s Set) AllowsInlineStyles() bool {
	unsafe := func(l list) bool { return l.allowsAllInline(false) }
	return s.governed("style-src-elem", unsafe) || s.governed("style-src-attr", unsafe)
}

// AllowsEval reports whether strings can become script (section 4.4).
func (s Set) AllowsEval() bool {
	return s.governed("script-src", func(l list) bool { return l.has("'unsafe-eval'") })
}

// AllowsWASM reports whether bytes can become WebAssembly (section 4.5).
func (s Set) AllowsWASM() bool {
	return s.governed("script-src", func(l list) bool { return l.has("'unsafe-eval'") || l.has("'wasm-unsafe-eval'") })
}

// AllowsAnyScript reports whether a script element may load from any host over the scheme. With
// 'strict-dynamic' hosts, schemes and 'self' do not count (section 8.2).
func (s Set) AllowsAnyScript(scheme string) bool {
	return s.governed("script-src-elem", func(l list) bool { return !l.has("'strict-dynamic'") && l.admitsAnyone(scheme) })
}

// AllowsScriptsOf reports whether the host is among those that scripts may come from, and is named there rather than
// covered by a list that is open to all.
func (s Set) AllowsScriptsOf(host string) bool {
	return s.Restricts("script-src-elem") && s.governed("script-src-elem", func(l list) bool {
		return !l.has("'strict-dynamic'") && (l.admitsHost(host) || l.admitsAnyone("https"))
	})
}

// AllowsAnyPlugin reports whether object and embed elements may load from any host.
func (s Set) AllowsAnyPlugin() bool {
	return s.governed("object-src", func(l list) bool { return l.admitsAnyone("https") || l.admitsAnyone("data") })
}

// AllowsAnyBase reports whether an injected base element can point relative URLs anywhere.
func (s Set) AllowsAnyBase() bool {
	return s.governed("base-uri", func(l list) bool { return l.admitsAnyone("https") })
}

// AllowsAnyForm reports whether forms may be sent to any host.
func (s Set) AllowsAnyForm() bool {
	return s.governed("form-action", func(l list) bool { return l.admitsAnyone("https") })
}

// StrictDynamic reports whether any policy loads scripts by 'strict-dynamic'.
func (s Set) StrictDynamic() bool {
	return s.some("script-src-elem", func(l list) bool { return l.has("'strict-dynamic'") })
}

// TrustsOneByOne reports whether any policy names scripts by nonce or hash.
func (s Set) TrustsOneByOne() bool {
	return s.some("script-src-elem", list.trusts)
}

// RunsNoScript reports whether the lists of sources leave no script to run in the page: no element, and no event
// handler attribute either.
func (s Set) RunsNoScript() bool {
	return s.some("script-src-elem", list.admitsNoElement) && s.some("script-src-attr", list.admitsNoHandler)
}

// ListsScriptSources reports whether a script element may run because of where it is loaded from, or because it is
// inline in a page that allows that: not by nonce or hash alone.
func (s Set) ListsScriptSources() bool {
	return s.governed("script-src-elem", list.hasFallbacksInForce)
}

// RequiresTrustedTypes reports whether script sinks take typed values only.
func (s Set) RequiresTrustedTypes() bool {
	return slices.ContainsFunc(s, func(p Policy) bool {
		d, _ := p.Directive("require-trusted-types-for")
		return slices.Contains(d.Values, "'script'")
	})
}

// SandboxesScripts reports whether any policy's sandbox (section 6.3.2) keeps the page's scripts from running.
func (s Set) SandboxesScripts() bool {
	allows := func(flag string) bool { return strings.EqualFold(flag, "allow-scripts") }
	return slices.ContainsFunc(s, func(p Policy) bool {
		d, ok := p.Directive("sandbox")
		return ok && !slices.ContainsFunc(d.Values, allows)
	})
}

// has reports whether any policy has the directive itself.
func (s Set) has(name string) bool {
	return slices.ContainsFunc(s, func(p Policy) bool {
		_, ok := p.Directive(name)
		return ok
	})
}

// some reports whether any policy has a list for what the directive governs of which is holds.
func (s Set) some(directive string, is func(list) bool) bool {
	return slices.ContainsFunc(s, func(p Policy) bool {
		sources, ok := p.effectiveList(directive)
		return ok && is(sources)
	})
}

// Framing is who may put the page into a frame.
type Framing int

// The framings, from the widest.
const (
	FramingUnset  Framing = iota // no policy has frame-ancestors
	FramingAnyone                // every site, or every site over a scheme
	FramingHosts                 // sites that are named
	FramingSelf                  // the site itself
	FramingNone                  // no site
)

// Framing returns the narrowest of the policies' frame-ancestors (section 6.4.2): there is no fallback to another
// directive.
func (s Set) Framing() Framing {
	narrowest := FramingUnset
	for _, p := range s {
		if sources, ok := p.lists["frame-ancestors"]; ok {
			narrowest = max(narrowest, sources.framing())
		}
	}
	return narrowest
}

func (l list) framing() Framing {
	framing := FramingNone
	for _, s := range l {
		switch s.Kind {
		case Keyword:
			if s.Keyword == "'self'" {
				framing = min(framing, FramingSelf)
			}
		case Scheme:
			// A scheme of an extension or an app is not everybody's.
			if isNetwork(s.Scheme) {
				return FramingAnyone
			}
			framing = min(framing, FramingHosts)
		case Host:
			if shared, _ := s.sharedSuffix(); shared != "" || s.openHost() {
				return FramingAnyone
			}
			framing = min(framing, FramingHosts)
		case Invalid, None, Nonce, Hash:
		}
	}
	return framing
}
