// Package reference reads the API's description once, at the start, and returns what the page /api shows of it.
package reference

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"diagnostics/gateway/web"

	"github.com/getkin/kin-openapi/openapi3"
)

const (
	toolPrefix  = "/api/tools/"
	plainAnswer = "application/json"
	stream      = "application/x-ndjson"
)

// Read returns what the page shows of a description that openapi.Document made.
func Read(text string) (web.API, error) {
	api, err := read(text)
	if err != nil {
		return web.API{}, fmt.Errorf("the description of the API: %w", err)
	}
	return api, nil
}

func read(text string) (web.API, error) {
	loader := openapi3.NewLoader()
	loader.IncludeOrigin = true // The page has the document's order, which maps lose.
	doc, err := loader.LoadFromData([]byte(text))
	if err != nil {
		return web.API{}, err
	}
	api := web.API{Tools: map[string]web.APITool{}}
	for _, p := range inOrder(doc.Paths.Map(), func(p *openapi3.PathItem) *openapi3.Origin { return p.Origin }) {
		for _, o := range inOrder(p.value.Operations(), func(o *openapi3.Operation) *openapi3.Origin { return o.Origin }) {
			if err := add(&api, p.name, o.name, o.value); err != nil {
				return web.API{}, fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return api, nil
}

func add(api *web.API, path, method string, o *openapi3.Operation) error {
	slug, isTool := strings.CutPrefix(path, toolPrefix)
	switch {
	case isTool:
		t, err := tool(o)
		if err != nil {
			return err
		}
		api.Tools[slug] = t
		gather(api, o)
	case len(o.Tags) == 1 && o.Tags[0] != "pages":
		api.Others = append(api.Others, route(path, method, o))
	}
	return nil
}

func tool(o *openapi3.Operation) (web.APITool, error) {
	body := o.RequestBody.Value.Content[plainAnswer]
	t := web.APITool{
		Summary: o.Summary, Text: o.Description, Input: member(body.Schema.Value, "input").Description,
		Options: options(member(body.Schema.Value, "options")),
	}
	for _, e := range inOrder(body.Examples, func(e *openapi3.ExampleRef) *openapi3.Origin { return e.Origin }) {
		request, err := json.Marshal(e.value.Value.Value)
		if err != nil {
			return t, err
		}
		if e.name == "typical" {
			t.Request = string(request)
			continue
		}
		t.Others = append(t.Others, web.APIExample{Text: e.value.Value.Summary, Request: string(request)})
	}
	for _, r := range responses(o) {
		t.Statuses = append(t.Statuses, r.name)
		if r.name != "200" {
			continue
		}
		data := member(r.value.Value.Content[plainAnswer].Schema.Value, "data")
		t.Result, t.ResultText = result(data), data.Description
		if lines := r.value.Value.Content[stream]; lines != nil {
			t.Steps = steps(member(lines.Schema.Value.AnyOf[0].Value, "step"))
		}
	}
	if t.Request == "" || len(t.Result) == 0 || len(t.Steps) == 0 {
		return t, errors.New("no typical request, no result or no steps")
	}
	return t, nil
}

func responses(o *openapi3.Operation) []entry[*openapi3.ResponseRef] {
	return inOrder(o.Responses.Map(), func(r *openapi3.ResponseRef) *openapi3.Origin { return r.Origin })
}

// gather adds the statuses and headers that the page does not have yet.
func gather(api *web.API, o *openapi3.Operation) {
	for _, r := range responses(o) {
		status := web.APIField{Name: r.name, Type: nameOf(r.name), Text: *r.value.Value.Description}
		api.Statuses = addOnce(api.Statuses, status)
		headers := inOrder(r.value.Value.Headers, func(h *openapi3.HeaderRef) *openapi3.Origin { return h.Origin })
		for _, h := range headers {
			api.Headers = addOnce(api.Headers, web.APIField{Name: h.name, Text: h.value.Value.Description})
		}
	}
}

func addOnce(all []web.APIField, f web.APIField) []web.APIField {
	if slices.ContainsFunc(all, func(known web.APIField) bool { return known.Name == f.Name }) {
		return all
	}
	return append(all, f)
}

func nameOf(status string) string {
	code, _ := strconv.Atoi(status)
	return http.StatusText(code)
}

// route returns one of the addresses that are no tool.
func route(path, method string, o *openapi3.Operation) web.APIRoute {
	r := web.APIRoute{Method: method, Path: path, Summary: o.Summary, Text: o.Description}
	for _, p := range o.Parameters {
		words := kindOf(p.Value.Schema.Value).words
		r.Parameters = append(r.Parameters, web.APIField{Name: p.Value.Name, Type: words, Text: p.Value.Description})
	}
	for _, one := range responses(o) {
		r.Statuses = append(r.Statuses, one.name)
	}
	return r
}
