package csp

import "testing"

func TestRunsNoScript(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		policies      []string
		none, sources bool
	}{
		{nil, false, true},
		{[]string{"default-src 'none'"}, true, false},
		{[]string{"default-src 'none'; frame-ancestors 'none'"}, true, false},
		{[]string{"script-src 'none'"}, true, false},
		{[]string{"script-src"}, true, false},
		{[]string{"default-src 'self'; script-src 'none'"}, true, false},
		{[]string{"default-src 'none'; script-src 'self'"}, false, true},
		{[]string{"default-src 'none'; script-src 'nonce-a'"}, false, false},
		{[]string{"default-src 'none'; script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"}, false, false},
		{[]string{"default-src 'none'; script-src 'unsafe-inline'"}, false, true},
		{[]string{"default-src 'none'; script-src data:"}, false, true},
		{[]string{"script-src 'strict-dynamic' 'self' https:"}, true, false},
		{[]string{"script-src 'strict-dynamic' 'nonce-a'"}, false, false},
		{[]string{"script-src 'report-sample' 'unsafe-eval'"}, true, false},
		{[]string{"script-src-elem 'none'"}, false, false},
		{[]string{"script-src-attr 'none'"}, false, true},
		{[]string{"script-src-elem 'none'; script-src-attr 'unsafe-inline'"}, false, false},
		{[]string{"script-src-elem 'none'; script-src-attr 'unsafe-hashes' " +
			"'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"}, false, false},
		{[]string{"script-src-elem 'none'", "script-src-attr 'none'"}, true, false},
		{[]string{"script-src 'self'", "default-src 'none'"}, true, false},
		{[]string{"script-src 'self'", "script-src 'nonce-a'"}, false, false},
		{[]string{"img-src 'none'"}, false, true},
	} {
		set := Set(ParseHeaders(test.policies))
		if set.RunsNoScript() != test.none || set.ListsScriptSources() != test.sources {
			t.Errorf("%q: no script %t, want %t; by sources %t, want %t", test.policies, set.RunsNoScript(), test.none,
				set.ListsScriptSources(), test.sources)
		}
	}
}
