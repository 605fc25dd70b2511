package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/apidoc/openapi"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/decode"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
)

func describe(t *testing.T, tools []tool.Tool) *openapi3.T {
	t.Helper()
	text, err := openapi.Document(tools)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// described returns the schemas of a tool's result and of its steps, by kind.
func described(doc *openapi3.T, slug string) (result *openapi3.Schema, steps map[string]*openapi3.Schema) {
	answer := doc.Paths.Value("/api/tools/" + slug).Post.Responses.Value("200").Value.Content
	result = answer["application/json"].Schema.Value.Properties["data"].Value
	step := answer["application/x-ndjson"].Schema.Value.AnyOf[0].Value.Properties["step"].Value
	steps = map[string]*openapi3.Schema{}
	alternatives := slices.Concat(step.AnyOf, step.OneOf)
	if alternatives == nil {
		alternatives = openapi3.SchemaRefs{step.NewRef()}
	}
	for _, one := range alternatives {
		kind, _ := one.Value.Properties["kind"].Value.Const.(string)
		if kind != "stage" {
			steps[kind] = one.Value.Properties[kind].Value
		}
	}
	return result, steps
}

// Results and steps of another place are held against the description of the API: a value that has everything which is
// described is decoded, and none that breaks one of its rules.
func TestResultsOfAnotherPlace(t *testing.T) {
	t.Parallel()
	all := All(Deps{})
	located, doc := describe(t, all), describe(t, all)
	// Only findings of a delegation have them, though one schema describes all.
	delete(doc.Components.Schemas["Finding"].Value.Properties, "zone")
	delete(doc.Components.Schemas["Finding"].Value.Properties, "server")
	for _, one := range all {
		if one.OnlyHere() {
			continue
		}
		doc := doc
		if one.Slug() == "dns-delegation" {
			doc = located
		}
		result, steps := described(doc, one.Slug())
		types := maps.Clone(one.Steps())
		if got, want := slices.Sorted(maps.Keys(types)), slices.Sorted(maps.Keys(steps)); !slices.Equal(got, want) {
			t.Errorf("%s has the steps %q, described are %q", one.Slug(), got, want)
			continue
		}
		t.Run(one.Slug(), func(t *testing.T) {
			t.Parallel()
			holdAgainst(t, "data", one.Result(), result)
			holdHostile(t, one.Result(), result)
		})
		for kind, of := range types {
			t.Run(one.Slug()+" "+kind, func(t *testing.T) {
				t.Parallel()
				holdAgainst(t, kind, of, steps[kind])
			})
		}
	}
}

func decodeAs(of reflect.Type, value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	into := reflect.New(of)
	if err := decode.Into(text, into.Interface()); err != nil {
		return "", err
	}
	again, err := json.Marshal(into.Interface())
	return string(again), err
}

// madeAnew are members that a place of the release before does not send, and that Adopt makes of the code and of those
// arguments that its row declares.
var madeAnew = regexp.MustCompile(`(conclusion|findings\[0\])\.(brief|meaning|args)\b`)

func holdAgainst(t *testing.T, name string, of reflect.Type, s *openapi3.Schema) {
	t.Helper()
	whole := sample(s, 0)
	text, err := decodeAs(of, whole)
	if err != nil {
		t.Errorf("%s, as described, is refused: %v", name, err)
		return
	}
	var again any
	if err := json.Unmarshal([]byte(text), &again); err != nil || !reflect.DeepEqual(again, plain(t, whole)) {
		t.Errorf("%s has changed (-want +got):\n%s", name, cmp.Diff(plain(t, whole), again))
	}
	broken := 0
	breakIn(s, whole, func(what string) {
		broken++
		if got, err := decodeAs(of, whole); err == nil && !madeAnew.MatchString(what) {
			t.Errorf("%s with %s is decoded as %.50s", name, what, got)
		}
	}, name)
	if len(s.Required) > 0 && broken < len(s.Required) {
		t.Errorf("%s was broken in %d ways only", name, broken)
	}
}

// holdHostile adds what no place sends.
func holdHostile(t *testing.T, of reflect.Type, s *openapi3.Schema) {
	t.Helper()
	whole := sample(s, 0).(map[string]any)
	want, err := decodeAs(of, whole)
	if err != nil {
		t.Fatal(err)
	}
	whole["news"] = map[string]any{"a": []any{1.0, "x", nil, map[string]any{"b": true}}, `c"\`: `}]"\`}
	if got, err := decodeAs(of, whole); err != nil || got != want {
		t.Errorf("with an unknown member: %v, %s; want %s", err, got, want)
	}
	for name, unknown := range map[string]string{
		"a million members":  "{" + strings.Repeat(`"a":{},`, 1_000_000) + `"a":{}}`,
		"a million elements": "[" + strings.Repeat("1,", 1_000_000) + "1]",
		"depth":              strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
	} {
		text := `{"news":` + unknown + `,` + want[1:]
		if err := decode.Into([]byte(text), reflect.New(of).Interface()); err == nil {
			t.Errorf("%s: decoded", name)
		}
	}
}

func plain(t *testing.T, v any) (p any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// chosen follows a schema to its first alternative, and reports whether another one is null.
func chosen(s *openapi3.Schema) (_ *openapi3.Schema, null bool) {
	for {
		if s.Type != nil && s.Type.Includes("null") {
			null = true
		}
		options := slices.Concat(s.OneOf, s.AnyOf)
		for _, o := range options {
			null = null || o.Value.Type != nil && o.Value.Type.Includes("null")
		}
		switch {
		case len(s.AllOf) > 0:
			s = s.AllOf[0].Value
		case options != nil:
			i := slices.IndexFunc(options, func(o *openapi3.SchemaRef) bool {
				return o.Value.Type == nil || !o.Value.Type.Is("null")
			})
			s = options[i].Value
		default:
			return s, null
		}
	}
}

// moment is a string that is a time too.
const moment = "2026-07-01T11:00:00Z"

// deepest is how deep the members go of a sample of a schema that holds itself.
const deepest = 6

// sample returns a value with every described member.
func sample(s *openapi3.Schema, depth int) any {
	s, _ = chosen(s)
	switch {
	case s.Const != nil:
		return s.Const
	case s.Enum != nil:
		return s.Enum[0]
	case s.Type.Includes("object"):
		o := map[string]any{}
		for name, p := range s.Properties {
			if name != "place" || depth > 0 { // the edge adds it
				o[name] = sample(p.Value, depth+1)
			}
		}
		if s.AdditionalProperties.Schema != nil {
			o["k"] = sample(s.AdditionalProperties.Schema.Value, depth+1)
		}
		return o
	case s.Type.Includes("array"):
		n := max(int(s.MinItems), 1)
		if depth > deepest {
			n = int(s.MinItems)
		}
		list := make([]any, n)
		for i := range list {
			list[i] = sample(s.Items.Value, depth+1)
		}
		return list
	case s.Type.Includes("string"):
		return moment
	case s.Type.Includes("boolean"):
		return true
	}
	if s.Min != nil {
		return max(*s.Min, 1)
	}
	return 1.0
}

// breakIn breaks each rule of a schema in turn, somewhere in the value that v is, and mends it again.
func breakIn(s *openapi3.Schema, v any, try func(what string), path string) {
	s, _ = chosen(s)
	switch v := v.(type) {
	case map[string]any:
		for name, p := range s.Properties {
			before, present := v[name]
			if !present {
				continue
			}
			if slices.Contains(s.Required, name) {
				delete(v, name)
				try(path + "." + name + " missing")
			}
			for what, wrong := range wrongs(p.Value, before) {
				v[name] = wrong
				try(path + "." + name + " " + what)
			}
			v[name] = before
			breakIn(p.Value, before, try, path+"."+name)
		}
		if extra := s.AdditionalProperties.Schema; extra != nil {
			before := v["k"]
			for what, wrong := range wrongs(extra.Value, before) {
				v["k"] = wrong
				try(path + ".k " + what)
			}
			v["k"] = before
			breakIn(extra.Value, before, try, path+".k")
		}
	case []any:
		if len(v) == 0 {
			return
		}
		before := v[0]
		for what, wrong := range wrongs(s.Items.Value, before) {
			v[0] = wrong
			try(path + "[0] " + what)
		}
		v[0] = before
		breakIn(s.Items.Value, before, try, path+"[0]")
	}
}

// wrongs are values that a schema does not allow, by what is wrong with them.
func wrongs(s *openapi3.Schema, right any) map[string]any {
	s, null := chosen(s)
	all := map[string]any{"of another type": 7.5}
	if !null {
		all["null"] = nil
	}
	switch right := right.(type) {
	case string:
		if s.Enum != nil || s.Const != nil {
			all["none of its values"] = "noneOfThem"
		}
	case bool:
		if s.Const != nil {
			all["false"] = false
		}
	case float64, int, uint64:
		all["of another type"] = "7"
		if s.Type != nil && s.Type.Includes("integer") {
			all["no whole number"] = 7.5
		}
		if s.Enum != nil {
			all["none of its values"] = 77
		}
		if s.Min != nil {
			all["too small"] = *s.Min - 1
		}
		if s.Max != nil {
			all["too large"] = *s.Max + 1
		}
	case []any:
		if s.MaxItems != nil {
			long := right
			for uint64(len(long)) <= *s.MaxItems {
				long = append(slices.Clip(long), right[0])
			}
			all[fmt.Sprint("with ", len(long), " elements")] = long
		}
		if s.MinItems > 0 {
			all["too short"] = right[:s.MinItems-1]
		}
	}
	return all
}

// Every tool says what its results are about.
func TestResultsForAnotherTarget(t *testing.T) {
	t.Parallel()
	for slug, inputs := range map[string][2]string{
		"dns-lookup": {"example.com", "example.org"}, "http-headers": {"https://example.com/", "https://example.com/x"},
		"ssl-checker": {"example.com:443", "example.com:8443"}, "uptime": {"https://example.com/", "http://example.com/"},
		"port-checker": {"example.com:80", "example.com:81"}, "ip-geolocation": {"8.8.8.8", "8.8.4.4"},
		"asn-lookup": {"AS15169", "AS15133"}, "whois-lookup": {"example.com", "example.org"},
		"redirect-checker": {"http://example.com/", "http://example.org/"},
		"robots-sitemap":   {"http://example.com/", "http://example.org/"}, "dns-resolver-check": {"example.com", "example.org"},
		"email-dns-health": {"example.com", "example.org"}, "security-headers": {"http://example.com/", "http://example.org/"},
		"traceroute": {"8.8.8.8", "8.8.4.4"}, "ping": {"example.com", "8.8.8.8"}, "packet-loss": {"example.com", "example.org"},
		"dns-delegation": {"example.com", "example.org"},
	} {
		tl := toolOf(t, slug)
		jobs := [2]tool.Job{}
		for i, input := range inputs {
			job, err := tl.Parse(tool.Input{Text: input})
			if err != nil {
				t.Fatalf("%s %s: %v", slug, input, err)
			}
			jobs[i] = job
		}
		for i, job := range jobs {
			result := reflect.New(tl.Result())
			if err := decode.Into([]byte(resultAbout(t, tl, inputs[0])), result.Interface()); err != nil {
				t.Fatalf("%s: %v", slug, err)
			}
			if err := job.Adopt(result.Interface()); (err == nil) != (i == 0) {
				t.Errorf("%s: a result about %s for a job about %s: %v", slug, inputs[0], inputs[i], err)
			}
		}
	}
}

func toolOf(t *testing.T, slug string) tool.Tool {
	t.Helper()
	all := All(Deps{})
	i := slices.IndexFunc(all, func(one tool.Tool) bool { return one.Slug() == slug })
	if i < 0 {
		t.Fatalf("no tool %s", slug)
	}
	return all[i]
}

// resultAbout returns a result with a known conclusion, and whatever names its target set to the input.
func resultAbout(t *testing.T, tl tool.Tool, input string) string {
	t.Helper()
	s, _ := described(describe(t, []tool.Tool{tl}), tl.Slug())
	data := sample(s, 0).(map[string]any)
	data["conclusion"].(map[string]any)["code"] = anyConclusion(tl)
	host, port, found := strings.Cut(input, ":")
	for _, name := range []string{"domain", "url", "query", "ip", "target", "address"} {
		if _, is := data[name].(string); is {
			data[name] = input
		}
	}
	if _, has := data["port"].(float64); has && found && tl.Slug() != "traceroute" {
		data["host"] = host
		var n float64
		_, _ = fmt.Sscan(port, &n)
		data["port"] = n
	}
	if controls, has := data["controls"].([]any); has {
		orderControls(t, s, controls, data["newerHeaders"].([]any))
	}
	if _, has := data["recordType"]; has {
		data["recordType"] = "A"
	}
	out, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// orderControls gives controls and newer headers their ids, in the order of the description.
func orderControls(t *testing.T, s *openapi3.Schema, controls, newer []any) {
	t.Helper()
	items := func(name string) *openapi3.Schema { return s.Properties[name].Value.Items.Value }
	for i, id := range items("controls").Properties["id"].Value.Enum {
		c := maps.Clone(controls[i].(map[string]any))
		c["id"] = id
		controls[i] = c
	}
	for i, name := range items("newerHeaders").Properties["name"].Value.Enum {
		h := maps.Clone(newer[i].(map[string]any))
		h["name"] = name
		newer[i] = h
	}
}

// anyConclusion returns the first code of a conclusion.
func anyConclusion(tl tool.Tool) string {
	var codes []string
	for code, row := range tl.Findings() {
		if row.State != "" {
			codes = append(codes, code)
		}
	}
	return slices.Min(codes)
}
