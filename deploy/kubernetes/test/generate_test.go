package kubernetes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"diagnostics/shared/netpolicy"
	"go.yaml.in/yaml/v3"
)

// value is a key of values.yaml.
type value struct {
	path   string
	node   *yaml.Node
	doc    string         // of the comment, after "# --"
	schema map[string]any // of the comment, after "# @schema"
	fields []*value
}

// readValues is values.yaml as a tree; its root has no path.
func readValues(t *testing.T) *value {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chartPath, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	root := &value{node: document.Content[0]}
	root.read(t)
	return root
}

func (v *value) read(t *testing.T) {
	t.Helper()
	if v.node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i < len(v.node.Content); i += 2 {
		key := v.node.Content[i]
		field := &value{path: strings.TrimPrefix(v.path+"."+key.Value, "."), node: v.node.Content[i+1]}
		field.readComment(t, key.HeadComment)
		field.read(t)
		v.fields = append(v.fields, field)
	}
}

// readComment reads the last paragraph: helm-docs takes a description from "# --" on.
func (v *value) readComment(t *testing.T, comment string) {
	t.Helper()
	paragraphs := strings.Split(comment, "\n\n")
	for line := range strings.Lines(paragraphs[len(paragraphs)-1]) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#"))
		switch text, isSchema := strings.CutPrefix(line, "@schema "); {
		case strings.HasPrefix(text, `"settings:`):
			v.schema = settingsSchema(t, strings.Trim(text, `"`)[len("settings:"):])
		case isSchema:
			if err := json.Unmarshal([]byte(text), &v.schema); err != nil {
				t.Fatalf("%s: %v in %s", v.path, err, text)
			}
		case strings.HasPrefix(line, "-- "):
			v.doc = line[len("-- "):]
		case v.doc != "":
			v.doc += " " + line
		}
	}
}

// TestSchema keeps values.schema.json equal to what values.yaml says of each value.
func TestSchema(t *testing.T) {
	t.Parallel()
	schema := readValues(t).jsonSchema()
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	// Helm hands the globals of a parent chart on to a dependency.
	schema["properties"].(map[string]any)["global"] = map[string]any{"type": "object"}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(schema); err != nil {
		t.Fatal(err)
	}
	generated(t, "values.schema.json", out.String())
}

func (v *value) jsonSchema() map[string]any {
	schema := map[string]any{"type": v.schemaType()}
	if v.doc != "" {
		schema["description"] = v.doc
	}
	if len(v.fields) > 0 {
		properties := map[string]any{}
		for _, f := range v.fields {
			properties[f.path[strings.LastIndex(f.path, ".")+1:]] = f.jsonSchema()
		}
		schema["properties"], schema["additionalProperties"] = properties, false
	}
	maps.Copy(schema, v.schema)
	return schema
}

func (v *value) schemaType() string {
	switch v.node.Kind {
	case yaml.MappingNode:
		return "object"
	case yaml.SequenceNode:
		return "array"
	}
	return map[string]string{"!!str": "string", "!!int": "integer", "!!bool": "boolean"}[v.node.Tag]
}

// row is a setting's in docs/settings.md: its name, whether a file can hold it, and its meaning.
var row = regexp.MustCompile("(?m)^\\| `([A-Z0-9_]+)`( \\(or `[A-Z0-9_]+`\\))? \\| [^|]+ \\| (.+) \\|$")

// settingsOf are the settings of a service with their meanings, out of docs/settings.md. A secret's is the name of its
// file: values are no place for secrets.
func settingsOf(t *testing.T, service string) map[string]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "<!-- settings:"+service+" -->")
	table, _, _ = strings.Cut(table, "<!-- /settings -->")
	settings := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		if m[2] != "" {
			m[1] += "_FILE"
		}
		settings[m[1]] = m[3]
	}
	if rows := strings.Count(table, "\n| `"); rows == 0 || rows != len(settings) {
		t.Fatalf("%d rows of %s, %d settings", rows, service, len(settings))
	}
	return settings
}

func settingsSchema(t *testing.T, service string) map[string]any {
	t.Helper()
	properties := map[string]any{}
	for name, doc := range settingsOf(t, service) {
		properties[name] = map[string]any{"type": []string{"string", "integer", "boolean"}, "description": doc}
	}
	return map[string]any{"properties": properties, "additionalProperties": false}
}

// TestValuesTable keeps the table of README.md equal to values.yaml, in the form of helm-docs.
func TestValuesTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| Key | Type | Default | Description |\n|-----|------|---------|-------------|\n")
	readValues(t).writeRows(t, &b)
	const start, end = "<!-- values -->\n", "<!-- /values -->"
	readme, err := os.ReadFile(filepath.Join(chartPath, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	before, rest, starts := strings.Cut(string(readme), start)
	_, after, ends := strings.Cut(rest, end)
	if !starts || !ends {
		t.Fatal("README.md has no table of values")
	}
	generated(t, "README.md", before+start+b.String()+end+after)
}

func (v *value) writeRows(t *testing.T, b *strings.Builder) {
	t.Helper()
	if len(v.fields) > 0 {
		for _, f := range v.fields {
			f.writeRows(t, b)
		}
		return
	}
	var plain any
	if err := v.node.Decode(&plain); err != nil {
		t.Fatal(err)
	}
	fallback, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"array": "list", "boolean": "bool", "integer": "int"}
	kind := v.schemaType()
	if name, ok := names[kind]; ok {
		kind = name
	}
	fmt.Fprintf(b, "| %s | %s | `%s` | %s |\n", v.path, kind, fallback, v.doc)
}

// TestRefusedNetworks keeps the exceptions of the network policies equal to netpolicy's blocks that are not public.
func TestRefusedNetworks(t *testing.T) {
	t.Parallel()
	var blocks []netip.Prefix
	for _, r := range netpolicy.Rows() {
		if !r.Public() {
			blocks = append(blocks, r.Prefix)
		}
	}
	// A block within another one says nothing more.
	blocks = slices.DeleteFunc(slices.Clone(blocks), func(inner netip.Prefix) bool {
		return slices.ContainsFunc(blocks, func(outer netip.Prefix) bool {
			return outer.Bits() < inner.Bits() && outer.Contains(inner.Addr())
		})
	})
	var b strings.Builder
	for _, p := range blocks {
		fmt.Fprintln(&b, p)
	}
	generated(t, filepath.Join("files", "refused-networks.txt"), b.String())
}

// generated compares a file of the chart with what it is generated from, or writes it where -update is set.
func generated(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join(chartPath, name)
	got, err := os.ReadFile(path)
	if string(got) == want {
		return
	}
	if !*update {
		t.Fatalf("%s is stale (%v): run make generate", path, err)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
