// Package shape holds JSON of another instance of this service against the API's description: what the description
// does not name is dropped, what it promises must be there and be of its type. So an answer of a newer or an older
// release, or of one that lies, has no other form here than this release's own.
package shape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Tool is what one tool sends.
type Tool struct{ Data, Step Shape }

// Shape is one schema of the description.
type Shape struct{ schema *openapi3.Schema }

const toolPrefix = "/api/tools/"

// Read returns the shapes of a description that openapi.Document made, by slug.
func Read(text string) (map[string]Tool, error) {
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the description of the API: %w", err)
	}
	tools := make(map[string]Tool)
	for path, item := range doc.Paths.Map() {
		slug, isTool := strings.CutPrefix(path, toolPrefix)
		if !isTool || item.Post == nil {
			continue
		}
		answer := item.Post.Responses.Value("200").Value.Content
		data := answer["application/json"].Schema.Value.Properties["data"]
		step := answer["application/x-ndjson"].Schema.Value.AnyOf[0].Value.Properties["step"]
		tools[slug] = Tool{Data: Shape{data.Value}, Step: Shape{step.Value}}
	}
	return tools, nil
}

// Clean returns the part of a JSON value that the schema describes, its members in their order. Types, required
// members, constants, enumerations, and the bounds of numbers and lists must hold. Refinements by allOf, which list the
// codes of one release, need not, and neither the form of strings: a newer release may have more of both.
func (s Shape) Clean(value json.RawMessage) (json.RawMessage, error) {
	if s.schema == nil || !json.Valid(value) {
		return nil, errors.New("not described, or not JSON")
	}
	c := cleaner{}
	if err := c.write(s.schema, bytes.TrimSpace(value), 0); err != nil {
		return nil, err
	}
	return c.out, nil
}

// maxDepth is more than any result has; each level is read once more.
const maxDepth = 32

type cleaner struct{ out []byte }

// write appends the described part of a value. On an error nothing is appended.
func (c *cleaner) write(s *openapi3.Schema, value json.RawMessage, depth int) error {
	if depth > maxDepth {
		return errors.New("nested too deep")
	}
	before := len(c.out)
	err := c.alternative(s, value, depth)
	if err != nil {
		c.out = c.out[:before]
	}
	return err
}

// alternative takes the first alternative that the value fits.
func (c *cleaner) alternative(s *openapi3.Schema, value json.RawMessage, depth int) error {
	if len(s.AllOf) > 0 {
		return c.write(s.AllOf[0].Value, value, depth+1)
	}
	options := slices.Concat(s.OneOf, s.AnyOf)
	if options == nil {
		return c.plain(s, value, depth)
	}
	var err error
	for _, option := range options {
		if err = c.write(option.Value, value, depth+1); err == nil {
			return nil
		}
	}
	return err
}

func (c *cleaner) plain(s *openapi3.Schema, value json.RawMessage, depth int) error {
	if err := hasType(s, value); err != nil {
		return err
	}
	if err := isListed(s, value); err != nil {
		return err
	}
	switch value[0] {
	case '{':
		return c.object(s, value, depth)
	case '[':
		return c.list(s, value, depth)
	}
	c.out = append(c.out, value...)
	return nil
}

func (c *cleaner) object(s *openapi3.Schema, value json.RawMessage, depth int) error {
	all, err := Members(value)
	if err != nil {
		return err
	}
	for _, name := range s.Required {
		if !slices.ContainsFunc(all, func(m Member) bool { return m.Name == name }) {
			return fmt.Errorf("%s is missing", name)
		}
	}
	c.out = append(c.out, '{')
	first := true
	for _, m := range all {
		described := s.Properties[m.Name]
		if described == nil {
			described = s.AdditionalProperties.Schema
		}
		if described == nil {
			continue
		}
		if !first {
			c.out = append(c.out, ',')
		}
		first = false
		c.out = m.appendName(c.out)
		if err := c.write(described.Value, m.Value, depth+1); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	c.out = append(c.out, '}')
	return nil
}

func (c *cleaner) list(s *openapi3.Schema, value json.RawMessage, depth int) error {
	var all []json.RawMessage
	if err := json.Unmarshal(value, &all); err != nil {
		return err
	}
	if s.MaxItems != nil && uint64(len(all)) > *s.MaxItems || uint64(len(all)) < s.MinItems {
		return fmt.Errorf("%d elements", len(all))
	}
	c.out = append(c.out, '[')
	for i, element := range all {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		if s.Items == nil {
			return errors.New("a list of nothing that is described")
		}
		if err := c.write(s.Items.Value, element, depth+1); err != nil {
			return err
		}
	}
	c.out = append(c.out, ']')
	return nil
}

// types are the types by the first byte of a value; any other byte begins a number.
var types = map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean", 'n': "null"}

// hasType checks the type of a value, and the bounds of a number.
func hasType(s *openapi3.Schema, value json.RawMessage) error {
	is := types[value[0]]
	if is == "" {
		is = "number"
	}
	if s.Type != nil && !s.Type.Includes(is) && (is != "number" || !s.Type.Includes("integer")) {
		return fmt.Errorf("of type %s", is)
	}
	if is != "number" {
		return nil
	}
	var n float64
	switch err := json.Unmarshal(value, &n); {
	case err != nil:
		return errors.New("a number out of range")
	case s.Type != nil && !s.Type.Includes("number") && n != math.Trunc(n):
		return errors.New("no whole number")
	case s.Min != nil && n < *s.Min, s.Max != nil && n > *s.Max:
		return errors.New("a number out of its bounds")
	}
	return nil
}

// isListed checks a constant and an enumeration, which are of scalars.
func isListed(s *openapi3.Schema, value json.RawMessage) error {
	listed := s.Enum
	if s.Const != nil {
		listed = []any{s.Const}
	}
	if listed == nil {
		return nil
	}
	var scalar any
	if value[0] == '{' || value[0] == '[' || json.Unmarshal(value, &scalar) != nil {
		return errors.New("none of the values that are listed")
	}
	for _, one := range listed {
		// Numbers of the description may be of another type.
		if fmt.Sprintf("%T%v", one, one) == fmt.Sprintf("%T%v", scalar, scalar) || isNumber(one) && isNumber(scalar) &&
			fmt.Sprint(one) == fmt.Sprint(scalar) {
			return nil
		}
	}
	return errors.New("none of the values that are listed")
}

func isNumber(v any) bool {
	switch v.(type) {
	case int, int64, uint64, float64:
		return true
	}
	return false
}
