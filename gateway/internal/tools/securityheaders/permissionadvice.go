package securityheaders

import (
	"strings"

	"github.com/dunglas/httpsfv"
)

// maxPermissions bounds the line that is recommended, which repeats what the server sent.
const maxPermissions = 2 << 10

// keptPermissions recommends the header with all that it has: an asterisk of a powerful feature narrowed to the site,
// an allowlist that browsers read in part written as they read it. With more, it switches off what most sites never
// use.
func keptPermissions(features *httpsfv.Dictionary, more bool) advice {
	kept := httpsfv.NewDictionary()
	for _, feature := range features.Names() {
		member, _ := features.Get(feature)
		kept.Add(feature, correctedAllowlist(feature, member))
	}
	for _, feature := range rareFeatures {
		if _, has := kept.Get(feature); more && !has {
			kept.Add(feature, allowlistOf(httpsfv.NewParams()))
		}
	}
	line, err := httpsfv.Marshal(kept)
	if err == nil && len(line) <= maxPermissions {
		return send(permissionsHeader, line)
	}
	return advice{before: "Correct what is named above and keep the rest; what most sites can add: " +
		bestPermissions().set.Value}
}

// correctedAllowlist is an allowlist without what browsers skip, but for origins that only lack their quotes.
func correctedAllowlist(feature string, member httpsfv.Member) httpsfv.Member {
	everyone, mistaken := readAllowlist(member)
	items, params, _ := allowlistItems(member)
	switch {
	case everyone && powerfulFeatures[feature]:
		return allowlistOf(params, httpsfv.Token("self"))
	case everyone, !mistaken:
		return member
	}
	var values []any
	for _, item := range items {
		switch value := item.Value.(type) {
		case httpsfv.Token:
			if value == "self" {
				values = append(values, value)
			} else if looksLikeOrigin(string(value)) {
				values = append(values, string(value))
			}
		case string:
			if looksLikeOrigin(value) {
				values = append(values, value)
			}
		}
	}
	return allowlistOf(params, values...)
}

func allowlistOf(params *httpsfv.Params, values ...any) httpsfv.InnerList {
	list := httpsfv.InnerList{Params: params}
	for _, value := range values {
		list.Items = append(list.Items, httpsfv.NewItem(value))
	}
	return list
}

// salvagedFeatures is what can be read of a header that browsers ignore as a whole: the members that are well formed,
// and those in the syntax of Feature-Policy (camera 'none'; geolocation 'self').
func salvagedFeatures(values []string) *httpsfv.Dictionary {
	found := httpsfv.NewDictionary()
	for _, part := range splitFieldList(values) {
		if members, err := httpsfv.UnmarshalDictionary([]string{part}); err == nil && len(members.Names()) > 0 {
			for _, name := range members.Names() {
				member, _ := members.Get(name)
				found.Add(name, member)
			}
			continue
		}
		for directive := range strings.SplitSeq(part, ";") {
			if words := strings.Fields(directive); len(words) > 1 && permissionFeatures[words[0]] {
				found.Add(words[0], oldAllowlist(words[1:]))
			}
		}
	}
	return found
}

// oldAllowlist turns the words of a Feature-Policy directive into an allowlist.
func oldAllowlist(words []string) httpsfv.Member {
	var values []any
	for _, word := range words {
		switch {
		case word == "*":
			return httpsfv.NewItem(httpsfv.Token("*"))
		case word == "'self'":
			values = append(values, httpsfv.Token("self"))
		case looksLikeOrigin(word):
			values = append(values, word)
		}
	}
	return allowlistOf(httpsfv.NewParams(), values...)
}
