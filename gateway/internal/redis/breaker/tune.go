package breaker

import (
	"context"
	"crypto/tls"
	"log"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// poolSize is how many connections a client has to one server at most, whatever the machine: by itself the driver
// takes ten a processor, and a thousand gateways would want more than the ten thousand that a Redis takes by default.
// Where an answer takes a millisecond, eight carry eight thousand round trips a second. Breaker makes no more calls at
// once.
const poolSize = 8

// Tune sets the bounds that Breaker relies on: calls obey their context, one retry, short timeouts, and a dialer that
// obeys its context through the TLS handshake as well (the driver's own does not). It must be called after TLSConfig is
// set; it replaces Dialer. It needs no feature that Redis 6 does not have. The driver's output goes to the process's
// standard logger from then on.
func Tune(o *redis.UniversalOptions) {
	redis.SetLogger(driverLog{})
	o.ContextTimeoutEnabled = true
	// One retry mends a pooled connection that died unnoticed.
	o.MaxRetries = 1
	o.MinRetryBackoff = time.Millisecond
	o.MaxRetryBackoff = 10 * time.Millisecond
	// Dials go on in the background when the call that wanted one has left, so they may take longer than a call.
	o.DialTimeout = probeTimeout
	o.DialerRetries = 1
	o.ReadTimeout = Bound
	o.WriteTimeout = Bound
	o.PoolTimeout = Bound
	o.PoolSize = poolSize
	o.PipelinePoolSize = -1
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.Dialer = dialer(o.TLSConfig)
}

func dialer(config *tls.Config) func(context.Context, string, string) (net.Conn, error) {
	plain := &net.Dialer{KeepAlive: 30 * time.Second}
	if config == nil {
		return plain.DialContext
	}
	return (&tls.Dialer{NetDialer: plain, Config: config}).DialContext
}

// driverLog hands the driver's own lines to the standard logger; by itself it writes one to stderr for every failed
// dial.
type driverLog struct{}

// Printf implements the driver's logging.Logging.
func (driverLog) Printf(_ context.Context, format string, v ...any) {
	log.Printf("redis: "+format, v...)
}
