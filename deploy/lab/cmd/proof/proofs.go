package main

// proof is a named shell script that is run at the root of the repository, with the further arguments as "$@".
type proof struct{ name, shows, script string }

// axe is the accessibility checker of the browser tests, a file target of the Makefile.
const axe = ".artifacts/node/node_modules/axe-core/axe.min.js"

const (
	e2e     = `go test -C deploy/lab -tags e2e -count=1 -timeout 20m `
	withAxe = `make --no-print-directory "$PWD/` + axe + "\"\n"
	compose = withAxe + `make --no-print-directory build
		go test -C deploy/lab -tags compose -count=1 -timeout 20m -v `
)

// shotTests look at the pages: with answers, without, while they run, and on watch.
const shotTests = `'^(TestEveryPage|TestMyIPWithoutAProxy|TestReports|TestErrorsLeadOn|TestForeignLinksWaitForAClick|` +
	`TestHostileStepsStayText|TestCancelEndsTheRun|TestFailuresKeepWhatCameBefore|TestWatchAPath|TestWatchRounds)$'`

const costTests = `'^(TestWorstCases|TestNoRunCostsMuchProcessorTime|TestMemoryUnderAttack|TestAThousandStreams)$'`

var proofs = []proof{
	{"soak", "half of what this machine can do for half an hour, with faults; -for 2m is the shortest (root)",
		`exec go run -C deploy/lab ./proofs/soak "$@"`},
	{"costs", "what runs send, receive and compute at their worst, and a gateway's memory under attack (root)",
		e2e + `-run ` + costTests + ` ./e2e "$@"`},
	{"blame", "128 runs on a processor that is taken, and a thousand against silent targets on an idle machine (root)",
		e2e + `-v -run '^(TestNoProcessorTime|TestSilenceOnAnIdleMachine)$' ./e2e "$@"`},
	{"tls", "the lab's TLS servers as testssl.sh and sslscan see them; -only PATTERN for some (root)",
		`exec go run -C deploy/lab ./proofs/tls "$@"`},
	{"dnssec", "the lab's signed zones as dns-delegation and four others see them; -only PATTERN, -quick (root)",
		`exec go run -C deploy/lab ./proofs/dnssec "$@"`},
	{"pages", "the pages over a slow link, both themes at both widths, and as Lighthouse sees them (root, npm, Chromium)",
		withAxe + `make --no-print-directory build
		LAB_EXACT=1 ` + e2e + `-v -run '^(TestSlowLink|TestEveryPage)$' ./e2e
		deploy/lab/proofs/lighthouse/proof.sh`},
	{"compose-test", "docker-compose.yml on this machine's engine, as operators and visitors see it (root)",
		compose + `-skip '^(TestCommandsOfThePages|TestRollBothWays|TestRollOfWorkers|TestUp)$' \
		./compose "$@"`},
	{"compose", "the same, the commands of the documentation, and every file with Compose v2, built for it (root)",
		`COMPOSE_V2=$(deploy/lab/proofs/compose-v2.sh)
		export COMPOSE_V2
		` + compose + `-skip '^TestRollBothWays$' ./compose "$@"`},
	{"roll", "gateways replaced under load, from this version to ROLL_FROM and back, behind Caddy and nginx (root, wrk)",
		`export ROLL_FROM=${ROLL_FROM:-HEAD~20} GOBIN=$PWD/.artifacts/tools
		other=$(mktemp -d)
		trap 'rm -rf "$other"' EXIT
		git archive "$ROLL_FROM" | tar -x -C "$other"
		make --no-print-directory -C "$other" build VERSION="$ROLL_FROM" COMMIT="$(git rev-parse "$ROLL_FROM")"
		make --no-print-directory build
		deploy/lab/proofs/roll.sh bin/gateway "$other/bin/gateway"
		tag=$(sed -n 's/^ *image: caddy:\([0-9.]*\)-.*/\1/p' deploy/compose.tls.yml)
		(cd / && GOFLAGS= CGO_ENABLED=0 go install "github.com/caddyserver/caddy/v2/cmd/caddy@v$tag")
		export LAB_CADDY=$GOBIN/caddy
		go test -C deploy/lab -tags compose -count=1 -timeout 20m -v -run '^TestRollBothWays$' ./compose "$@"`},
	{"kubernetes", "the chart in a cluster of two nodes, built for it: upgraded, drained, attacked; -previous REF (root)",
		`exec go run -C deploy/lab ./proofs/kubernetes "$@"`},
	{"package", "the packages in a Debian booted for it: installed, hardened, running, upgraded, purged (root)",
		`exec deploy/package/proof.sh`},
	{"limits", "memory and time that the limits take for a million clients, before and after they expire",
		`LIMITS_CLIENTS=1000000 go test -count=1 -timeout 20m -v -run '^TestManyClients' ` +
			`./gateway/internal/limits/ratelimit "$@"`},
	{"scale", "a thousand gateways on one Redis, and on a cluster of three; SCALE_GATEWAYS=200 for fewer",
		`SCALE_GATEWAYS=${SCALE_GATEWAYS:-1000} go test -count=1 -timeout 10m -v -run '^TestScale' ./gateway "$@"`},
	{"fuzz", "every fuzz target, a minute or five each; FUZZTIME and FUZZ: see deploy/fuzz.sh",
		`exec deploy/fuzz.sh`},
	{"vulncheck", "known vulnerabilities in what the services call (needs the internet)",
		`for module in shared shared/daemon shared/hostroute gateway worker deploy/lab; do
			echo "vulncheck $module"
			(cd "$module" && GOWORK=off go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...)
		done`},

	{"golden", "records the service's answers in the lab anew (root)",
		e2e + `-run '^TestGoldenAnswers$' ./e2e -update "$@"`},
	{"lines", "the first lines of every tool at hundreds of targets of the lab, recorded anew and printed (root)",
		`make --no-print-directory build
		export LAB_GATEWAY=$PWD/bin/gateway LAB_WORKER=$PWD/bin/worker
		` + e2e + `-run '^TestGoldenAnswers$/^lines$' ./e2e -update "$@" >&2
		sed 's,^POST /api/tools/,,; s,^< [0-9]* ,  ,; s,^| ,  ,' deploy/lab/e2e/testdata/golden/lines.txt`},
	{"worst-cases", "measures what each tool sends and receives at its worst, and writes docs/security.md anew (root)",
		e2e + `-run '^TestWorstCases$' ./e2e -update "$@"`},
	{"shots", "screenshots of every page in every state into .artifacts/screenshots (root, npm, Chromium)",
		withAxe + `LAB_SCREENSHOTS=$PWD/.artifacts/screenshots ` + e2e + `-run ` + shotTests + ` ./e2e "$@"`},
	{"picture", "the picture that other sites show beside a link, drawn anew by Chromium",
		`chromium --headless --no-sandbox --disable-background-networking --hide-scrollbars --window-size=1200,630 \
			--screenshot="$PWD/gateway/web/assets/shared-link.png" "file://$PWD/gateway/web/picture/shared-link.html"`},
	{"bootstrap", "fetches IANA's lists of RDAP registries into the built-in copy (needs the internet)",
		`cd gateway/internal/providers/rdap/bootstrap/copy
		trap 'rm -f ./*.json.new' EXIT
		for list in dns ipv4 ipv6 asn; do
			curl -fsS --proto =https --max-time 60 --max-filesize 1048576 -o $list.json.new \
				https://data.iana.org/rdap/$list.json
		done
		for list in dns ipv4 ipv6 asn; do mv $list.json.new $list.json; done
		go test -count=1 -run '^TestTheCopy$' ..`},
}
