package reference

import (
	"encoding/json"
	"fmt"
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
