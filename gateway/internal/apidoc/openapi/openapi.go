// Package openapi puts the description of the API together: openapi.yaml here says what tools share, and every tool
// brings an openapi.yaml of its own. Text is cut at its keys and indented anew: that leaves what YAML says as it was,
// comments and order included, and is served as it is; package reference reads it for the page /api.
//
// A tool's file has two keys:
//
//	operation:
//	  summary:           what the tool does, in a few words
//	  description:       what else a caller needs to know; optional
//	  input:             schema of the input
//	  requestExamples:   one of them typical, which a test sends
//	  responseExamples:  optional
//	  steps:             an anyOf of the schemas of a step of a stream, conclusions left out; by default there are stages
//	schemas:
//	  DnsLookup:         the result of dns-lookup, named after the slug
//	  …:                 what else this tool alone needs
package openapi

import (
	_ "embed" // what the tools share
	"errors"
	"fmt"
	"regexp"
	"strings"

	"diagnostics/gateway/internal/tool"
)

//go:embed openapi.yaml
var shared string

// Document is the description of the API with these tools: OpenAPI 3.1, as YAML. An error names the file at fault.
func Document(tools []tool.Tool) (string, error) {
	described := make([]description, 0, len(tools))
	var missing []error
	for _, t := range tools {
		d, err := describe(t)
		if err != nil {
			missing = append(missing, fmt.Errorf("%s: %w", File(t.Slug()), err))
		}
		described = append(described, d)
	}
	if len(missing) > 0 {
		return "", errors.Join(missing...)
	}
	return assemble(shared, described)
}

func assemble(shared string, tools []description) (string, error) {
	top, err := cut(shared)
	if err != nil {
		return "", err
	}
	for i := range top {
		switch e := &top[i]; e.key {
		case "paths":
			e.body, err = withPaths(e.body, tools)
		case "components":
			e.body, err = withSchemas(e.body, tools)
		}
		if err != nil {
			return "", err
		}
	}
	return join(top), nil
}

// toolPath is the path of openapi.yaml that stands for every tool.
const toolPath = "/api/tools/{slug}"

func withPaths(text string, tools []description) (string, error) {
	paths, err := cut(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, path := range paths {
		if path.key != toolPath {
			b.WriteString(path.String())
			continue
		}
		for _, d := range tools {
			b.WriteString(d.fill(path.String()))
		}
	}
	return b.String(), nil
}

// fill makes the path of one tool from the one that stands for all.
func (d description) fill(path string) string {
	names := strings.NewReplacer("{slug}", d.slug, "{result}", ResultName(d.slug))
	var b strings.Builder
	for line := range strings.Lines(path) {
		margin, key, name, isPlaceholder := placeholder(line)
		if !isPlaceholder {
			_, _ = names.WriteString(&b, line)
			continue
		}
		if part, there := find(d.operation, name); there {
			part.key = key
			indent(&b, part.String(), margin)
		}
	}
	return b.String()
}

var word = regexp.MustCompile(`^\w+$`)

// placeholder reports whether a line is a key whose value is the name of a part in braces, and what it is made of.
func placeholder(line string) (margin, key, name string, is bool) {
	head, value, _ := strings.Cut(line, ": {")
	name, is = strings.CutSuffix(value, "}\n")
	key = strings.TrimLeft(head, " ")
	return strings.TrimSuffix(head, key), key, name, is && word.MatchString(name)
}

func withSchemas(text string, tools []description) (string, error) {
	components, err := cut(text)
	if err != nil {
		return "", err
	}
	for i := range components {
		if e := &components[i]; e.key == "schemas" {
			e.body, err = joinSchemas(e.body, tools)
		}
	}
	return join(components), err
}

// joinSchemas adds the schemas of the tools to those that they share.
func joinSchemas(text string, tools []description) (string, error) {
	all, err := cut(text)
	if err != nil {
		return "", err
	}
	failures, err := failureSchema()
	if err != nil {
		return "", err
	}
	all = append(all, failures...)
	for _, d := range tools {
		for _, schema := range d.schemas {
			if _, taken := find(all, schema.key); taken {
				return "", fmt.Errorf("%s: there is a schema %s elsewhere already", File(d.slug), schema.key)
			}
			all = append(all, schema)
		}
	}
	return join(all), nil
}
