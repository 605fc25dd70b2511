package ratelimit

import "github.com/redis/go-redis/v9"

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
