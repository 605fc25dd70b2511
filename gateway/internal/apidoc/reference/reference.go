// Package reference reads the description of the API for the page that shows it: the document is read once, at the
// start, and what the page needs of it is handed on as plain data.
package reference

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"diagnostics/gateway/web"

	"go.yaml.in/yaml/v4"
)

const (
	toolPrefix  = "/api/tools/"
	plainAnswer = "application/json"
	stream      = "application/x-ndjson"
)

// Read gives what the page shows of the description that openapi.Document gave.
func Read(text string) (web.API, error) {
	api, err := read(text)
	if err != nil {
		return web.API{}, fmt.Errorf("the description of the API: %w", err)
	}
	return api, nil
}

func read(text string) (web.API, error) {
	var d document
	if err := yaml.Load([]byte(text), &d); err != nil {
		return web.API{}, err
	}
	api := web.API{Tools: map[string]web.APITool{}}
	for _, p := range d.Paths {
		slug, isTool := strings.CutPrefix(p.address, toolPrefix)
		switch {
		case isTool:
			t, err := d.tool(p.operation)
			if err != nil {
				return web.API{}, fmt.Errorf("%s: %w", p.address, err)
			}
			api.Tools[slug] = t
			d.gather(&api, p.operation.Responses)
		case len(p.operation.Tags) == 1 && p.operation.Tags[0] != "pages":
			api.Others = append(api.Others, d.route(p))
		}
	}
	if d.missing != nil {
		return web.API{}, fmt.Errorf("there is no %s", strings.Join(d.missing, ", "))
	}
	return api, nil
}

func (d *document) tool(o operation) (web.APITool, error) {
	body := o.RequestBody.Content[plainAnswer]
	t := web.APITool{
		Summary: o.Summary, Text: o.Description, Input: d.resolve(body.Schema.member("input")).Description,
		Options: d.options(body.Schema.member("options")),
	}
	for _, e := range body.Examples {
		request, err := toJSON(&e.Value)
		if err != nil {
			return t, err
		}
		if e.name == "typical" {
			t.Request = request
			continue
		}
		t.Others = append(t.Others, web.APIExample{Text: e.Summary, Request: request})
	}
	for _, r := range o.Responses {
		t.Statuses = append(t.Statuses, r.Status)
		if r.Status != "200" {
			continue
		}
		whole, lines := r.Content[plainAnswer].Schema, r.Content[stream].Schema.AnyOf
		data := whole.member("data")
		t.Result, t.ResultText = d.result(data), d.resolve(data).Description
		if len(lines) > 0 {
			t.Steps = d.steps(lines[0].member("step"))
		}
	}
	if t.Request == "" || len(t.Result) == 0 || len(t.Steps) == 0 {
		return t, errors.New("no typical request, no result or no steps")
	}
	return t, nil
}

// gather adds the statuses and headers that are not known yet.
func (d *document) gather(api *web.API, all responses) {
	for _, r := range all {
		r = d.response(r)
		api.Statuses = addOnce(api.Statuses, web.APIField{Name: r.Status, Type: nameOf(r.Status), Text: r.Description})
		for _, name := range r.Headers {
			api.Headers = addOnce(api.Headers, web.APIField{Name: name, Text: d.Components.Headers[name].Description})
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

func (d *document) response(r response) response {
	if r.Ref == "" {
		return r
	}
	named, known := d.Components.Responses[strings.TrimPrefix(r.Ref, "#/components/responses/")]
	if !known {
		d.missing = append(d.missing, r.Ref)
	}
	named.Status = r.Status
	return named
}

// route is one of the addresses that are no tool.
func (d *document) route(p path) web.APIRoute {
	r := web.APIRoute{
		Method: p.method, Path: p.address, Summary: p.operation.Summary, Text: p.operation.Description,
	}
	for _, one := range p.operation.Parameters {
		r.Parameters = append(r.Parameters, d.parameter(one))
	}
	for _, one := range p.operation.Responses {
		r.Statuses = append(r.Statuses, one.Status)
	}
	return r
}

func (d *document) parameter(p parameter) web.APIField {
	if p.Ref != "" {
		named, known := d.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
		if !known {
			d.missing = append(d.missing, p.Ref)
		}
		p = named
	}
	return web.APIField{Name: p.Name, Type: d.kindOf(&p.Schema).words, Text: p.Description}
}
