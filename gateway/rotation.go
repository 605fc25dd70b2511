package main

import (
	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/config"
)

// watchSecrets has the secrets that come from files taken again when these change, and counts what becomes of that.
// What stands in the environment itself stays as it was at the start.
func (s *service) watchSecrets(env []string) {
	if path := settings.FileOf(env, "DIAGNOSTICS_WORKER_TOKEN"); path != "" && s.worker != nil {
		s.files.Watch("worker_token", s.takeToken, path)
	}
	if path := settings.FileOf(env, "RATE_LIMIT_REDIS_TOKEN"); path != "" && s.redisPassword.Load() != nil {
		s.files.Watch("redis_password", s.takeRedisPassword, path)
	}
}

func (s *service) takeToken(contents [][]byte) error {
	value, err := settings.FileValue(contents[0])
	if err != nil {
		return err
	}
	var token config.WorkerToken
	if err := token.Decode(value); err != nil {
		return err
	}
	return s.worker.SetToken(token.Reveal())
}

// takeRedisPassword is for connections from now on; those that are open stay authenticated.
func (s *service) takeRedisPassword(contents [][]byte) error {
	value, err := settings.FileValue(contents[0])
	if err == nil {
		s.redisPassword.Store(&value)
	}
	return err
}
