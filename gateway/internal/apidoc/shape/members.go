package shape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Member is one member of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Members returns the members of an object in their order. A name that stands twice is an error.
func Members(object json.RawMessage) ([]Member, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	var all []Member
	seen := make(map[string]bool)
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := Member{Name: name.(string)}
		if err := d.Decode(&m.Value); err != nil {
			return nil, err
		}
		if seen[m.Name] {
			return nil, fmt.Errorf("%q stands twice", m.Name)
		}
		seen[m.Name] = true
		all = append(all, m)
	}
	_, err := d.Token() // its end
	return all, err
}

// Object is the inverse of Members.
func Object(all []Member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range all {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(m.appendName(out), m.Value...)
	}
	return append(out, '}')
}

func (m Member) appendName(to []byte) []byte {
	name, _ := json.Marshal(m.Name) // a string
	return append(append(to, name...), ':')
}
