package mail

import (
	"regexp"
	"strings"
)

// Tag is one tag=value of a tag list (RFC 6376 section 3.2). Name and value are trimmed of white space.
type Tag struct{ Name, Value string }

// Tags is a tag list in its order.
type Tags []Tag

// ParseTags splits a tag list at its semicolons. What has no equals sign, or no name in front of it, comes back in
// broken.
func ParseTags(s string) (tags Tags, broken []string) {
	for part := range strings.SplitSeq(s, ";") {
		part = strings.Trim(part, whiteSpace)
		if part == "" {
			continue
		}
		name, value, found := strings.Cut(part, "=")
		name = strings.Trim(name, whiteSpace)
		if !found || !tagName.MatchString(name) {
			broken = append(broken, part)
			continue
		}
		tags = append(tags, Tag{Name: name, Value: strings.Trim(value, whiteSpace)})
	}
	return tags, broken
}

const whiteSpace = " \t\r\n"

// Get gives the first value of the tag.
func (t Tags) Get(name string) (value string, ok bool) {
	for _, tag := range t {
		if tag.Name == name {
			return tag.Value, true
		}
	}
	return "", false
}

// Doubles gives the names that come more than once, each once.
func (t Tags) Doubles() []string {
	var doubles []string
	count := make(map[string]int, len(t))
	for _, tag := range t {
		count[tag.Name]++
		if count[tag.Name] == 2 {
			doubles = append(doubles, tag.Name)
		}
	}
	return doubles
}

// tagName is that of RFC 6376: a letter, then letters, digits and underscores.
var tagName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// HasVersion reports whether a record is of the version: its first tag is v with this very value, and nothing or a
// semicolon follows.
func HasVersion(record, version string) bool {
	first, _, _ := strings.Cut(record, ";")
	name, value, found := strings.Cut(first, "=")
	return found && strings.Trim(name, whiteSpace) == "v" && strings.Trim(value, whiteSpace) == version
}

// startsWithVersion reports whether a record begins with a version. It is HasVersion for records whose first characters
// must be v= and the version, without any blank before or between.
func startsWithVersion(record, version string) bool {
	first, _, _ := strings.Cut(record, ";")
	return strings.TrimRight(first, " \t") == "v="+version
}

// NearVersion reports whether a record that does not start with the version was meant to: another case, blanks or
// quotes, or something else than a semicolon behind it.
func NearVersion(record, version string) bool {
	if startsWithVersion(record, version) {
		return false
	}
	parts := strings.FieldsFunc(record, func(r rune) bool { return strings.ContainsRune(whiteSpace+`"'`, r) })
	start := strings.TrimPrefix(strings.ToLower(strings.Join(parts, "")), "v=")
	return strings.HasPrefix(start, strings.ToLower(version))
}

// RecordsOf gives the TXT records that begin with a version, and those that were meant to.
func RecordsOf(txt []string, version string) (records, near []string) {
	for _, record := range txt {
		switch {
		case startsWithVersion(record, version):
			records = append(records, record)
		case NearVersion(record, version):
			near = append(near, record)
		}
	}
	return records, near
}
