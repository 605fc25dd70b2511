package apitest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// documentURL is where schemas find the components that they refer to. Nothing is fetched.
const documentURL = "https://description.invalid/openapi.json"

// schemas compiles each schema of a description once: that takes far longer than to hold a value against it, and
// openapi3 does it for every value.
type schemas struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[*openapi3.SchemaRef]*jsonschema.Schema
}

func newSchemas(document any) (*schemas, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(documentURL, document); err != nil {
		return nil, err
	}
	return &schemas{compiler: c, compiled: map[*openapi3.SchemaRef]*jsonschema.Schema{}}, nil
}

// check holds a decoded JSON value against a schema.
func (s *schemas) check(ref *openapi3.SchemaRef, value any) error {
	schema, err := s.of(ref)
	if err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	return schema.Validate(value)
}

func (s *schemas) of(ref *openapi3.SchemaRef) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if schema := s.compiled[ref]; schema != nil {
		return schema, nil
	}
	at, err := s.locate(ref)
	if err != nil {
		return nil, err
	}
	schema, err := s.compiler.Compile(at)
	if err != nil {
		return nil, err
	}
	s.compiled[ref] = schema
	return schema, nil
}

// locate gives the URL of a schema: in the document, or its own where it stands where it is used.
func (s *schemas) locate(ref *openapi3.SchemaRef) (string, error) {
	if ref.Ref != "" {
		return documentURL + ref.Ref, nil
	}
	text, err := json.Marshal(ref)
	if err != nil {
		return "", err
	}
	absolute := strings.ReplaceAll(string(text), `"#/`, `"`+documentURL+`#/`)
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(absolute))
	if err != nil {
		return "", err
	}
	url := fmt.Sprintf("https://description.invalid/%d.json", len(s.compiled))
	return url, s.compiler.AddResource(url, schema)
}
