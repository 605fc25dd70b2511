// Package golden writes an exchange with the service down as a text that is the same whenever the service says the
// same: what differs from run to run (ids, times, durations) is replaced by its kind. All else stays as it was sent,
// the order of keys and the spelling of every value included.
package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// node is a JSON value in the order and the spelling in which it was sent.
type node struct {
	raw   string // of a scalar
	open  byte   // '{' or '[', 0 for a scalar
	keys  []string
	items []*node
}

// parse reads one JSON value and nothing after it.
func parse(text []byte) (*node, error) {
	r := &reader{dec: json.NewDecoder(bytes.NewReader(text)), text: text}
	root, err := r.value()
	if err != nil {
		return nil, err
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return root, nil
}

type reader struct {
	dec  *json.Decoder
	text []byte
}

// token is the next token, and how it is spelt.
func (r *reader) token() (json.Token, string, error) {
	start := r.dec.InputOffset()
	token, err := r.dec.Token()
	if err != nil {
		return nil, "", err
	}
	return token, strings.TrimLeft(string(r.text[start:r.dec.InputOffset()]), " \t\r\n,:"), nil
}

func (r *reader) value() (*node, error) {
	token, raw, err := r.token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return &node{raw: raw}, nil
	}
	n := &node{open: byte(delim)}
	for r.dec.More() {
		if n.open == '{' {
			_, key, err := r.token()
			if err != nil {
				return nil, err
			}
			n.keys = append(n.keys, key)
		}
		item, err := r.value()
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
	}
	_, _, err = r.token() // the closing bracket
	return n, err
}

// width is the column up to which a list or an object is kept on one line.
const width = 120

// render writes the value indented; a part that fits in one line stays in one.
func (n *node) render(b *strings.Builder, indent string, room int) {
	if n.open == 0 {
		b.WriteString(n.raw)
		return
	}
	if line := n.line(); len(line) <= room {
		b.WriteString(line)
		return
	}
	b.WriteString(string(n.open) + "\n")
	for i, item := range n.items {
		b.WriteString(indent + "  ")
		lead, comma := n.key(i), ","
		if i == len(n.items)-1 {
			comma = ""
		}
		b.WriteString(lead)
		item.render(b, indent+"  ", width-len(indent)-len("  ,")-len(lead))
		b.WriteString(comma + "\n")
	}
	b.WriteString(indent + n.close())
}

// line is the value in one line.
func (n *node) line() string {
	if n.open == 0 {
		return n.raw
	}
	parts := make([]string, len(n.items))
	for i, item := range n.items {
		parts[i] = n.key(i) + item.line()
	}
	return string(n.open) + strings.Join(parts, ", ") + n.close()
}

func (n *node) key(i int) string {
	if n.open == '{' {
		return n.keys[i] + ": "
	}
	return ""
}

func (n *node) close() string {
	if n.open == '{' {
		return "}"
	}
	return "]"
}
