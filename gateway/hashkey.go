package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/redis/breaker"
)

// hashKey is the key of the pseudonyms that other places are given of this place's clients. No other place holds it: it
// is made here, and is neither a token nor made of one.
type hashKey struct {
	own    []byte // random; in use where the replicas share none
	shared atomic.Pointer[[]byte]
	redis  *breaker.Breaker // nil where nothing is shared
	name   string           // of the key in Redis
	since  time.Time        // the start
	next   atomic.Int64     // when Redis is asked again, in nanoseconds since then
	log    *slog.Logger
}

// newHashKey reads or makes the key of PLACE_HASH_KEY_FILE; without that setting it is shared through Redis, or is new
// with each start.
func (s *service) newHashKey(c config.Config, log *slog.Logger) (*hashKey, error) {
	k := &hashKey{own: []byte(rand.Text()), since: time.Now(), log: log}
	if path := string(c.PlaceHashKeyFile); path != "" {
		content, err := s.keyFile(path, k.own)
		if err != nil {
			return nil, fmt.Errorf("PLACE_HASH_KEY_FILE takes the path of a file that holds at least 16 bytes, or that can be "+
				"made: %w", err)
		}
		k.shared.Store(&content)
		return k, nil
	}
	k.redis, k.name = s.breaker, "diagnostics:place:hash-key:"+string(c.PlaceID)
	return k, nil
}

// minHashKey is the least length of a key, in bytes.
const minHashKey = 16

var errShortKey = errors.New("it is shorter than 16 bytes")

// writable is the mode of access(2) to a directory in which files can be made: W_OK and X_OK.
const writable = 3

// keyFile returns what a file holds; where there is none it makes it, with fresh for content, unless it only checks.
// Replicas that start together agree on one.
func (s *service) keyFile(path string, fresh []byte) ([]byte, error) {
	if _, err := os.Lstat(path); s.checks && errors.Is(err, fs.ErrNotExist) {
		return fresh, syscall.Access(filepath.Dir(path), writable)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- the operator chose it
	switch {
	case err == nil:
		_, err = f.Write(fresh)
		return fresh, errors.Join(withoutPath(err), f.Sync(), f.Close())
	case !errors.Is(err, fs.ErrExist):
		return nil, withoutPath(err)
	}
	for range 10 { // another replica may be writing it
		content, err := os.ReadFile(path) // #nosec G304 -- the operator chose it
		if err != nil {
			return nil, withoutPath(err)
		}
		if len(content) >= minHashKey {
			return content, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, errShortKey
}

func withoutPath(err error) error {
	if failed, is := errors.AsType[*fs.PathError](err); is {
		return failed.Err
	}
	return err
}

// retryKey is the time between two tries to share the key.
const retryKey = 10 * time.Second

// get returns the key. While Redis does not answer it is this instance's own, and shares at other places count anew.
func (k *hashKey) get(ctx context.Context) []byte {
	if shared := k.shared.Load(); shared != nil {
		return *shared
	}
	now, due := int64(time.Since(k.since)), k.next.Load()
	if k.redis == nil || now < due || !k.next.CompareAndSwap(due, now+int64(retryKey)) {
		return k.own
	}
	key, err := k.redis.Share(ctx, k.name, k.own)
	if err != nil || len(key) < minHashKey {
		k.log.Warn("the key of the pseudonyms for other places cannot be shared through Redis at the moment: replicas of " +
			"this place give their own")
		return k.own
	}
	k.shared.Store(&key)
	return key
}

func digestOf(text string, contents [][]byte) []byte {
	h := sha256.New()
	for _, part := range append([][]byte{[]byte(text)}, contents...) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write(part)
	}
	return h.Sum(nil)
}
