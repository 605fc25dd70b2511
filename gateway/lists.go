package main

import (
	"fmt"

	"diagnostics/daemon/files"
	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/config"
)

// watchLists reads the lists in files, and rereads them when they change. An error names the setting.
func (s *service) watchLists(c config.Config) error {
	for _, list := range []struct {
		setting, name string
		path          settings.FilePath
		take          func([]byte) error
	}{
		{"DENY_TARGETS_FILE", "deny_targets", c.DenyTargetsFile, taker(config.ParseTargetList, s.egress.SetDenyFile)},
		{"HOST_ADDRESSES_FILE", "host_addresses", c.HostAddressesFile, taker(config.ParseNetworkList, s.egress.SetHostFile)},
		{"DENY_CLIENTS_FILE", "deny_clients", c.DenyClientsFile, taker(config.ParseNetworkList, s.edge.SetDeniedClients)},
		{"CLIENT_LIMITS_FILE", "client_limits", c.ClientLimitsFile, taker(config.ParseClientLimits, s.edge.SetClientLimits)},
	} {
		if list.path == "" {
			continue
		}
		of := files.Source{Name: list.name, Setting: list.setting}
		if err := s.files.LoadList(of, list.take, string(list.path)); err != nil {
			return fmt.Errorf("%s takes the path of a file with one entry a line: %w", list.setting, err)
		}
	}
	return nil
}

func taker[T any](parse func([]byte) (T, error), set func(T)) func([]byte) error {
	return func(text []byte) error {
		list, err := parse(text)
		if err == nil {
			set(list)
		}
		return err
	}
}
