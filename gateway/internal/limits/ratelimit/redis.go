package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/redis/breaker"

	"github.com/redis/go-redis/v9"
)

// redisPrefix keeps the limits apart from the cache and from other programs on the same server.
const redisPrefix = "diagnostics:limit:"

// takeScript is bucket.take on the server's own clock: one key, and nothing that Redis 6 lacks. redis_rate's script
// could not be used, whatever its arithmetic: its client reads the reply at once and so cannot go into a pipeline.
//
// A key that holds what the script cannot have written, of another type or no level, is an empty bucket, and is written
// anew: to fail there would leave that bucket to the memory of each instance for as long as the key lives.
var takeScript = redis.NewScript(`
local n, window, slack, most = tonumber(ARGV[1]), tonumber(ARGV[2]), 1e-6, 1e9 + 1
local more = tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local level, at = 0, now
local kept = redis.pcall('GET', KEYS[1])
if type(kept) == 'table' and not string.find(kept.err, '^-?WRONGTYPE') then return kept end
if type(kept) == 'string' then
  local l, a = string.match(kept, '^(%d[%d.e+-]*) (%d+)$')
  level, at = l and tonumber(l) or 0, a and tonumber(a) or 0
end
if level > most then level = 0 end
level = math.max(level - math.max(now - at, 0) * n / window, 0)
local function keep()
  local ms = math.max(math.ceil(level * window / n / 1000), 1)
  redis.call('SET', KEYS[1], string.format('%.17g %.0f', level, now), 'PX', string.format('%.0f', ms))
end
if level + more > n + slack then
  if at > now then keep() end
  return {0, 0, math.ceil((level + more - n) * window / n), math.ceil(level * window / n)}
end
level = level + more
keep()
return {1, math.floor(n - level + slack), 0, math.ceil(level * window / n)}
`)

// distinctScript is distinctSet.take on the server's own clock: one key, a sorted set of the values by when each was
// seen last. A value of another kind in its place is not one of ours.
var distinctScript = redis.NewScript(`
local key, n, window, item = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function text(us) return string.format('%.0f', us) end
local kind = redis.call('TYPE', key)
if kind.ok ~= 'zset' and kind.ok ~= 'none' then redis.call('DEL', key) end
redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now - window))
for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. text(now), '+inf')) do
  redis.call('ZADD', key, text(now), ahead)
end
local function after(rank)
  return tonumber(redis.call('ZRANGE', key, rank, rank, 'WITHSCORES')[2]) + window - now
end
local others = redis.call('ZCARD', key)
local seen = redis.call('ZSCORE', key, item)
if not seen and others >= n then
  return {0, 0, after(others - n), after(-1)}
end
redis.call('ZADD', key, text(now), item)
redis.call('PEXPIRE', key, text(math.ceil(window / 1000)))
return {1, math.max(n - redis.call('ZCARD', key), 0), 0, window}
`)

type redisLimiter struct{ client redis.UniversalClient }

// NewRedis makes a Limiter whose buckets are shared by all who use that Redis. Take fails as the client does; bound it
// with NewFallback.
func NewRedis(client redis.UniversalClient) Limiter { return redisLimiter{client: client} }

// Take charges each stage in one pipeline. Each bucket is one script on one key, and keys of several slots may go to
// several nodes of a cluster. Where the time is up after some pipelines were answered, its error is
// breaker.ErrLate: a chain of several round trips may take longer than it is given though each is answered soon.
func (r redisLimiter) Take(ctx context.Context, stages ...Stage) (Decision, error) {
	t := taking{client: r.client}
	d, err := chain(stages, func(stage Stage) (Decision, error) { return t.stage(ctx, stage) })
	if t.answered && fault.IsTimeout(err) {
		err = fmt.Errorf("%w: %w", breaker.ErrLate, err)
	}
	return d, err
}

// taking is one Take under way.
type taking struct {
	client redis.UniversalClient
	// answered is true once a pipeline was.
	answered bool
	// forgotten is true once a node did not know a script. The nodes of later stages may not know theirs either.
	forgotten bool
}

func (t *taking) stage(ctx context.Context, stage Stage) (Decision, error) {
	on := slices.DeleteFunc(slices.Clone(stage), func(c Charge) bool { return !c.counts() })
	replies, err := t.run(ctx, on)
	if err != nil {
		return Decision{}, err
	}
	tightest := Decision{Allowed: true}
	for i, reply := range replies {
		d, err := decide(on[i], reply)
		if err != nil {
			return Decision{}, err
		}
		tightest = tightest.with(d)
	}
	return tightest, nil
}

// run sends a script's hash, and the script itself once more for the buckets whose node did not know it yet: a
// restart, a failover and SCRIPT FLUSH forget scripts. Later stages send the script at once then, so that a Take has
// one round trip more at most.
func (t *taking) run(ctx context.Context, on []Charge) ([]*redis.Cmd, error) {
	replies, unknown := make([]*redis.Cmd, len(on)), make([]int, 0, len(on))
	for i := range on {
		unknown = append(unknown, i)
	}
	for _, send := range t.senders() {
		if err := t.pipeline(ctx, on, replies, unknown, send); err != nil {
			return nil, err
		}
		if unknown = withoutScript(replies); len(unknown) == 0 {
			return replies, nil
		}
		t.forgotten = true
	}
	return nil, replies[unknown[0]].Err()
}

type sender func(
	script *redis.Script, ctx context.Context, to redis.Scripter, keys []string, args ...any,
) *redis.Cmd

func (t *taking) senders() []sender {
	if t.forgotten {
		return []sender{(*redis.Script).Eval}
	}
	return []sender{(*redis.Script).EvalSha, (*redis.Script).Eval}
}

func (t *taking) pipeline(ctx context.Context, on []Charge, replies []*redis.Cmd, which []int, send sender) error {
	if len(which) == 0 {
		return nil
	}
	pipe := t.client.Pipeline()
	for _, i := range which {
		script, args := on[i].script()
		replies[i] = send(script, ctx, pipe, []string{breaker.Key(redisPrefix, on[i].Key)}, args...)
	}
	// Exec's error is that of the first command that failed, and each reply has its own.
	_, _ = pipe.Exec(ctx)
	for _, i := range which {
		if err := replies[i].Err(); err != nil && !isNoScript(err) {
			return err
		}
	}
	t.answered = true
	return nil
}

// script is what judges the charge, and its arguments.
func (c Charge) script() (*redis.Script, []any) {
	if c.Item != 0 {
		return distinctScript, []any{c.Limit.Requests, wholeMicros(c.Limit.Window), c.Item}
	}
	window := strconv.FormatFloat(float64(c.Limit.Window)/float64(time.Microsecond), 'f', -1, 64)
	return takeScript, []any{c.Limit.Requests, window, c.times()}
}

func withoutScript(replies []*redis.Cmd) []int {
	var which []int
	for i, reply := range replies {
		if isNoScript(reply.Err()) {
			which = append(which, i)
		}
	}
	return which
}

func isNoScript(err error) bool { return err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") }

var errReply = errors.New("ratelimit: the script's reply has another shape")

func decide(c Charge, reply *redis.Cmd) (Decision, error) {
	v, err := reply.Int64Slice()
	if err != nil {
		return Decision{}, fmt.Errorf("%w: %w", errReply, err)
	}
	if len(v) != 4 {
		return Decision{}, errReply
	}
	return Decision{
		Key:        c.Key,
		Allowed:    v[0] == 1,
		Limit:      c.Limit.Requests,
		Remaining:  int(v[1]),
		RetryAfter: time.Duration(v[2]) * time.Microsecond,
		ResetAfter: time.Duration(v[3]) * time.Microsecond,
	}, nil
}
