// Package archtest holds the arrows of the design: who must never import or call what. It has only tests, and each
// check is itself shown to fail.
package archtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	// root is the checkout, from this package's directory.
	root = "../../.."
	// offender is a module of its own that breaks a rule.
	offender = "testdata/offender"
)

// pkg is the output of go list for a package.
type pkg struct {
	ImportPath string
	Dir        string
	Standard   bool
	Imports    []string
	GoFiles    []string
}

// graph is a set of packages with all that they depend on.
type graph map[string]pkg

// list gives the packages of a module's directory with their dependencies, without their tests.
func list(t *testing.T, dir string) graph {
	t.Helper()
	g, err := lists.get(dir, func() (graph, error) { return listOf(dir) })
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func listOf(dir string) (graph, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,Imports,GoFiles", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as the binaries are built
	if dir == offender {
		cmd.Env = append(cmd.Env, "GOWORK=off")
	}
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go list in %s: %s", dir, exit.Stderr)
		}
		return nil, err
	}
	g := graph{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return g, nil
		} else if err != nil {
			return nil, err
		}
		g[p.ImportPath] = p
	}
}

// matches reports whether the path is the pattern, or lies under a pattern that ends in "/...".
func matches(path, pattern string) bool {
	if base, under := strings.CutSuffix(pattern, "/..."); under {
		return path == base || strings.HasPrefix(path, base+"/")
	}
	return path == pattern
}

func matchesAny(path string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(path, p) })
}

// chain gives the imports that lead from a package to a forbidden one, or nothing. direct looks no further than its
// own.
func (g graph) chain(from string, forbidden func(string) bool, direct bool) []string {
	type step struct {
		path string
		via  []string
	}
	seen := map[string]bool{from: true}
	for queue := []step{{from, []string{from}}}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g[queue[0].path].Imports {
			via := append(slices.Clone(queue[0].via), next)
			if forbidden(next) {
				return via
			}
			if !seen[next] && !direct {
				seen[next] = true
				queue = append(queue, step{next, via})
			}
		}
	}
	return nil
}

// rule is one arrow that must not be.
type rule struct {
	name   string
	module string   // directory of the module
	from   []string // whose imports
	except []string // but not these
	never  []string // what they must not reach
	only   []string // or: all but the standard library that they may reach
	apart  []string // or: they must not reach each other, but for these
	direct bool     // only what they import themselves
	reason string
}

// breaks gives one line for every package that breaks the rule.
func (r rule) breaks(g graph) []string {
	var out []string
	for path := range g {
		if !matchesAny(path, r.from) || matchesAny(path, r.except) {
			continue
		}
		forbidden := func(next string) bool { return r.forbids(g, path, next) }
		if chain := g.chain(path, forbidden, r.direct); chain != nil {
			out = append(out, strings.Join(chain, " -> "))
		}
	}
	slices.Sort(out)
	return out
}

// forbids reports whether a package that the rule is about must not reach another.
func (r rule) forbids(g graph, from, to string) bool {
	switch {
	case r.only != nil:
		return !g[to].Standard && !matchesAny(to, r.only)
	case r.apart != nil:
		return matchesAny(to, r.from) && !matchesAny(to, r.apart) && !matches(to, from+"/...")
	}
	return matchesAny(to, r.never)
}

const (
	echo  = "github.com/labstack/..."
	redis = "github.com/redis/..."
	dns   = "github.com/miekg/dns"
	gw    = "diagnostics/gateway"

	daemon    = "diagnostics/daemon"
	hostroute = "diagnostics/hostroute"
)

var rules = []rule{
	{
		name: "gateway to worker", module: "gateway", from: []string{gw + "/..."}, never: []string{"diagnostics/worker/..."},
		reason: "the public side and the privileged side meet over HTTP alone; shared/workerapi is what both know",
	},
	{
		name: "worker to gateway", module: "worker", from: []string{"diagnostics/worker/..."}, never: []string{gw + "/..."},
		reason: "the holder of raw sockets must not carry the public side's code",
	},
	{
		name: "shared to anything else", module: "shared", from: []string{"diagnostics/shared/..."},
		only: []string{"diagnostics/shared/...", "golang.org/x/net/idna", "golang.org/x/text/...", "golang.org/x/time/rate"},
		reason: "both sides build on it, so that it depends on the standard library, x/net/idna and, for the pace of " +
			"streams, x/time/rate only",
	},
	{
		name: "shared to I/O", module: "shared", from: []string{"diagnostics/shared/..."}, direct: true,
		// Tests alone import skiptest; cause names the types of net's errors.
		except: []string{"diagnostics/shared/skiptest", "diagnostics/shared/cause"},
		never:  []string{"net", "net/http", "os", "os/exec", "syscall", "log/...", "io/fs", "database/..."},
		reason: "the address policy is a pure function of an address",
	},
	{
		name: "daemon to anything else", module: "shared/daemon", from: []string{daemon + "/..."},
		except: []string{daemon + "/metrics"},
		// x/sys has the socket options of the listeners.
		only:   []string{daemon + "/...", "github.com/kelseyhightower/envconfig", "golang.org/x/sys/..."},
		reason: "both processes start with it, so that it carries neither side's code: no framework, no store, no DNS",
	},
	{
		name: "daemon's metrics to anything else", module: "shared/daemon", from: []string{daemon + "/metrics"}, direct: true,
		only:   []string{daemon, daemon + "/files", "github.com/prometheus/client_golang/..."},
		reason: "it hands the process's own numbers to Prometheus' library, which no other package of daemon needs",
	},
	{
		name: "Prometheus in the worker's main alone", module: "worker", from: []string{"diagnostics/worker/..."},
		except: []string{"diagnostics/worker"}, direct: true, never: []string{"github.com/prometheus/..."},
		reason: "a package reports to an observer interface of its own, which main implements",
	},
	{
		name: "daemon to commands", module: "shared/daemon", from: []string{daemon + "/..."}, never: []string{"os/exec"},
		reason: "neither process has commands to run",
	},
	{
		name: "hostroute to anything else", module: "shared/hostroute", from: []string{hostroute},
		only:   []string{"golang.org/x/sys/..."},
		reason: "both services ask the kernel through it, the privileged one too, so that it carries nothing else",
	},
	{
		name: "gateway below main to daemon", module: "gateway", from: []string{gw + "/..."},
		// These follow files that the operator replaces.
		except: []string{gw, gw + "/internal/config", gw + "/internal/httpapi/...", gw + "/internal/remote/places"},
		never:  []string{daemon + "/..."},
		reason: "runs know nothing of the process; everything below main gets what it needs",
	},
	{
		name: "gateway below main to config", module: "gateway", from: []string{gw + "/..."},
		except: []string{gw, gw + "/internal/config"},
		never:  []string{gw + "/internal/config"},
		reason: "main reads the settings; everything below gets what it needs",
	},
	{
		name: "worker below main to daemon", module: "worker", from: []string{"diagnostics/worker/..."},
		except: []string{"diagnostics/worker"},
		never:  []string{daemon + "/..."},
		reason: "what the process is told is main's to know; everything below gets what it needs",
	},
	{
		name: "tools to the web framework", module: "gateway", from: []string{gw + "/internal/tools/..."},
		never:  []string{echo},
		reason: "the framework stays at the edge, where a move to another is one package",
	},
	{
		name: "tools to Redis", module: "gateway", from: []string{gw + "/internal/tools/..."}, direct: true,
		never:  []string{redis, "github.com/go-redis/..."},
		reason: "what tools keep, they keep through cache",
	},
	{
		name: "tools to settings", module: "gateway", from: []string{gw + "/internal/tools/..."},
		never: []string{"github.com/kelseyhightower/envconfig", gw, gw + "/internal/config",
			gw + "/internal/httpapi/...", gw +
				"/internal/clientip/...", gw + "/internal/limits/ratelimit/...",
			gw + "/internal/limits/requests/...", gw + "/internal/limits/shares/..."},
		reason: "a tool's New takes what it uses; a tool knows neither the settings nor who asks",
	},
	{
		name: "tools to each other", module: "gateway", from: []string{gw + "/internal/tools/..."},
		// The package above them is the list, which knows every tool.
		except: []string{gw + "/internal/tools"}, apart: []string{gw + "/internal/tools/internal/..."},
		reason: "a tool stands alone: what two of them need is in tools/internal, or in a package beside tools",
	},
	{
		name: "production code to the tools' test support", module: "gateway", from: []string{gw + "/..."},
		except: []string{gw + "/internal/tools/internal/toolstest"},
		never:  []string{gw + "/internal/tools/internal/toolstest"},
		reason: "it fakes the internet and trusts authorities of its own making",
	},
	{
		name: "gateway to os/exec", module: "gateway", from: []string{gw}, never: []string{"os/exec"},
		reason: "no visitor's input can become a command where there are no commands",
	},
	{
		name: "the framework only at the edge", module: "gateway", from: []string{gw + "/..."},
		except: []string{gw + "/internal/httpapi/..."}, direct: true, never: []string{echo},
		reason: "handlers are thin, and everything below them is plain Go",
	},
	{
		name: "Prometheus only in package metrics and main", module: "gateway", from: []string{gw + "/..."},
		except: []string{gw + "/internal/httpapi/...", gw + "/internal/metrics/..."}, direct: true,
		never:  []string{"github.com/prometheus/..."},
		reason: "a package reports to an observer interface of its own, which package metrics implements",
	},
	{
		name: "gateway to raw sockets", module: "gateway", from: []string{gw + "/..."},
		never:  []string{"golang.org/x/net/icmp", "kernel.org/pub/linux/libs/security/libcap/..."},
		reason: "the gateway needs no right that any other web server does not have",
	},
	{
		name: "gateway to packet sockets", module: "gateway", from: []string{gw + "/..."}, direct: true,
		never:  []string{"golang.org/x/net/ipv4", "golang.org/x/net/ipv6", "golang.org/x/net/bpf"},
		reason: "packets are the worker's (miekg/dns uses these for its own UDP sockets)",
	},
	{
		name: "worker to framework, stores, DNS and commands", module: "worker", from: []string{"diagnostics/worker/..."},
		never:  []string{echo, redis, dns, "os/exec"},
		reason: "the privileged process carries as little as it can: no framework, no store, no resolver, no commands",
	},
	{
		name: "target and tool to the network", module: "gateway",
		from:   []string{gw + "/internal/target/...", gw + "/internal/tool/..."},
		never:  []string{"os/exec", dns, gw + "/internal/egress/..."},
		reason: "what a visitor typed is judged without a packet",
	},
	{
		name: "target and tool to the system", module: "gateway",
		from: []string{gw + "/internal/target/...", gw + "/internal/tool/..."}, direct: true,
		// x/net/publicsuffix drags net/http in for the sake of one interface.
		never:  []string{"net/http", "os", "syscall", "io/fs", "log/...", "golang.org/x/sys/..."},
		reason: "what a visitor typed is judged without I/O",
	},
	{
		name: "analyze to I/O", module: "gateway", from: []string{gw + "/internal/analyze/..."}, direct: true,
		// x/net/publicsuffix drags net/http in for the sake of one interface.
		// Only tests import these.
		except: []string{gw + "/internal/analyze/certs/certtest", gw + "/internal/analyze/weight/weighttest"},
		never: []string{"net/http", "os", "os/exec", "syscall", "io/fs", "log/...", "crypto/tls", redis, echo,
			"golang.org/x/sys/...", gw + "/internal/egress/...", gw + "/internal/providers/...", gw + "/internal/cache/..."},
		reason: "analyzers take bytes and return findings, so that hostile input is tested without a network",
	},
	{
		name: "web to tools", module: "gateway", from: []string{gw + "/web/..."}, never: []string{gw + "/internal/..."},
		reason: "the pages are the API's first user and know of the tools what their descriptors say",
	},
	{
		name: "egress to what uses it", module: "gateway", from: []string{gw + "/internal/egress/..."},
		never: []string{gw + "/internal/tools/...", gw + "/internal/httpapi/...", gw + "/internal/tool",
			gw + "/internal/tool/decode/..."},
		reason: "egress serves all tools and depends on none; failures have codes of package finding",
	},
	{
		name: "the DNS client to ways out of its own", module: "gateway",
		from:   []string{gw + "/internal/egress/dnsclient/..."},
		direct: true,
		never: []string{gw + "/internal/egress", gw + "/internal/egress/tlsscan/...", gw + "/internal/target/...",
			gw + "/internal/tools/...", "diagnostics/shared/netpolicy", "net/http", "crypto/tls"},
		reason: "it asks over connections that egress hands it, which alone judges who may be asked",
	},
}

func TestForbiddenImports(t *testing.T) {
	t.Parallel()
	graphs := map[string]graph{}
	for _, module := range []string{"gateway", "worker", "shared", "shared/daemon", "shared/hostroute"} {
		graphs[module] = list(t, filepath.Join(root, module))
	}
	for _, r := range rules {
		for _, chain := range r.breaks(graphs[r.module]) {
			t.Errorf("%s: %s\n\t%s", r.name, chain, r.reason)
		}
		if !slices.ContainsFunc(slices.Collect(keys(graphs[r.module])), func(p string) bool {
			return matchesAny(p, r.from) && !matchesAny(p, r.except)
		}) {
			t.Errorf("%s: there is no package that the rule is about", r.name)
		}
	}
}

func keys(g graph) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range g {
			if !yield(k) {
				return
			}
		}
	}
}

// wrongs are patterns of what the rule must catch.
func (r rule) wrongs() []string {
	switch {
	case r.only != nil:
		return append([]string{"example.com/stranger"}, r.never...)
	case r.apart != nil:
		return []string{strings.TrimSuffix(r.from[0], "/...") + "/another"}
	}
	return r.never
}

// Every rule must catch what it forbids, directly and, where it says so, over two steps.
func TestEveryRuleCanFail(t *testing.T) {
	t.Parallel()
	for _, r := range rules {
		from := strings.TrimSuffix(r.from[len(r.from)-1], "/...") + "/x"
		if !strings.HasSuffix(r.from[len(r.from)-1], "/...") {
			from = r.from[len(r.from)-1]
		}
		for _, pattern := range r.wrongs() {
			path := strings.TrimSuffix(pattern, "/...")
			g := graph{
				from:   {ImportPath: from, Imports: []string{"fmt", path}},
				"fmt":  {ImportPath: "fmt", Standard: true},
				path:   {ImportPath: path},
				"step": {ImportPath: "step", Standard: true, Imports: []string{path}},
			}
			if len(r.breaks(g)) != 1 {
				t.Errorf("%s: an import of %s passes", r.name, path)
			}
			g[from] = pkg{ImportPath: from, Imports: []string{"step"}}
			if got := len(r.breaks(g)); (got == 1) == r.direct {
				t.Errorf("%s: over two steps to %s: %d", r.name, path, got)
			}
			g[from] = pkg{ImportPath: from, Imports: []string{"fmt"}}
			if got := r.breaks(g); got != nil {
				t.Errorf("%s: an innocent package breaks it: %v", r.name, got)
			}
		}
	}
}

// Packages that stand apart may use what they share and what lies below them, and nothing that they share may use them.
func TestStandingApart(t *testing.T) {
	t.Parallel()
	r := rule{from: []string{"tools/..."}, except: []string{"tools"}, apart: []string{"tools/internal/..."}}
	g := graph{
		"tools":               {Imports: []string{"tools/ping", "tools/uptime"}},
		"tools/ping":          {Imports: []string{"tools/internal/probing", "tools/ping/packets"}},
		"tools/ping/packets":  {Imports: []string{"tools/internal/probing"}},
		"tools/pingpong":      {Imports: []string{"tools/ping"}},
		"tools/uptime":        {Imports: []string{"tools/internal/web"}},
		"tools/list":          {Imports: []string{"tools"}},
		"tools/internal/web":  {Imports: []string{"tools/headers"}},
		"tools/headers":       {Imports: []string{"target"}},
		"tools/traceroute":    {Imports: []string{"target", "tools/internal/probing"}},
		"tools/internal/also": {Imports: []string{"tools/internal/probing"}},
	}
	want := []string{
		"tools/internal/web -> tools/headers",
		"tools/list -> tools",
		"tools/pingpong -> tools/ping",
		"tools/uptime -> tools/internal/web -> tools/headers",
	}
	if got := r.breaks(g); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// And go list is read rightly: the offender in testdata reaches os/exec over a step of its own.
func TestTheOffenderIsFound(t *testing.T) {
	t.Parallel()
	g := list(t, offender)
	r := rule{from: []string{"offender/..."}, never: []string{"os/exec"}}
	if got, want := strings.Join(r.breaks(g), "; "),
		"offender/a -> offender/b -> os/exec; offender/b -> os/exec"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	r.direct = true
	if got, want := strings.Join(r.breaks(g), "; "), "offender/b -> os/exec"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}
