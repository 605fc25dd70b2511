package netpolicy

import (
	"cmp"
	"fmt"
	"slices"
	"unicode"
)

// NameProblem is the machine's word for what is wrong with a name.
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

// NameError says why a string is not the name of a public host.
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

// predicates are what Say gives where that is the same for all names.
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
