package config

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"diagnostics/daemon/files"
	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/limits/requests"
	"diagnostics/gateway/internal/target"
)

// A list in a file has one entry a line. "#" starts a comment, and an empty line is none. An error is a files.Reason
// that names the line and does not repeat it.

// ParseTargetList reads DENY_TARGETS_FILE.
func ParseTargetList(text []byte) (list target.Denylist, err error) {
	err = eachLine(text, "a CIDR, an address or a domain suffix", func(entry string) bool {
		return list.Add(entry) == nil
	})
	return list, err
}

// ParseNetworkList reads HOST_ADDRESSES_FILE and DENY_CLIENTS_FILE.
func ParseNetworkList(text []byte) (list []netip.Prefix, err error) {
	err = eachLine(text, "an address or a CIDR", func(entry string) bool {
		p, err := parseNetwork(entry)
		list = append(list, p)
		return err == nil
	})
	return list, err
}

// ParseClientLimits reads CLIENT_LIMITS_FILE: a network, a factor and a label, with spaces between.
func ParseClientLimits(text []byte) (list []requests.ClientLimit, err error) {
	err = eachLine(text, "a network, a factor from 0.01 to 1000 and a label of letters, digits, _ and -, such as "+
		"192.0.2.0/24 10 office", func(entry string) bool {
		limit, ok := parseClientLimit(strings.Fields(entry))
		list = append(list, limit)
		return ok
	})
	return list, err
}

const (
	minFactor = 0.01
	maxFactor = 1000
)

func parseClientLimit(fields []string) (limit requests.ClientLimit, ok bool) {
	if len(fields) != 3 {
		return limit, false
	}
	network, err := parseNetwork(fields[0])
	if err != nil {
		return limit, false
	}
	factor, err := strconv.ParseFloat(fields[1], 64)
	if err != nil || !(factor >= minFactor && factor <= maxFactor) { // NaN is neither
		return limit, false
	}
	return requests.ClientLimit{Network: network, Factor: factor, Label: fields[2]}, label.MatchString(fields[2])
}

var label = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// eachLine calls take for each entry. The first that it does not take ends it.
func eachLine(text []byte, takes string, take func(entry string) bool) error {
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		n++
		entry, _, _ := strings.Cut(line, "#")
		if entry = strings.TrimSpace(entry); entry != "" && !take(entry) {
			return files.Reason(fmt.Sprintf("line %d is not %s", n, takes))
		}
	}
	return nil
}

// ListSetters take the lists in files, at the start and whenever a file changes.
type ListSetters struct {
	DenyTargets   func(target.Denylist)
	HostAddresses func([]netip.Prefix)
	DenyClients   func([]netip.Prefix)
	ClientLimits  func([]requests.ClientLimit)
}

// WatchLists reads the lists in files and lets the watcher reread them. An error names the setting.
func (c *Config) WatchLists(watcher *files.Watcher, set ListSetters) error {
	for _, list := range []struct {
		setting, name string
		path          settings.FilePath
		load          func([]byte) error
	}{
		{"DENY_TARGETS_FILE", "deny_targets", c.DenyTargetsFile, loader(ParseTargetList, set.DenyTargets)},
		{"HOST_ADDRESSES_FILE", "host_addresses", c.HostAddressesFile, loader(ParseNetworkList, set.HostAddresses)},
		{"DENY_CLIENTS_FILE", "deny_clients", c.DenyClientsFile, loader(ParseNetworkList, set.DenyClients)},
		{"CLIENT_LIMITS_FILE", "client_limits", c.ClientLimitsFile, loader(ParseClientLimits, set.ClientLimits)},
	} {
		if list.path == "" {
			continue
		}
		of := files.Source{Name: list.name, Setting: list.setting}
		if err := watcher.LoadList(of, list.load, string(list.path)); err != nil {
			return fmt.Errorf("%s takes the path of a file with one entry a line: %w", list.setting, err)
		}
	}
	return nil
}

func loader[T any](parse func([]byte) (T, error), set func(T)) func([]byte) error {
	return func(text []byte) error {
		list, err := parse(text)
		if err == nil {
			set(list)
		}
		return err
	}
}
