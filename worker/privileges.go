package main

import "errors"

func dropPrivileges(c Config) error {
	if c.RunAsUID != 0 || c.RunAsGID != 0 {
		return errors.New("RUN_AS_UID and RUN_AS_GID cannot be honoured yet")
	}
	return nil
}
