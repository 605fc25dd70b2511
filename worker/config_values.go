package main

import (
	"strconv"

	"diagnostics/daemon/settings"
	"diagnostics/shared/workerapi"
)

// identity is a user or group id; 0 is unset, since becoming root is no way to drop rights.
type identity int

// maxIdentity is the highest id; the one above it means "no change" to the kernel.
const maxIdentity = 1<<32 - 2

func (i *identity) Decode(s string) error {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n < 1 || n > maxIdentity {
		return settings.ErrMalformed
	}
	*i = identity(n)
	return nil
}

// tokens are the bearer tokens that let in: one, or two while one replaces the other.
type tokens []settings.Secret

func (t *tokens) Decode(s string) (err error) {
	*t, err = settings.ParseTokens(s, workerapi.MinTokenLength)
	return err
}

func (t tokens) reveal() []string {
	var all []string
	for _, s := range t {
		all = append(all, s.Reveal())
	}
	return all
}
