package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
)

// findingSchemas are the schemas of a tool's conclusion and findings, named PingConclusion and PingFindings for ping:
// the shared ones with all codes of the tool's catalogue. A tool without a catalogue has none.
func findingSchemas(t tool.Tool) ([]entry, error) {
	all := t.Findings()
	if len(all) == 0 {
		return nil, nil
	}
	name := ResultName(t.Slug())
	var findings []string
	var findingRows strings.Builder
	findingRows.WriteString("By weight, the highest first, then by code. The codes:\n")
	for _, code := range slices.Sorted(maps.Keys(all)) {
		row := all[code]
		if row.Severity != "" {
			findings = append(findings, code)
			fmt.Fprintf(&findingRows, "- `%s` (%s, %s, %d) %s\n", code, row.Severity, row.Group, row.Weight, row.Reference)
		}
	}
	return schemaEntries(map[string]any{
		name + "Conclusion": conclusionSchema(all),
		name + "Findings": map[string]any{
			"type": "array", "description": findingRows.String(), "items": withCodes("Finding", findings),
		},
		name + "ConclusionStep": map[string]any{
			"type": "object",
			"description": "What is known so far, sent again when that changes, or the conclusion of a run that failed. " +
				"The last line decides.",
			"required": []string{"kind", "conclusion", "atMs"}, "additionalProperties": false,
			"properties": map[string]any{
				"kind":       map[string]any{"const": "conclusion"},
				"conclusion": map[string]any{"anyOf": []any{schemaRef(name + "Conclusion"), schemaRef("FailureConclusion")}},
				"atMs":       schemaRef("AtMs"),
			},
		},
	})
}

// failureSchema is the schema of the conclusion of a run that failed.
func failureSchema() ([]entry, error) {
	return schemaEntries(map[string]any{"FailureConclusion": conclusionSchema(fault.Rows)})
}

// conclusionSchema is the shared schema with the codes of those rows that are conclusions.
func conclusionSchema(rows finding.Rows) map[string]any {
	var codes []string
	var list strings.Builder
	list.WriteString("The codes:\n")
	for _, code := range slices.Sorted(maps.Keys(rows)) {
		if state := rows[code].State; state != "" {
			codes = append(codes, code)
			fmt.Fprintf(&list, "- `%s` (%s)\n", code, state)
		}
	}
	conclusion := withCodes("Conclusion", codes)
	conclusion["description"] = list.String()
	return conclusion
}

// schemaEntries returns the schemas as entries in the order of their names.
func schemaEntries(schemas map[string]any) ([]entry, error) {
	var entries []entry
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		text, err := json.Marshal(schemas[name])
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{key: name, value: string(text)})
	}
	return entries, nil
}

func schemaRef(name string) map[string]any {
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// withCodes is a shared schema whose code is one of these.
func withCodes(schema string, codes []string) map[string]any {
	return map[string]any{"allOf": []any{
		schemaRef(schema),
		map[string]any{"properties": map[string]any{"code": map[string]any{"enum": codes}}},
	}}
}
