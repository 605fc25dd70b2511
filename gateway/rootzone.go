package main

import (
	"fmt"
	"net/netip"

	"diagnostics/gateway/internal/analyze/rootzone"
	"diagnostics/gateway/internal/config"
)

// rootZone is where dns-delegation begins.
type rootZone struct {
	hints   rootzone.Hints
	anchors rootzone.Anchors
	// exempt are the addresses of DNS_ROOT_HINTS_FILE.
	exempt []netip.Addr
}

// readRoot reads the files of the settings, or takes the built-in data. An error names the setting and the file.
func readRoot(c config.Config, read func(path string) ([]byte, error)) (root rootZone, err error) {
	root = rootZone{hints: rootzone.DefaultHints(), anchors: rootzone.DefaultAnchors()}
	if path := string(c.RootHintsFile); path != "" {
		root.hints, err = readZoneFile("DNS_ROOT_HINTS_FILE", path, read, rootzone.ParseHints)
		if err != nil {
			return rootZone{}, err
		}
		root.hints.Source, root.exempt = "DNS_ROOT_HINTS_FILE", root.hints.Addresses()
	}
	if path := string(c.TrustAnchorsFile); path != "" {
		root.anchors, err = readZoneFile("DNS_TRUST_ANCHORS_FILE", path, read, rootzone.ParseAnchors)
		if err != nil {
			return rootZone{}, err
		}
		root.anchors.Source = "DNS_TRUST_ANCHORS_FILE"
	}
	return root, nil
}

func readZoneFile[T any](
	setting, path string, read func(string) ([]byte, error), parse func(string) (T, error),
) (parsed T, err error) {
	text, err := read(path)
	if err == nil {
		parsed, err = parse(string(text))
	}
	if err != nil {
		return parsed, fmt.Errorf("%s: %s: %w", setting, path, err)
	}
	return parsed, nil
}
