package openapi

import (
	"encoding/json"
	"slices"

	"diagnostics/gateway/internal/tool"
)

// schema is the part of JSON Schema that options need.
type schema struct {
	Type                 []string          `json:"type"`
	Description          string            `json:"description,omitempty"`
	Enum                 []*string         `json:"enum,omitempty"`
	Default              string            `json:"default,omitempty"`
	Minimum              int               `json:"minimum,omitempty"`
	Maximum              int               `json:"maximum,omitempty"`
	MaxLength            int               `json:"maxLength,omitempty"`
	Pattern              string            `json:"pattern,omitempty"`
	AdditionalProperties bool              `json:"additionalProperties,omitempty"`
	Properties           map[string]schema `json:"properties,omitempty"`
}

// place is the option of the edge for every tool that runs elsewhere too.
var place = tool.Option{
	Name: "place", Doc: "Where the tool runs: the ID of this place or of another, where the instance has places.",
	Pattern: "^[a-z0-9-]{1,32}$", MaxLength: 32,
}

// optionsEntry is the schema of the options object of a tool, as JSON, which is YAML too.
func optionsEntry(t tool.Tool) (entry, error) {
	options := t.Options()
	if !t.OnlyHere() {
		options = append(slices.Clone(options), place)
	}
	all := schema{Type: []string{"object", "null"}, AdditionalProperties: true, Properties: map[string]schema{}}
	if len(options) == 0 {
		all.Description = "This tool has no options; unknown ones are ignored."
	}
	for _, o := range options {
		all.Properties[o.Name] = optionSchema(o)
	}
	text, err := json.Marshal(all)
	return entry{key: "options", value: string(text)}, err
}

func optionSchema(o tool.Option) schema {
	s := schema{Type: []string{"string", "null"}, Description: o.Doc, Default: o.Default, Minimum: o.Min, Maximum: o.Max,
		MaxLength: o.MaxLength, Pattern: o.Pattern}
	if o.IsNumber() {
		s.Type[0] = "integer"
	}
	if o.Bool {
		s.Type[0] = "boolean"
	}
	for _, value := range o.Values {
		s.Enum = append(s.Enum, &value)
	}
	if s.Enum != nil {
		s.Enum = append(s.Enum, nil)
	}
	return s
}
