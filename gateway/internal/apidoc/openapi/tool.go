package openapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/tool"
)

// description is what a tool's own openapi.yaml says.
type description struct {
	slug      string
	operation []entry
	schemas   []entry
}

// parts are what an operation says of itself; optional are those that it may leave out.
var (
	parts    = []string{"summary", "description", "input", "requestExamples", "responseExamples", "steps"}
	optional = []string{"description", "responseExamples", "steps"}
)

// File is where a tool is described, from the root of the repository.
func File(slug string) string {
	return "gateway/internal/tools/" + strings.ReplaceAll(slug, "-", "") + "/openapi.yaml"
}

// ResultName is the schema of a tool's result: DnsLookup for dns-lookup.
func ResultName(slug string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(slug, "-") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

func describe(t tool.Tool) (description, error) {
	d := description{slug: t.Slug()}
	if strings.TrimSpace(t.OpenAPI()) == "" {
		return d, errors.New("write this file, and give it to the tool's Spec as OpenAPI")
	}
	top, err := cut(t.OpenAPI())
	if err != nil {
		return d, err
	}
	for _, e := range top {
		switch e.key {
		case "operation":
			d.operation, err = cut(e.body)
		case "schemas":
			d.schemas, err = cut(e.body)
		default:
			err = fmt.Errorf("%s is neither operation nor schemas", e.key)
		}
		if err != nil {
			return d, err
		}
	}
	if err := d.check(); err != nil {
		return d, err
	}
	if err := d.addSteps(t); err != nil {
		return d, err
	}
	options, err := optionsEntry(t)
	if err != nil {
		return d, err
	}
	if err := d.withPlace(); err != nil {
		return d, err
	}
	d.operation = append(d.operation, options)
	findings, err := findingSchemas(t)
	d.schemas = append(d.schemas, findings...)
	return d, err
}

// addSteps adds the conclusion step to the steps that the tool describes, by default stages.
func (d *description) addSteps(t tool.Tool) error {
	const element = "- {$ref: '#/components/schemas/%s'}\n"
	steps, there := find(d.operation, "steps")
	if !there {
		steps = entry{key: "steps", body: "anyOf:\n" + fmt.Sprintf(element, "StageStep")}
	}
	if !strings.HasPrefix(steps.body, "anyOf:\n- ") {
		return errors.New("operation.steps is no anyOf with an element a line")
	}
	if len(t.Findings()) > 0 {
		steps.body = strings.TrimRight(steps.body, "\n") + "\n" + fmt.Sprintf(element, ResultName(d.slug)+"ConclusionStep")
	}
	d.operation = append(slices.DeleteFunc(d.operation, func(e entry) bool { return e.key == steps.key }), steps)
	return nil
}

// withPlace adds the member that the edge writes at the end of every result.
func (d description) withPlace() error {
	for i, schema := range d.schemas {
		if schema.key != ResultName(d.slug) || schema.body == "" {
			continue
		}
		parts, err := cut(schema.body)
		if err != nil {
			return err
		}
		for j := range parts {
			if parts[j].key == "properties" && parts[j].value == "" {
				parts[j].body = strings.TrimRight(parts[j].body, "\n") +
					"\nplace: {$ref: '#/components/schemas/Place'}\n"
			}
		}
		d.schemas[i].body = join(parts)
	}
	return nil
}

// check wants all that every tool must say, and nothing that has no place in the document.
func (d description) check() error {
	for _, e := range d.operation {
		if !slices.Contains(parts, e.key) {
			return fmt.Errorf("operation.%s is none of %s", e.key, strings.Join(parts, ", "))
		}
	}
	var missing []string
	for _, name := range parts {
		if e, there := find(d.operation, name); e.isEmpty() && (there || !slices.Contains(optional, name)) {
			missing = append(missing, "operation."+name)
		}
	}
	if _, there := find(d.schemas, ResultName(d.slug)); !there {
		missing = append(missing, "schemas."+ResultName(d.slug)+" (the tool's result)")
	}
	if missing != nil {
		return fmt.Errorf("missing: %s", strings.Join(missing, ", "))
	}
	return nil
}

func find(entries []entry, key string) (entry, bool) {
	i := slices.IndexFunc(entries, func(e entry) bool { return e.key == key })
	if i < 0 {
		return entry{}, false
	}
	return entries[i], true
}
