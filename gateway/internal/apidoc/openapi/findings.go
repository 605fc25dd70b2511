package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"diagnostics/gateway/internal/tool"
)

// findingSchemas are the schemas of a tool's conclusion and findings, named PingConclusion and PingFindings for ping:
// the shared ones with all codes of the tool's catalogue. A tool without a catalogue has none.
func findingSchemas(t tool.Tool) ([]entry, error) {
	all := t.Findings()
	if len(all) == 0 {
		return nil, nil
	}
	var conclusions, findings []string
	var conclusionRows, findingRows strings.Builder
	conclusionRows.WriteString("The codes:\n")
	findingRows.WriteString("By weight, the highest first, then by code. The codes:\n")
	for _, code := range slices.Sorted(maps.Keys(all)) {
		row := all[code]
		if row.State != "" {
			conclusions = append(conclusions, code)
			fmt.Fprintf(&conclusionRows, "- `%s` (%s)\n", code, row.State)
		}
		if row.Severity != "" {
			findings = append(findings, code)
			fmt.Fprintf(&findingRows, "- `%s` (%s, %s, %d) %s\n", code, row.Severity, row.Group, row.Weight, row.Reference)
		}
	}
	conclusion := withCodes("Conclusion", conclusions)
	conclusion["description"] = conclusionRows.String()
	conclusionJSON, err := json.Marshal(conclusion)
	if err != nil {
		return nil, err
	}
	findingsJSON, err := json.Marshal(map[string]any{
		"type": "array", "description": findingRows.String(), "items": withCodes("Finding", findings),
	})
	name := ResultName(t.Slug())
	return []entry{
		{key: name + "Conclusion", value: string(conclusionJSON)},
		{key: name + "Findings", value: string(findingsJSON)},
	}, err
}

// withCodes is a shared schema whose code is one of these.
func withCodes(schema string, codes []string) map[string]any {
	return map[string]any{"allOf": []any{
		map[string]any{"$ref": "#/components/schemas/" + schema},
		map[string]any{"properties": map[string]any{"code": map[string]any{"enum": codes}}},
	}}
}
