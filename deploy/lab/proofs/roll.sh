#!/usr/bin/env bash
# Replaces three gateways on loopback one after the other, under load, by those of another version and back, behind nginx
# and Caddy with the files of deploy/proxies. A request that is not answered fails it. `proof roll` calls it; wrk sends.
#
#   deploy/lab/proofs/roll.sh BINARY OTHER-BINARY
set -euo pipefail
cd "$(dirname "$0")/../../.."
this=$1 other=$2 dir=$(mktemp -d) ports=(18180 18181 18182) origin=18443
declare -A pids
stop() { kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$dir"; }
trap stop EXIT

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=tools.localhost \
  -addext subjectAltName=DNS:tools.localhost -keyout "$dir/key.pem" -out "$dir/cert.pem" 2>/dev/null
chmod 755 "$dir"

gateway() { # gateway BINARY PORT
  env GATEWAY_LISTEN_ADDR="127.0.0.1:$2" TRUST_PROXY_HEADERS=true TRUSTED_PROXY_CIDRS=127.0.0.1/32 LOG_LEVEL=error \
    CLIENT_ADDRESS_HEADER=x-real-ip PUBLIC_ORIGIN=https://tools.localhost SHUTDOWN_DELAY="${SHUTDOWN_DELAY:-5s}" \
    RATE_LIMIT_REQUESTS=1000000000 RATE_LIMIT_CLIENT_REQUESTS=1000000000 MAX_IN_FLIGHT_PER_CLIENT=512 \
    RATE_LIMIT_SAMPLES=1000000000 RATE_LIMIT_PAGES=1000000000 "$1" >>"$dir/$2.log" 2>&1 &
  pids[$2]=$!
  until curl -fso /dev/null "http://127.0.0.1:$2/readyz"; do sleep 0.1; done
}

nginx_proxy() {
  sed -E "s|( *)server 127.0.0.1:8080(.*)|$(printf '\\1server 127.0.0.1:%s\\2\\n' "${ports[@]}" | sed -z 's/\n/\\n/g')|
    /^ *listen \[/d; s|^ *listen 80;|listen 127.0.0.1:18444;|; s|^ *listen 443 |listen 127.0.0.1:$origin |
    s|/etc/letsencrypt/live/tools.example.com/fullchain|$dir/cert|; s|/etc/letsencrypt/live/tools.example.com/privkey|$dir/key|
    s|tools.example.com|tools.localhost|" deploy/proxies/nginx.conf >"$dir/site.conf"
  printf '%s\n' 'daemon off; user root;' "pid $dir/pid; error_log $dir/proxy.log;" 'events { worker_connections 4096; }' \
    "http { access_log off; client_body_temp_path $dir/b; proxy_temp_path $dir/p; fastcgi_temp_path $dir/f;" \
    "uwsgi_temp_path $dir/u; scgi_temp_path $dir/s; include $dir/site.conf; }" >"$dir/nginx.conf"
  nginx -c "$dir/nginx.conf" -e "$dir/proxy.log" & pids[proxy]=$!
}

caddy_proxy() {
  sed "s|servers {|admin off\nhttp_port 18444\n&|
    s|tools.example.com} {|&\n\ttls $dir/cert.pem $dir/key.pem|" deploy/proxies/Caddyfile >"$dir/Caddyfile"
  PUBLIC_DOMAIN=":$origin" GATEWAYS="to ${ports[*]/#/127.0.0.1:}" HOME=$dir XDG_DATA_HOME=$dir XDG_CONFIG_HOME=$dir \
    "${LAB_CADDY:-caddy}" run --adapter caddyfile --config "$dir/Caddyfile" 2>"$dir/proxy.log" & pids[proxy]=$!
}

cat >"$dir/load.lua" <<'LUA'
local n = 0
function request()
	n = n + 1
	if n % 2 == 0 then return wrk.format("GET", "/api/connection/ping", {Host = "tools.localhost"}) end
	return wrk.format("POST", "/api/tools/my-ip", {Host = "tools.localhost", ["Content-Type"] = "application/json"}, '{"input":""}')
end
function done(summary)
	local e = summary.errors
	print(string.format("%d answers, %d lost", summary.requests, e.connect + e.read + e.write + e.status + e.timeout))
end
LUA

failed=0
for proxy in ${PROXIES:-nginx caddy}; do
  for port in "${ports[@]}"; do gateway "$this" "$port"; done
  "${proxy}_proxy"
  until curl -fsko /dev/null --connect-to "::127.0.0.1:$origin" https://tools.localhost/healthz; do sleep 0.2; done
  for binary in "$other" "$this"; do
    wrk -t1 -c16 -d35s -s "$dir/load.lua" "https://127.0.0.1:$origin" >"$dir/load.log" & load=$!
    sleep 2
    for port in "${ports[@]}"; do
      kill "${pids[$port]}" && wait "${pids[$port]}"
      gateway "$binary" "$port"
      sleep 2 # the proxy has seen it
    done
    wait "$load"
    result=$(grep 'answers' "$dir/load.log")
    echo "$proxy, to $("$binary" -version): $result"
    [[ $result == *', 0 lost' ]] || { failed=1; cat "$dir/load.log"; tail -n 5 "$dir/proxy.log"; }
  done
  kill "${pids[@]}"; wait; pids=()
done
exit "$failed"
