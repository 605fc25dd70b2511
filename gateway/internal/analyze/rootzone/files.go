package rootzone

import (
	"fmt"
	"net/netip"
)

// Root is where a walk from the root begins.
type Root struct {
	Hints   Hints
	Anchors Anchors
	// Exempt are the addresses of a private root, which the address policy does not judge.
	Exempt []netip.Addr
}

// Read returns the root of DNS_ROOT_HINTS_FILE and DNS_TRUST_ANCHORS_FILE, whose paths may be empty for the built-in
// data. An error names the setting and the file.
func Read(hints, anchors string, readFile func(path string) ([]byte, error)) (root Root, err error) {
	root = Root{Hints: DefaultHints(), Anchors: DefaultAnchors()}
	if hints != "" {
		root.Hints, err = parseFile("DNS_ROOT_HINTS_FILE", hints, readFile, ParseHints)
		if err != nil {
			return Root{}, err
		}
		root.Hints.Source, root.Exempt = "DNS_ROOT_HINTS_FILE", root.Hints.Addresses()
	}
	if anchors != "" {
		root.Anchors, err = parseFile("DNS_TRUST_ANCHORS_FILE", anchors, readFile, ParseAnchors)
		if err != nil {
			return Root{}, err
		}
		root.Anchors.Source = "DNS_TRUST_ANCHORS_FILE"
	}
	return root, nil
}

func parseFile[T any](
	setting, path string, readFile func(string) ([]byte, error), parse func(string) (T, error),
) (parsed T, err error) {
	text, err := readFile(path)
	if err == nil {
		parsed, err = parse(string(text))
	}
	if err != nil {
		return parsed, fmt.Errorf("%s: %s: %w", setting, path, err)
	}
	return parsed, nil
}
