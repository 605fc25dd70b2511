package csp

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

// admitsNoElement reports whether by a list no script element matches, as by 'none' or an empty one.
func (l list) admitsNoElement() bool { return !l.trusts() && !l.hasFallbacksInForce() }

// admitsNoHandler reports whether by a list no event handler attribute matches.
func (l list) admitsNoHandler() bool {
	return !l.allowsAllInline(true) && (!l.has("'unsafe-hashes'") || !l.hasKind(Hash))
}

// hasFallbacksInForce reports whether the list has a source beside nonces and hashes that 'strict-dynamic' does not
// take back.
func (l list) hasFallbacksInForce() bool { return l.hasFallbacks() && !l.has("'strict-dynamic'") }
