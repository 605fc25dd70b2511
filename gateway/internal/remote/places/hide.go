package places

import (
	"encoding/json"

	"diagnostics/gateway/internal/apidoc/shape"
	"diagnostics/shared/workerapi"
)

// The members of a trace that may show private networks.
const (
	slugTrace   = "traceroute"
	memberPlace = "place"
	kindHop     = "hop"
)

// hide removes from a trace what shows private networks: the place has done so already, and this is for one that is
// wrong, older or not ours.
func (a answers) hide(data json.RawMessage) (json.RawMessage, error) {
	if a.slug != slugTrace {
		return data, nil
	}
	all, err := shape.Members(data)
	if err != nil {
		return nil, err
	}
	for i, m := range all {
		if all[i].Value, err = a.hideMember(m); err != nil {
			return nil, err
		}
	}
	return shape.Object(all), nil
}

func (a answers) hideMember(m shape.Member) (json.RawMessage, error) {
	switch m.Name {
	case "hops":
		var hops []json.RawMessage
		if err := json.Unmarshal(m.Value, &hops); err != nil {
			return nil, err
		}
		for i := range hops {
			var err error
			if hops[i], err = a.hideHop(hops[i]); err != nil {
				return nil, err
			}
		}
		return json.Marshal(hops)
	case "explanation", "conclusion", "findings", "mtu":
		return a.hideTexts(m.Value)
	}
	return m.Value, nil
}

// hideStep is hide for the value of a step.
func (a answers) hideStep(kind string, value json.RawMessage) (json.RawMessage, error) {
	switch {
	case value == nil:
		return nil, errNoValue
	case a.slug == slugTrace && kind == kindHop:
		return a.hideHop(value)
	}
	return value, nil
}

func (a answers) hideHop(value json.RawMessage) (json.RawMessage, error) {
	var hop workerapi.Hop
	if err := json.Unmarshal(value, &hop); err != nil {
		return nil, err
	}
	a.inside.HideHop(&hop)
	return json.Marshal(hop)
}

// hideTexts hides addresses in all strings of a value.
func (a answers) hideTexts(value json.RawMessage) (json.RawMessage, error) {
	var tree any
	if err := json.Unmarshal(value, &tree); err != nil {
		return nil, err
	}
	return json.Marshal(a.hideIn(tree))
}

func (a answers) hideIn(tree any) any {
	switch node := tree.(type) {
	case string:
		return a.inside.HideInText(node)
	case []any:
		for i := range node {
			node[i] = a.hideIn(node[i])
		}
	case map[string]any:
		for name := range node {
			node[name] = a.hideIn(node[name])
		}
	}
	return tree
}
