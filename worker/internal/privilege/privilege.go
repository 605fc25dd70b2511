// Package privilege gives away, on every thread of the process, all rights that an open socket does not need.
package privilege

import (
	"errors"
	"fmt"
	"os"

	libcap "kernel.org/pub/linux/libs/security/libcap/cap"
)

// Identity is whom to become. A zero field is left as it is.
type Identity struct{ UID, GID int }

// ErrIdentity says that the process may not change its user or group.
var ErrIdentity = errors.New("the process may not change its user or group")

// prSetNoNewPrivs is PR_SET_NO_NEW_PRIVS of prctl(2).
const prSetNoNewPrivs = 38

// Drop becomes the identity, rules out that any program started later gains rights (no_new_privs), and gives up every
// capability, the ambient ones included. A change of identity drops the supplementary groups too. After an error the
// process may hold some of its rights still and should end. Errors: ErrIdentity, the system's.
func Drop(to Identity) error {
	if err := become(to); err != nil {
		return fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	if _, err := libcap.Prctlw(prSetNoNewPrivs, 1); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := libcap.ResetAmbient(); err != nil {
		return fmt.Errorf("drop the ambient capabilities: %w", err)
	}
	if err := libcap.NewSet().SetProc(); err != nil {
		return fmt.Errorf("drop the capabilities: %w", err)
	}
	return nil
}

// become changes the groups first: afterwards the user may not.
func become(to Identity) error {
	if to == (Identity{}) {
		return nil
	}
	gid := to.GID
	if gid == 0 {
		gid = os.Getgid()
	}
	if err := libcap.SetGroups(gid); err != nil {
		return fmt.Errorf("set the group: %w", err)
	}
	if to.UID == 0 {
		return nil
	}
	if err := libcap.SetUID(to.UID); err != nil {
		return fmt.Errorf("set the user: %w", err)
	}
	return nil
}
