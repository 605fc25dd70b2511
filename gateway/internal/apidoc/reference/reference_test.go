package reference

import (
	"strings"
	"testing"

	"diagnostics/gateway/web"

	"github.com/google/go-cmp/cmp"
)

// small has of each thing one that is in no order of the alphabet.
const small = `
openapi: 3.1.0
info: {title: T, version: '1'}
paths:
  /api/tools/day:
    post:
      tags: [tools]
      summary: Tell the day
      description: Of the week.
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                input: {type: string, description: A date.}
                options: {$ref: '#/components/schemas/Options'}
            examples:
              typical: {value: {input: today, options: {zone: utc, count: 2}}}
              other: {summary: yesterday's, value: {input: '1'}}
      responses:
        '200':
          description: The result.
          headers: {X-Id: {$ref: '#/components/headers/X-Id'}}
          content:
            application/json: {schema: {properties: {data: {$ref: '#/components/schemas/Day'}}}}
            application/x-ndjson: {schema: {anyOf: [{properties: {step: {$ref: '#/components/schemas/Step'}}}]}}
        '429': {$ref: '#/components/responses/Limited'}
  /healthz:
    get:
      tags: [service]
      summary: Lives
      parameters: [{$ref: '#/components/parameters/N'}]
      responses: {'200': {description: It does.}}
  /: {get: {tags: [pages], summary: A page, responses: {'200': {description: A page.}}}}
components:
  headers:
    X-Id: {description: An id.}
  parameters:
    N: {name: n, description: A number., schema: {type: integer, minimum: 0, maximum: 9}}
  responses:
    Limited: {description: Too many.}
  schemas:
    Options:
      type: [object, 'null']
      properties:
        zone: {type: [string, 'null'], enum: [utc, local, null], default: utc, description: Where.}
        count: {type: [integer, 'null'], minimum: 1, maximum: 7}
    Shared: {type: boolean, const: true, description: Said once.}
    Name: {type: string, format: date}
    Day:
      type: object
      description: A day.
      required: [name, parts, near, hours]
      properties:
        name: {$ref: '#/components/schemas/Name'}
        parts:
          type: array
          items:
            type: object
            required: [from, holidays]
            properties:
              from: {type: string, format: date-time}
              holidays: {type: object, additionalProperties: {type: array, items: {type: string}}}
              shared: {$ref: '#/components/schemas/Shared'}
        near: {oneOf: [{type: 'null'}, {$ref: '#/components/schemas/Day'}], description: The next one.}
        hours:
          type: object
          required: [a, b, c, d, e, f]
          properties:
            a: {$ref: '#/components/schemas/Hour'}
            b: {$ref: '#/components/schemas/Hour'}
            c: {$ref: '#/components/schemas/Hour'}
            d: {$ref: '#/components/schemas/Hour'}
            e: {$ref: '#/components/schemas/Hour'}
            f: {$ref: '#/components/schemas/Hour'}
        shared: {$ref: '#/components/schemas/Shared'}
    Hour: {type: object, required: [at], properties: {at: {type: [number, 'null'], minimum: 0}}}
    Step: {anyOf: [{$ref: '#/components/schemas/Stage'}]}
    Stage:
      type: object
      description: What it does.
      properties: {kind: {const: stage}, stage: {type: string}, atMs: {type: number}}
`

func TestRead(t *testing.T) {
	t.Parallel()
	got, err := Read(small)
	if err != nil {
		t.Fatal(err)
	}
	once := web.APIField{Name: "shared", Type: "boolean", Values: []string{"true"}, Text: "Said once.", Optional: true}
	parts := []web.APIField{
		{Name: "parts[].from", Type: "time"}, {Name: "parts[].holidays", Type: "object of arrays of strings"},
		{Name: "parts[].shared", Type: "boolean", Values: []string{"true"}, Optional: true},
	}
	hours := []web.APIField{
		{Name: "hours.*", Type: "object", Text: "For each of `a`, `b`, `c`, `d`, `e` and `f`."},
		{Name: "hours.*.at", Type: "number or null"},
	}
	tail := func(prefix string, all []web.APIField) (out []web.APIField) {
		for _, f := range all {
			f.Name = prefix + f.Name
			out = append(out, f)
		}
		return out
	}
	near := []web.APIField{{Name: "near.name", Type: "date"}, {Name: "near.parts", Type: "array of objects"}}
	near = append(near, tail("near.", parts)...)
	near = append(near, web.APIField{Name: "near.near", Type: "object or null", Text: "The next one."},
		web.APIField{Name: "near.hours", Type: "object"})
	near = append(near, tail("near.", hours)...)
	near = append(near, web.APIField{Name: "near.shared", Type: "boolean", Values: []string{"true"}, Optional: true})
	want := web.API{
		Tools: map[string]web.APITool{"day": {
			Summary: "Tell the day", Text: "Of the week.", Input: "A date.",
			Options: []web.APIField{
				{Name: "zone", Type: "string", Values: []string{"utc", "local"}, Default: "utc", Text: "Where.", Optional: true},
				{Name: "count", Type: "integer, 1 to 7", Optional: true},
			},
			Request:    `{"input":"today","options":{"count":2,"zone":"utc"}}`,
			Others:     []web.APIExample{{Text: "yesterday's", Request: `{"input":"1"}`}},
			ResultText: "A day.",
			Result: []web.APIField{
				{Name: "name", Type: "date"}, {Name: "parts", Type: "array of objects", Fields: parts},
				{Name: "near", Type: "object or null", Text: "The next one.", Fields: near},
				{Name: "hours", Type: "object", Fields: hours}, once,
			},
			Steps:    []web.APIStep{{Kind: "stage", Text: "What it does.", Fields: []string{"stage", "atMs"}}},
			Statuses: []string{"200", "429"},
		}},
		Others: []web.APIRoute{{Method: "GET", Path: "/healthz", Summary: "Lives", Statuses: []string{"200"},
			Parameters: []web.APIField{{Name: "n", Type: "integer, 0 to 9", Text: "A number."}}}},
		Statuses: []web.APIField{{Name: "200", Type: "OK", Text: "The result."},
			{Name: "429", Type: "Too Many Requests", Text: "Too many."}},
		Headers: []web.APIField{{Name: "X-Id", Text: "An id."}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What the page could not be made of stops the start.
func TestReadFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, fresh, want string }{
		"not YAML":           {"paths:", "paths: [", "yaml"},
		"no such schema":     {"schemas/Name'", "schemas/None'", "schemas/None"},
		"no such response":   {"responses/Limited'", "responses/None'", "responses/None"},
		"no such parameter":  {"parameters/N'", "parameters/None'", "parameters/None"},
		"no typical request": {"typical:", "usual:", "/api/tools/day: no typical request"},
		"no steps":           {"application/x-ndjson", "text/plain", "no steps"},
	} {
		broken := strings.Replace(small, tt.old, tt.fresh, 1)
		if broken == small {
			t.Fatalf("%s: nothing is broken", name)
		}
		if _, err := Read(broken); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
