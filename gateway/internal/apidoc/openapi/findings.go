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
	catalogue := t.Findings()
	if len(catalogue.Conclusions) == 0 {
		return nil, nil
	}
	var rows strings.Builder
	rows.WriteString("Worst first. The codes:\n")
	codes := slices.Sorted(maps.Keys(catalogue.Findings))
	for _, code := range codes {
		f := catalogue.Findings[code]
		fmt.Fprintf(&rows, "- `%s` (%s, %s) %s\n", code, f.Severity, f.Group, f.Reference)
	}
	conclusion, err := json.Marshal(withCodes("Conclusion", slices.Sorted(maps.Keys(catalogue.Conclusions))))
	if err != nil {
		return nil, err
	}
	findings, err := json.Marshal(map[string]any{
		"type": "array", "description": rows.String(), "items": withCodes("Finding", codes),
	})
	if err != nil {
		return nil, err
	}
	name := resultName(t.Slug())
	return []entry{
		{key: name + "Conclusion", value: string(conclusion)},
		{key: name + "Findings", value: string(findings)},
	}, nil
}

// withCodes is a shared schema whose code is one of these.
func withCodes(schema string, codes []string) map[string]any {
	return map[string]any{"allOf": []any{
		map[string]any{"$ref": "#/components/schemas/" + schema},
		map[string]any{"properties": map[string]any{"code": map[string]any{"enum": codes}}},
	}}
}
