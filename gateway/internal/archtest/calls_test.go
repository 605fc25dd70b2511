package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ban is a set of names of other packages that must not be used, whatever for.
type ban struct {
	name   string
	module string
	from   []string
	except []string
	// names are "import/path.Name"; a trailing * stands for any rest.
	names []string
	// literals are substrings that no string literal may hold.
	literals []string
	reason   string
}

var bans = []ban{
	{
		name: "ways out besides egress", module: "gateway", from: []string{gw + "/..."},
		// The worker, other places and Redis are the operator's own choice, not the visitor's; the rest is for tests.
		except: []string{gw + "/internal/egress/...", gw + "/internal/remote/...", gw + "/internal/redis/breaker/..."},
		names: []string{"net.Dial*", "net.Lookup*", "net.Resolve*", "net.DefaultResolver", "net.Resolver",
			"net/http.Get", "net/http.Head", "net/http.Post", "net/http.PostForm", "net/http.DefaultClient", "net/http.DefaultTransport", "net/http.Client",
			"net/http.Transport", "crypto/tls.Dial*", "github.com/miekg/dns.Client", "github.com/miekg/dns.Exchange*", "github.com/miekg/dns.Dial*",
			"net/smtp.*", "net/rpc.*", "syscall.Connect", "golang.org/x/sys/unix.Connect"},
		reason: "every connection for a visitor dials an address that egress judged for that dial",
	},
	{
		name: "ways out of daemon", module: "shared/daemon", from: []string{daemon + "/..."},
		names: []string{"net.Dial*", "net.Lookup*", "net.Resolve*", "net.DefaultResolver", "net.Resolver", "net/http.Get",
			"net/http.Head", "net/http.Post",
			"net/http.PostForm", "net/http.DefaultClient", "net/http.DefaultTransport", "net.ListenIP", "net.ListenPacket", "syscall.Socket"},
		reason: "a process requests nothing but its own /healthz, without a proxy",
	},
	{
		name: "raw sockets in the gateway", module: "gateway", from: []string{gw + "/..."},
		except: []string{gw + "/internal/egress/egresstest"},
		names: []string{"syscall.SOCK_RAW", "golang.org/x/sys/unix.SOCK_RAW", "net.ListenIP", "net.DialIP", "net.IPConn",
			"net.ListenPacket", "syscall.Socket"},
		literals: []string{"ip4:", "ip6:", "ip:icmp"},
		reason:   "the gateway needs no right that any other web server does not have",
	},
	{
		name: "sockets by system call in the gateway", module: "gateway", from: []string{gw + "/..."},
		// Package hostroute queries the kernel for routes over netlink, which takes no right and sends nothing to any
		// network: package net has no such sockets. TestNetlinkAlone holds that it opens no others.
		except: []string{gw + "/internal/egress/egresstest"},
		names:  []string{"golang.org/x/sys/unix.Socket"},
		reason: "a socket that package net did not open could be of any kind",
	},
	{
		name: "the network in target and tool", module: "gateway",
		from: []string{gw + "/internal/target/...", gw + "/internal/tool/..."},
		names: []string{"net.Dial*", "net.Listen*", "net.Lookup*", "net.Resolve*", "net.DefaultResolver", "net.Interface*",
			"net.File*"},
		reason: "what a visitor typed is judged without I/O; of package net only its pure functions may be used",
	},
	{
		name: "the network in analyze", module: "gateway", from: []string{gw + "/internal/analyze/..."},
		names: []string{"net.Dial*", "net.Listen*", "net.Lookup*", "net.Resolve*", "net.DefaultResolver", "net.Interface*",
			"net.File*"},
		reason: "analyzers take bytes and return findings",
	},
	{
		name: "forward lookups in the worker", module: "worker", from: []string{"diagnostics/worker/..."},
		names: []string{"net.Lookup*", "net.ResolveIPAddr", "net.ResolveTCPAddr", "net.ResolveUDPAddr", "net.Resolver",
			"net.DefaultResolver"},
		reason: "the worker takes addresses that the gateway judged, and never asks what a name means: another answer " +
			"would be another target",
	},
	{
		name: "the clients of net/http in the worker", module: "worker", from: []string{"diagnostics/worker/..."},
		names: []string{"net/http.Get", "net/http.Head", "net/http.Post", "net/http.PostForm", "net/http.DefaultClient",
			"net/http.DefaultTransport",
			"net/http.Client", "net/http.Transport"},
		reason: "the worker fetches nothing",
	},
	{
		name: "lines past the gateway's log", module: "gateway", from: []string{gw + "/..."},
		// Support of tests and of lint, and what passes the driver's lines to the standard logger.
		except: []string{gw + "/internal/redis/breaker/...", gw + "/internal/egress/egresstest",
			gw + "/internal/apidoc/print"},
		names: printers, reason: printersReason,
	},
	{
		name: "lines past the worker's log", module: "worker", from: []string{"diagnostics/worker/..."},
		names: printers, reason: printersReason,
	},
}

// printers are ways to write a line that is not the log's.
var printers = []string{"os.Stdout", "os.Stderr", "fmt.Print*", "log.Print*", "log.Fatal*", "log.Panic*", "log.New",
	"log.Default", "log.Writer", "log.SetOutput", "log/slog.Default", "log/slog.SetDefault", "log/slog.Debug*",
	"log/slog.Info*", "log/slog.Warn*", "log/slog.Error*", "log/slog.LogAttrs"}

const printersReason = "what a service prints is its log, which never holds input, and which never waits for its reader"

// uses gives "file:line: name" for every banned use in the files.
func (b ban) uses(t *testing.T, dir string, files []string) []string {
	t.Helper()
	return inspect(t, dir, files, b.banned)
}

// inspect gives "file:line: what" for every node of the files in which find finds something.
func inspect(
	t *testing.T, dir string, files []string, find func(n ast.Node, imports map[string]string) string,
) []string {
	t.Helper()
	var out []string
	for _, name := range files {
		file := parsed(t, filepath.Join(dir, name))
		imports := importNames(file)
		ast.Inspect(file, func(n ast.Node) bool {
			if found := find(n, imports); found != "" {
				out = append(out, fmt.Sprintf("%s:%d: %s", name, positions.Position(n.Pos()).Line, found))
			}
			return true
		})
	}
	return out
}

// banned names what is wrong with a node, or nothing.
func (b ban) banned(n ast.Node, imports map[string]string) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		qualifier, ok := n.X.(*ast.Ident)
		if !ok || imports[qualifier.Name] == "" {
			return ""
		}
		used := imports[qualifier.Name] + "." + n.Sel.Name
		if slices.ContainsFunc(b.names, func(name string) bool { return nameMatches(used, name) }) {
			return used
		}
	case *ast.BasicLit:
		if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
			for _, part := range b.literals {
				if strings.HasPrefix(text, part) {
					return n.Value
				}
			}
		}
	case *ast.ImportSpec:
		// A dot import would hide every use.
		if n.Name != nil && n.Name.Name == "." {
			return "dot import of " + n.Path.Value
		}
	}
	return ""
}

func nameMatches(used, pattern string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(used, prefix)
	}
	return used == pattern
}

// importNames maps the names that a file gives its imports to their paths.
func importNames(file *ast.File) map[string]string {
	out := map[string]string{}
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		out[name] = importPath
	}
	return out
}

// otherSockets gives the sockets that are opened by system call and are not of netlink.
func otherSockets(t *testing.T, dir string, files []string) []string {
	t.Helper()
	return inspect(t, dir, files, func(n ast.Node, imports map[string]string) string {
		call, is := n.(*ast.CallExpr)
		if !is || selected(call.Fun, imports) != "golang.org/x/sys/unix.Socket" {
			return ""
		}
		if len(call.Args) == 3 && selected(call.Args[0], imports) == "golang.org/x/sys/unix.AF_NETLINK" {
			return ""
		}
		return "unix.Socket"
	})
}

// selected is "import/path.Name" where the expression is a name of an imported package.
func selected(e ast.Expr, imports map[string]string) string {
	selector, is := e.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	qualifier, is := selector.X.(*ast.Ident)
	if !is || imports[qualifier.Name] == "" {
		return ""
	}
	return imports[qualifier.Name] + "." + selector.Sel.Name
}

func TestNetlinkAlone(t *testing.T) {
	t.Parallel()
	p, ok := list(t, filepath.Join(root, "shared/hostroute"))[hostroute]
	if !ok {
		t.Fatal("there is no package hostroute")
	}
	for _, use := range otherSockets(t, p.Dir, p.GoFiles) {
		t.Errorf("%s/%s: a socket that is not of netlink", p.ImportPath, use)
	}
	if found := otherSockets(t, "testdata/calls", []string{"sockets.go"}); len(found) != 2 {
		t.Errorf("the fixture has two that are not plainly of netlink, found %q", found)
	}
}

func TestForbiddenCalls(t *testing.T) {
	t.Parallel()
	for _, module := range []string{"gateway", "worker", "shared/daemon"} {
		g := list(t, filepath.Join(root, module))
		for _, b := range bans {
			if b.module != module {
				continue
			}
			looked := 0
			for _, p := range g {
				if p.Standard || !matchesAny(p.ImportPath, b.from) || matchesAny(p.ImportPath, b.except) {
					continue
				}
				looked++
				for _, use := range b.uses(t, p.Dir, p.GoFiles) {
					t.Errorf("%s: %s/%s\n\t%s", b.name, p.ImportPath, use, b.reason)
				}
			}
			if looked == 0 {
				t.Errorf("%s: there is no package that the ban is about", b.name)
			}
		}
	}
}

// The fixture uses everything that any ban names, one line each with the name behind it.
func TestEveryBanCanFail(t *testing.T) {
	t.Parallel()
	for _, b := range bans {
		found := strings.Join(b.uses(t, "testdata/calls", []string{"calls.go"}), "\n") + "\n"
		for _, name := range b.names {
			if !strings.Contains(found, ": "+strings.TrimSuffix(name, "*")) {
				t.Errorf("%s: the fixture's use of %s passes", b.name, name)
			}
		}
		for _, part := range b.literals {
			if !strings.Contains(found, `: "`+part) {
				t.Errorf("%s: the fixture's literal %s passes", b.name, part)
			}
		}
		if strings.Contains(found, "Innocent") || strings.Contains(found, "innocent") {
			t.Errorf("%s: an innocent line is caught: %s", b.name, found)
		}
		if dots := b.uses(t, "testdata/calls", []string{"dot.go"}); len(dots) != 1 {
			t.Errorf("%s: a dot import passes", b.name)
		}
	}
}
