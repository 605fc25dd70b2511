package robotstxt

import "testing"

func TestEffect(t *testing.T) {
	t.Parallel()
	for rules, want := range map[string]Effect{
		"":                                AllowAll,
		"Disallow:":                       AllowAll,
		"Allow: /":                        AllowAll,
		"Allow: /x":                       AllowAll,
		"Disallow: nothing":               AllowAll,
		"Disallow: /\nAllow: /":           AllowAll,
		"Disallow: /\nAllow: /*":          AllowAll,
		"Disallow: /a\nAllow: /*":         AllowAll,
		"Disallow: /ab\nAllow: /*":        SomeRules,
		"Disallow: /a":                    SomeRules,
		"Disallow: /$":                    SomeRules,
		"Disallow: /\nAllow: /a":          SomeRules,
		"Disallow: /\nAllow: /$":          SomeRules,
		"Disallow: /*\nAllow: /a":         SomeRules,
		"Disallow: /**\nAllow: /a":        DisallowAll,
		"Disallow: /":                     DisallowAll,
		"Disallow: *":                     DisallowAll,
		"Disallow: /*":                    DisallowAll,
		"Disallow: /*$":                   DisallowAll,
		"Disallow: */":                    DisallowAll,
		"Disallow: /\nDisallow: /a":       DisallowAll,
		"Disallow: /\nAllow: nothing":     DisallowAll,
		"Disallow: /\nAllow:":             DisallowAll,
		"Disallow: /*\nAllow: /":          DisallowAll,
		"Disallow: //":                    SomeRules,
		"Allow: /\nDisallow: /private/x$": SomeRules,
	} {
		if got := parse("User-agent: *\n" + rules).Effect(); got != want {
			t.Errorf("%q: %s, want %s", rules, got, want)
		}
		for _, path := range []string{"/", "/a", "/ab", "/x/y.html?z"} {
			allowed := allows(parse("User-agent: *\n"+rules), path)
			if allowed && want == DisallowAll || !allowed && want == AllowAll {
				t.Errorf("%q: %s is allowed: %t, which is not %s", rules, path, allowed, want)
			}
		}
		// A group of someone's own is none of the others' business.
		if got := parse("User-agent: a\n" + rules + "\nDisallow: /").Effect(); got != AllowAll {
			t.Errorf("%q for someone else: %s", rules, got)
		}
	}
}
