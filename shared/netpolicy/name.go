package netpolicy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Bounds of a name in octets (RFC 1035 section 2.3.4), the trailing dot left out.
const (
	MaxNameOctets  = 253
	MaxLabelOctets = 63
	// maxTypedOctets bounds what is handed to the mapping, whose punycode step takes quadratic time. The longest name in
	// UTF-8 is four octets for each of its characters, and no name has more of those than octets.
	maxTypedOctets = 4 * (MaxNameOctets + 1)
)

// profile is UTS #46 as browsers apply it (non-transitional), except that the rules for ASCII are left to us: hyphens
// in the third and fourth place are real names, and what is no letter, digit or hyphen deserves its own sentence.
var profile = idna.New(
	idna.MapForLookup(),
	idna.BidiRule(),
	idna.Transitional(false),
	idna.CheckHyphens(false),
	idna.StrictDomainName(false),
)

// ParseName parses the name of a public host and returns its canonical form: A-labels, lower case, no trailing dot.
// With underscores, labels may hold `_` as DNS owner names do, the last one excepted: there is no such top-level
// domain, while container networks are called so, and their resolvers answer for names below them
// (redis.project_default). Errors are *NameError.
//
// Names are mapped first and judged after: fullwidth digits, ideographic full stops, soft hyphens and circled letters
// all map to ASCII, and the result of the mapping is the name that is looked up.
func ParseName(s string, underscores bool) (string, error) { return zones.parseName(s, underscores) }

func (t zoneTable) parseName(s string, underscores bool) (string, error) {
	name, err := CanonicalName(s, underscores)
	if err != nil {
		return "", err
	}
	if strings.Contains(lastLabel(name), "_") {
		return "", &NameError{Problem: NameUnderscoreEnd}
	}
	if !startsWithLetter(lastLabel(name)) {
		return "", &NameError{Problem: NameNumeric}
	}
	if zone, ok := t.find(name); ok {
		return "", &NameError{Problem: NameSpecialUse, Zone: zone.Name, Source: zone.Source, Kind: zone.Kind}
	}
	if !strings.Contains(name, ".") {
		return "", &NameError{Problem: NameSingleLabel}
	}
	return name, nil
}

// CanonicalName maps a name and checks its syntax alone: it may be a single label, special-use or end in a number. It
// is for names that the operator and not a client chose. Errors are *NameError.
func CanonicalName(s string, underscores bool) (string, error) {
	if s == "" {
		return "", &NameError{Problem: NameEmpty}
	}
	if len(s) > maxTypedOctets {
		return "", &NameError{Problem: NameTooLong}
	}
	// The mapping turns an invalid byte into U+FFFD and lets that pass.
	if !utf8.ValidString(s) || strings.ContainsRune(s, utf8.RuneError) {
		return "", &NameError{Problem: NameUnmappable}
	}
	mapped, err := profile.ToASCII(s)
	if err != nil {
		return "", &NameError{Problem: NameUnmappable}
	}
	name := strings.TrimSuffix(mapped, ".")
	if err := checkSyntax(name, underscores); err != nil {
		return "", err
	}
	return name, nil
}

func checkSyntax(name string, underscores bool) error {
	if len(name) > MaxNameOctets {
		return &NameError{Problem: NameTooLong}
	}
	for label := range strings.SplitSeq(name, ".") {
		if err := checkLabel(label, underscores); err != nil {
			return err
		}
	}
	return nil
}

func checkLabel(label string, underscores bool) error {
	switch {
	case label == "":
		return &NameError{Problem: NameEmptyLabel}
	case len(label) > MaxLabelOctets:
		return &NameError{Problem: NameLabelTooLong}
	}
	for _, c := range label {
		switch {
		case isLowerAlnum(c), c == '-':
		case c == '_' && underscores:
		case c == '_':
			return &NameError{Problem: NameUnderscore}
		default:
			return &NameError{Problem: NameCharacter, Character: c}
		}
	}
	if label[0] == '-' || label[len(label)-1] == '-' {
		return &NameError{Problem: NameHyphen}
	}
	return nil
}

func isLowerAlnum(c rune) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

func lastLabel(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// startsWithLetter reports whether a last label may be one. No top-level domain starts with anything else (RFC 3696
// section 2), while browsers and C libraries read a name that ends in a number, `127.1` or `0x7f`, as an address.
func startsWithLetter(label string) bool { return 'a' <= label[0] && label[0] <= 'z' }

// NameProblem is the kind of what is wrong with a name.
type NameProblem string

// The problems of a name.
const (
	NameEmpty        NameProblem = "empty"
	NameTooLong      NameProblem = "too-long"
	NameEmptyLabel   NameProblem = "empty-label"
	NameLabelTooLong NameProblem = "label-too-long"
	NameCharacter    NameProblem = "character"
	NameUnderscore   NameProblem = "underscore"
	NameHyphen       NameProblem = "hyphen"
	NameUnmappable   NameProblem = "unmappable" // UTS #46 has no mapping for it
	NameNumeric      NameProblem = "numeric"    // ends in a number, as an address does
	NameSingleLabel  NameProblem = "single-label"
	NameSpecialUse   NameProblem = "special-use"
	// NameUnderscoreEnd is an underscore in the last label, where other underscores are allowed.
	NameUnderscoreEnd NameProblem = "underscore-end"
)

// NameError is the reason why a string is not the name of a public host.
type NameError struct {
	Problem NameProblem
	// Character is the offending one, for NameCharacter.
	Character rune
	// Zone, Source and Kind are the special-use row, for NameSpecialUse: "localhost", "RFC 6761", "a name of …".
	Zone, Source, Kind string
}

// Refused reports whether the string is well-formed and refused by policy, and not merely malformed. A name that ends
// in a number is the spelling of an address in other software, so that is policy too.
func (e *NameError) Refused() bool {
	return slices.Contains(
		[]NameProblem{NameSpecialUse, NameSingleLabel, NameNumeric, NameUnderscoreEnd}, e.Problem)
}

// predicates are the results of Say that are the same for all names.
var predicates = map[NameProblem]string{
	NameEmpty:         "is empty",
	NameTooLong:       fmt.Sprintf("is longer than %d characters", MaxNameOctets),
	NameEmptyLabel:    "has an empty part between its dots",
	NameLabelTooLong:  fmt.Sprintf("has a part longer than %d characters", MaxLabelOctets),
	NameUnderscore:    "has an underscore, which is not allowed in hostnames",
	NameHyphen:        "has a part that starts or ends with a hyphen",
	NameUnmappable:    "has characters that are not allowed in hostnames",
	NameNumeric:       "ends in a number, as no public hostname does",
	NameUnderscoreEnd: "has an underscore in its last part, which is not allowed in public names",
	NameSingleLabel:   "has no dot, so it is known only on local networks",
}

// Say completes the sentence "<name> …", such as "has an empty label".
func (e *NameError) Say() string {
	switch e.Problem {
	case NameCharacter:
		return e.sayCharacter()
	case NameSpecialUse:
		return fmt.Sprintf("is %s (%s)", e.Kind, e.Source)
	}
	return cmp.Or(predicates[e.Problem], "is not a hostname")
}

func (e *NameError) sayCharacter() string {
	if e.Character == ' ' {
		return "contains a space"
	}
	if !unicode.IsPrint(e.Character) {
		return "contains a control character"
	}
	return fmt.Sprintf("has the character %c in it, which is not allowed in hostnames", e.Character)
}

// Error is Say with a subject.
func (e *NameError) Error() string { return "the name " + e.Say() }
