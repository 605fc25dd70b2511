package rdap

import (
	"encoding/json"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// The place of the country in the value of adr (RFC 6350 section 6.3.1).
const adrCountry = 6

// countryOf reads the country of an address, and nothing else of it: the parameter cc (RFC 8605), else the structured
// value, else the last line of the label, if that is the name of a country (above it are streets and towns).
func countryOf(p property) string {
	for _, cc := range p.parameter("cc") {
		if code := countryCode(string(cc)); code != "" {
			return code
		}
	}
	if written := adrPart(p.value, adrCountry); written != "" {
		if code := countryCode(written); code != "" {
			return code
		}
		return likeCountry(written)
	}
	return countryCode(lastLine(p))
}

func adrPart(raw json.RawMessage, place int) string {
	if raw[0] != '[' {
		return ""
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil || len(parts) <= place {
		return ""
	}
	var part text
	_ = part.UnmarshalJSON(parts[place])
	return string(part)
}

// lastLine reads the label raw, before its line breaks are cleaned away. An address that is one string is a label too.
func lastLine(p property) string {
	raw, ok := p.parameters["label"]
	if !ok {
		raw = p.value
	}
	var label string
	if json.Unmarshal(raw, &label) != nil {
		return ""
	}
	label = strings.TrimSpace(label)
	return clean(label[strings.LastIndexAny(label, "\n\r")+1:], maxText)
}

// countryCode gives the ISO 3166-1 alpha-2 code for a code or an English name, or nothing.
func countryCode(s string) string {
	if len(s) == 2 {
		region, err := language.ParseRegion(s)
		if err != nil || !region.IsCountry() {
			return ""
		}
		return region.Canonicalize().String()
	}
	return countryNames()[strings.ToLower(s)]
}

// countryNames maps the English names, lower case, to their codes.
var countryNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{
		"united states of america": "US", "usa": "US", "uk": "GB", "great britain": "GB", "russian federation": "RU",
		"republic of korea": "KR", "korea, republic of": "KR", "viet nam": "VN", "the netherlands": "NL",
		"czech republic": "CZ",
		"hong kong":      "HK", "macau": "MO", "turkey": "TR", "iran, islamic republic of": "IR",
		"taiwan, province of china": "TW",
	}
	english := display.English.Regions()
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			region, err := language.ParseRegion(string(a) + string(b))
			if err == nil && region.IsCountry() && region.Canonicalize() == region {
				names[strings.ToLower(english.Name(region))] = region.String()
			}
		}
	}
	return names
})

const maxCountry = 60

// likeCountry lets a country through that is written as no list has it, if it is nothing else: no digit, no line of an
// address.
func likeCountry(s string) string {
	if len(s) > maxCountry || len(s) < 3 || isRedactedText(s) {
		return ""
	}
	if strings.ContainsFunc(s, notInCountry) {
		return ""
	}
	return s
}

func notInCountry(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !strings.ContainsRune(" .'()-&", r)
}
