package places

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"diagnostics/daemon/files"
)

// Key is the key of the pseudonyms that other places get for this place's clients. No other place holds it: it is
// random, and neither a token nor derived from one. It is safe for concurrent use.
type Key struct {
	own    []byte // used until a shared key is known
	shared atomic.Pointer[[]byte]
	sharer Sharer // nil if nothing is shared
	start  time.Time
	next   atomic.Int64 // when the sharer is asked again, in nanoseconds since start
	log    *slog.Logger
}

// Sharer agrees with the other replicas of this place on a key: it returns theirs, or stores fresh as the first one.
type Sharer func(ctx context.Context, fresh []byte) ([]byte, error)

// minKey is the least length of a key, in bytes.
const minKey = 16

var errShortKey = errors.New("it is shorter than 16 bytes")

// NewKey returns a key that replicas share by the sharer; with nil it is new with each start.
func NewKey(sharer Sharer, log *slog.Logger) *Key {
	return &Key{own: []byte(rand.Text()), sharer: sharer, start: time.Now(), log: log}
}

// KeyFile returns the key that PLACE_HASH_KEY_FILE names. It creates a missing file; with checkOnly it only looks
// whether it could. An error names the setting.
func KeyFile(path string, checkOnly bool) (*Key, error) {
	k := NewKey(nil, nil)
	content, err := keyFile(path, k.own, checkOnly)
	if err != nil {
		return nil, fmt.Errorf("PLACE_HASH_KEY_FILE takes the path of a file that holds at least 16 bytes, or that can be "+
			"created: %w", err)
	}
	k.shared.Store(&content)
	return k, nil
}

// accessWriteExecute is the mode of access(2) for a directory in which files can be created: W_OK and X_OK.
const accessWriteExecute = 3

// keyFile returns the content of a file, or creates it with fresh. Replicas that start together agree on one.
func keyFile(path string, fresh []byte, checkOnly bool) ([]byte, error) {
	if _, err := os.Lstat(path); checkOnly && errors.Is(err, fs.ErrNotExist) {
		return fresh, syscall.Access(filepath.Dir(path), accessWriteExecute)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- the operator chose it
	switch {
	case err == nil:
		_, err = f.Write(fresh)
		return fresh, errors.Join(files.WithoutPath(err), f.Sync(), f.Close())
	case !errors.Is(err, fs.ErrExist):
		return nil, files.WithoutPath(err)
	}
	for range 10 { // another replica may be writing it
		content, err := os.ReadFile(path) // #nosec G304 -- the operator chose it
		if err != nil {
			return nil, files.WithoutPath(err)
		}
		if len(content) >= minKey {
			return content, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, errShortKey
}

// keyRetry is the time between two attempts to share the key.
const keyRetry = 10 * time.Second

// Get returns the key. While sharing fails it is this instance's own, and the shares at other places count anew.
func (k *Key) Get(ctx context.Context) []byte {
	if shared := k.shared.Load(); shared != nil {
		return *shared
	}
	now, due := int64(time.Since(k.start)), k.next.Load()
	if k.sharer == nil || now < due || !k.next.CompareAndSwap(due, now+int64(keyRetry)) {
		return k.own
	}
	key, err := k.sharer(ctx, k.own)
	if err != nil || len(key) < minKey {
		k.log.Warn("the key of the pseudonyms for other places cannot be shared through Redis at the moment: replicas of " +
			"this place give their own")
		return k.own
	}
	k.shared.Store(&key)
	return key
}
