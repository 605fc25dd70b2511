// Package apitest holds real answers against the OpenAPI description of the gateway. It is for tests: of the edge with
// fake tools, of the tools on a private internet, and of the shipped binary end to end. A field that the description
// does not know fails as one that it misses does, so that neither side gets ahead of the other.
package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/yaml"
)

const toolPrefix = "/api/tools/"

// Description is a parsed OpenAPI 3.1 description.
type Description struct {
	doc     *openapi3.T
	schemas *schemas
}

// Load parses and validates a description, examples included, and closes its objects: in tests no field is unknown.
func Load(text []byte) (*Description, error) {
	plain, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("not YAML: %w", err)
	}
	var tree any
	if err := json.Unmarshal(plain, &tree); err != nil {
		return nil, err
	}
	closeObjects(tree)
	closed, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(closed)
	if err != nil {
		return nil, fmt.Errorf("not OpenAPI: %w", err)
	}
	err = doc.Validate(context.Background(), openapi3.IsOpenAPI31OrLater(), openapi3.EnableExamplesValidation())
	if err != nil {
		return nil, fmt.Errorf("not valid OpenAPI: %w", err)
	}
	compiled, err := newSchemas(tree)
	if err != nil {
		return nil, err
	}
	return &Description{doc: doc, schemas: compiled}, nil
}

// closeObjects refuses fields beyond an object's properties, wherever the description does not say otherwise itself.
func closeObjects(node any) {
	switch n := node.(type) {
	case map[string]any:
		_, isSchema := n["type"]
		if _, listed := n["properties"].(map[string]any); listed && isSchema && n["additionalProperties"] == nil {
			n["additionalProperties"] = false
		}
		for _, child := range n {
			closeObjects(child)
		}
	case []any:
		for _, child := range n {
			closeObjects(child)
		}
	}
}

// Tool is one tool's operation, for tables.
type Tool struct {
	Slug, Summary, Input string
	// Typical is the body of the request that the description calls typical, nil where it has none.
	Typical any
}

// Tools are the tools that the description knows, by slug.
func (d *Description) Tools() []Tool {
	var out []Tool
	for path, item := range d.doc.Paths.Map() {
		slug, ok := strings.CutPrefix(path, toolPrefix)
		if !ok || item.Post == nil {
			continue
		}
		t := Tool{Slug: slug, Summary: item.Post.Summary}
		if media := item.Post.RequestBody.Value.Content.Get("application/json"); media != nil {
			t.Input = media.Schema.Value.Properties["input"].Value.Description
			if example := media.Examples["typical"]; example != nil {
				t.Typical = example.Value.Value
			}
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Tool) int { return strings.Compare(a.Slug, b.Slug) })
	return out
}

// Paths are all paths of the description with their methods, as "GET /healthz", sorted.
func (d *Description) Paths() []string {
	var out []string
	for path, item := range d.doc.Paths.Map() {
		for method := range item.Operations() {
			out = append(out, method+" "+path)
		}
	}
	slices.Sort(out)
	return out
}

// Check holds an answer to method and path (a path of the description, not of the request) against the description:
// the status, the media type, the headers and the body. An answer of an unknown path has the path "".
func (d *Description) Check(method, path string, resp *http.Response, body []byte) error {
	answer, err := d.response(method, path, resp.StatusCode)
	if err != nil {
		return err
	}
	if err := d.checkHeaders(answer, resp.Header); err != nil {
		return err
	}
	if method == http.MethodHead || len(answer.Content) == 0 {
		return nil
	}
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("content type: %w", err)
	}
	content := answer.Content.Get(media)
	if content == nil {
		return fmt.Errorf("the media type %s is not described", media)
	}
	switch media {
	case "application/json":
		return d.checkBody(content, resp, body)
	case "application/x-ndjson":
		for line := range bytes.Lines(body) {
			if err := d.checkBody(content, resp, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkBody holds one JSON value.
func (d *Description) checkBody(content *openapi3.MediaType, resp *http.Response, body []byte) error {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if err := d.schemas.check(content.Schema, value); err != nil {
		return fmt.Errorf("body: %w: %s", err, body)
	}
	return checkID(value, resp.Header)
}

// checkID holds the envelope's id against the header's.
func checkID(value any, h http.Header) error {
	envelope, _ := value.(map[string]any)
	if id, there := envelope["requestId"]; there && id != h.Get("X-Request-Id") {
		return fmt.Errorf("the envelope's id %v is not the header's %q", id, h.Get("X-Request-Id"))
	}
	return nil
}

// response finds what the description says of a status.
func (d *Description) response(method, path string, status int) (*openapi3.Response, error) {
	if path == "" {
		if known := d.doc.Components.Responses["NotFound"]; known != nil && status == http.StatusNotFound {
			return known.Value, nil
		}
		return nil, fmt.Errorf("an unknown path answered %d", status)
	}
	item := d.doc.Paths.Value(path)
	if item == nil {
		return nil, fmt.Errorf("the path %s is not described", path)
	}
	operation := item.GetOperation(method)
	if method == http.MethodHead {
		operation = item.Get
	}
	// The method of a 405 is not described, so any operation of the path describes its answer.
	if status == http.StatusMethodNotAllowed {
		operation = anyOperation(item)
	}
	if operation == nil {
		return nil, fmt.Errorf("%s %s is not described", method, path)
	}
	ref := operation.Responses.Value(strconv.Itoa(status))
	if ref == nil {
		return nil, fmt.Errorf("%s %s: the status %d is not described", method, path, status)
	}
	return ref.Value, nil
}

func anyOperation(item *openapi3.PathItem) *openapi3.Operation {
	for _, operation := range item.Operations() {
		return operation
	}
	return nil
}

// checkHeaders wants every described header that is required, and its form where it is there.
func (d *Description) checkHeaders(answer *openapi3.Response, h http.Header) error {
	var all []error
	for name, ref := range answer.Headers {
		value := h.Get(name)
		if value == "" {
			if ref.Value.Required {
				all = append(all, fmt.Errorf("the header %s is missing", name))
			}
			continue
		}
		all = append(all, d.checkHeader(name, value, ref.Value.Schema))
	}
	return errors.Join(all...)
}

func (d *Description) checkHeader(name, value string, schema *openapi3.SchemaRef) error {
	var typed any = value
	if schema.Value.Type.Is("integer") {
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("the header %s is %q", name, value)
		}
		typed = n
	}
	if err := d.schemas.check(schema, typed); err != nil {
		return fmt.Errorf("the header %s is %q: %w", name, value, err)
	}
	return nil
}
