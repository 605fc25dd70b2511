package shape

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const described = `{openapi: 3.1.0, info: {title: x, version: '1'}, paths: {/api/tools/one: {post: {responses: {'200':
 {description: x, content: {
  application/json: {schema: {type: object, properties: {data: {$ref: '#/components/schemas/One'}}}},
  application/x-ndjson: {schema: {anyOf: [{type: object, properties: {
   step: {$ref: '#/components/schemas/Two'}}}]}}}}}}}},
 components: {schemas: {
  One: {type: object, required: [a], properties: {
    a: {type: string}, n: {type: [integer, 'null'], minimum: 1, maximum: 9}, f: {type: number}, b: {type: boolean},
    l: {type: array, maxItems: 2, minItems: 1, items: {$ref: '#/components/schemas/Two'}},
    e: {type: string, enum: [x, y]}, o: {oneOf: [{$ref: '#/components/schemas/Two'}, {type: 'null'}]},
    m: {type: object, additionalProperties: {type: string}}, v: {type: integer, enum: [4, 6]},
    c: {allOf: [{type: object, required: [code], properties: {code: {type: string}}},
     {properties: {code: {enum: [A]}}}]},
    r: {$ref: '#/components/schemas/One'}}},
  Two: {type: object, required: [kind], properties: {kind: {const: k}, at: {type: number}}}}}}`

func TestClean(t *testing.T) {
	t.Parallel()
	tools, err := Read(described)
	if err != nil {
		t.Fatal(err)
	}
	one := tools["one"].Data
	for _, tt := range []struct{ in, want string }{
		{`{"a":"x"}`, `{"a":"x"}`},
		{` { "z" : {"a":[1]}, "a" : "x" } `, `{"a":"x"}`},
		{`{"n":1,"a":"","n2":1}`, `{"n":1,"a":""}`},
		{`{"a":"x","n":null,"f":1.5,"b":false}`, `{"a":"x","n":null,"f":1.5,"b":false}`},
		{`{"a":"x","n":3.0}`, `{"a":"x","n":3.0}`},
		{`{"a":"x","v":6}`, `{"a":"x","v":6}`},
		{`{"a":"x","l":[{"kind":"k","more":1}]}`, `{"a":"x","l":[{"kind":"k"}]}`},
		{`{"a":"x","o":null}`, `{"a":"x","o":null}`},
		{`{"a":"x","o":{"kind":"k"}}`, `{"a":"x","o":{"kind":"k"}}`},
		{`{"a":"x","m":{"k":"v","l":"w"}}`, `{"a":"x","m":{"k":"v","l":"w"}}`},
		{`{"a":"x","c":{"code":"A_CODE_TO_COME","x":1}}`, `{"a":"x","c":{"code":"A_CODE_TO_COME"}}`},
		{`{"a":"x","r":{"a":"y","z":1}}`, `{"a":"x","r":{"a":"y"}}`},
		{`{}`, ""}, {`null`, ""}, {`[]`, ""}, {`"x"`, ""}, {``, ""}, {`{"a":"x"`, ""}, {`{"a":"x"}{}`, ""},
		{`{"a":1}`, ""}, {`{"a":null}`, ""}, {`{"a":["x"]}`, ""}, {`{"a":"x","a":"y"}`, ""},
		{`{"a":"x","n":0}`, ""}, {`{"a":"x","n":10}`, ""}, {`{"a":"x","n":1.5}`, ""}, {`{"a":"x","n":"1"}`, ""},
		{`{"a":"x","f":1e999}`, ""}, {`{"a":"x","b":0}`, ""}, {`{"a":"x","v":5}`, ""},
		{`{"a":"x","l":[]}`, ""}, {`{"a":"x","l":[{"kind":"k"},{"kind":"k"},{"kind":"k"}]}`, ""}, {`{"a":"x","l":{}}`, ""},
		{`{"a":"x","l":[{"kind":"j"}]}`, ""}, {`{"a":"x","e":"z"}`, ""}, {`{"a":"x","o":{"kind":"j"}}`, ""},
		{`{"a":"x","o":7}`, ""}, {`{"a":"x","m":{"k":1}}`, ""}, {`{"a":"x","c":{}}`, ""}, {`{"a":"x","r":{}}`, ""},
		{strings.Repeat(`{"a":"x","r":`, 40) + `{"a":"x"}` + strings.Repeat(`}`, 40), ""},
	} {
		got, err := one.Clean([]byte(tt.in))
		if string(got) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %s, %v; want %s", tt.in, got, err, tt.want)
		}
	}
	if got, err := tools["one"].Step.Clean([]byte(`{"kind":"k","at":1,"x":1}`)); string(got) != `{"kind":"k","at":1}` {
		t.Errorf("a step: %s, %v", got, err)
	}
	// A slug that is not described has no shape: nothing of it passes.
	if got, err := (Shape{}).Clean([]byte(`{}`)); err == nil {
		t.Errorf("%s", got)
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	const text = `{"b":1,"a":{"x":[2]},"c\"":"d"}`
	all, err := Members([]byte(text))
	if err != nil || string(Object(all)) != text {
		t.Errorf("%s, %v", Object(all), err)
	}
	for _, bad := range []string{``, `[]`, `null`, `{"a":1,"a":2}`, `{"a":1`} {
		if all, err := Members([]byte(bad)); err == nil {
			t.Errorf("%s: %v", bad, all)
		}
	}
}

func FuzzClean(f *testing.F) {
	tools, err := Read(described)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"a":"x","l":[{"kind":"k"}],"m":{"k":"v"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		clean, err := tools["one"].Data.Clean(text)
		if err != nil {
			return
		}
		again, err := tools["one"].Data.Clean(clean)
		if err != nil || string(again) != string(clean) {
			t.Errorf("%q became %q, then %q, %v", text, clean, again, err)
		}
	})
}
