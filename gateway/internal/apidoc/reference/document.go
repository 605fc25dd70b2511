package reference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// document is what the page shows of an OpenAPI description.
type document struct {
	Paths      paths
	Components struct {
		Headers    map[string]header
		Parameters map[string]parameter
		Responses  map[string]response
		Schemas    map[string]*schema
	}
	// missing are references to what is not there.
	missing []string
}

type paths []path

type path struct {
	address   string
	method    string
	operation operation
}

func (p *paths) UnmarshalYAML(node *yaml.Node) error {
	return eachKey(node, func(address string, item *yaml.Node) error {
		return eachKey(item, func(method string, value *yaml.Node) error {
			one := path{address: address, method: strings.ToUpper(method)}
			if err := value.Decode(&one.operation); err != nil {
				return fmt.Errorf("%s: %w", address, err)
			}
			*p = append(*p, one)
			return nil
		})
	})
}

type operation struct {
	Tags        []string
	Summary     string
	Description string
	Parameters  []parameter
	RequestBody struct{ Content map[string]media } `yaml:"requestBody"`
	Responses   responses
}

type media struct {
	Schema   schema
	Examples examples
}

type parameter struct {
	Ref         string `yaml:"$ref"`
	Name        string
	Description string
	Schema      schema
}

type header struct {
	Ref         string `yaml:"$ref"`
	Description string
}

type response struct {
	Ref         string `yaml:"$ref"`
	Status      string `yaml:"-"`
	Description string
	Headers     headers
	Content     map[string]media
}

type responses []response

func (r *responses) UnmarshalYAML(node *yaml.Node) error {
	return eachKey(node, func(status string, value *yaml.Node) error {
		one := response{}
		err := value.Decode(&one)
		one.Status = status
		*r = append(*r, one)
		return err
	})
}

type headers []string

// UnmarshalYAML reads their names in their order.
func (h *headers) UnmarshalYAML(node *yaml.Node) error {
	return eachKey(node, func(name string, _ *yaml.Node) error {
		*h = append(*h, name)
		return nil
	})
}

type example struct {
	name    string
	Summary string
	Value   yaml.Node
}

type examples []example

func (e *examples) UnmarshalYAML(node *yaml.Node) error {
	return eachKey(node, func(name string, value *yaml.Node) error {
		one := example{name: name}
		err := value.Decode(&one)
		*e = append(*e, one)
		return err
	})
}

// toJSON writes a value as one line of JSON, its keys in their order.
func toJSON(node *yaml.Node) (string, error) {
	switch node.Kind {
	case yaml.MappingNode:
		var members []string
		err := eachKey(node, func(key string, value *yaml.Node) error {
			text, err := toJSON(value)
			name, _ := json.Marshal(key)
			members = append(members, string(name)+":"+text)
			return err
		})
		return "{" + strings.Join(members, ",") + "}", err
	case yaml.ScalarNode:
		var value any
		if err := node.Decode(&value); err != nil {
			return "", err
		}
		text, err := json.Marshal(value)
		return string(text), err
	default:
		return "", fmt.Errorf("line %d: a request of neither an object nor a scalar", node.Line)
	}
}

// schema is what the page shows of a JSON Schema.
type schema struct {
	Ref         string      `yaml:"$ref"`
	Type        names       `yaml:"type"`
	Format      string      `yaml:"format"`
	Enum        names       `yaml:"enum"`
	Const       names       `yaml:"const"`
	Default     string      `yaml:"default"`
	Minimum     *int64      `yaml:"minimum"`
	Maximum     *int64      `yaml:"maximum"`
	Description string      `yaml:"description"`
	Required    []string    `yaml:"required"`
	Properties  properties  `yaml:"properties"`
	Additional  *additional `yaml:"additionalProperties"`
	Items       *schema     `yaml:"items"`
	OneOf       []*schema   `yaml:"oneOf"`
	AnyOf       []*schema   `yaml:"anyOf"`
}

// names is a scalar or a list of scalars, as their texts.
type names []string

// UnmarshalYAML reads them; null becomes "null".
func (n *names) UnmarshalYAML(node *yaml.Node) error {
	all := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		all = node.Content
	}
	for _, one := range all {
		if one.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: not a scalar", one.Line)
		}
		*n = append(*n, one.Value)
	}
	return nil
}

// additional is what an object says of the members that it does not name: a schema, or just whether there may be any.
type additional struct{ of *schema }

func (a *additional) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	return node.Decode(&a.of)
}

// property is a member of an object.
type property struct {
	name string
	schema
}

// properties are in the order of the document, which is the order in which somebody should read them.
type properties []property

func (p *properties) UnmarshalYAML(node *yaml.Node) error {
	return eachKey(node, func(key string, value *yaml.Node) error {
		one := property{name: key}
		if err := value.Decode(&one.schema); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		*p = append(*p, one)
		return nil
	})
}

// member is the schema of one property; an empty one where there is no such property.
func (s *schema) member(name string) *schema {
	for _, p := range s.Properties {
		if p.name == name {
			return &p.schema
		}
	}
	return &schema{}
}

// eachKey visits a mapping in its order.
func eachKey(node *yaml.Node, visit func(key string, value *yaml.Node) error) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: not a mapping", node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if err := visit(node.Content[i].Value, node.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

const schemaPrefix = "#/components/schemas/"

// resolve follows references; what stands beside one goes before what it leads to.
func (d *document) resolve(s *schema) *schema {
	description := s.Description
	for s.Ref != "" {
		s = d.schema(s.Ref)
		description = cmp.Or(description, s.Description)
	}
	resolved := *s
	resolved.Description = description
	return &resolved
}

func (d *document) schema(ref string) *schema {
	if s, known := d.Components.Schemas[strings.TrimPrefix(ref, schemaPrefix)]; known {
		return s
	}
	d.missing = append(d.missing, ref)
	return &schema{}
}

// variants are the alternatives of a schema, null among them.
func (d *document) variants(s *schema) []*schema {
	var all []*schema
	for _, v := range slices.Concat(s.OneOf, s.AnyOf) {
		all = append(all, d.variants(d.resolve(v))...)
	}
	if all == nil {
		all = []*schema{s}
	}
	return all
}

// object is the object that a schema describes, by itself, as an alternative to null or as what a list holds; suffix
// is what its path has more, as jq writes it.
func (d *document) object(s *schema) (found *schema, suffix string) {
	for _, v := range d.variants(d.resolve(s)) {
		switch {
		case len(v.Properties) > 0:
			return v, ""
		case v.Items != nil:
			found, suffix = d.object(v.Items)
			return found, "[]" + suffix
		case v.Additional != nil && v.Additional.of != nil:
			found, suffix = d.object(v.Additional.of)
			return found, ".*" + suffix
		}
	}
	return nil, ""
}
