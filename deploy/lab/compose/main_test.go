//go:build compose

// Package compose brings docker-compose.yml up on a real engine and checks what an operator would check first. The
// internet around it is made of two containers: a router, and behind it the lab's servers at public addresses. Visitors
// have public addresses there too. Nothing is sent beyond this machine.
//
//	host ─ router (11.65.0.2) ─ internet (11.66.0.2, and all the lab's addresses)
//	  └ the networks of docker-compose.yml; whatever else their containers send to finds no way
//
// The tests run one after the other, in the order of their files, and each leaves all services running. Root, and an
// engine that has the images of docker-compose.yml or can pull them.
package compose

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// longest is when a run that hangs is ended, with everything taken down. It is less than the -timeout of go test, which
// would leave it all.
const longest = 14 * time.Minute

// engine is what all tests look at.
var engine *stack

// packages are Debian's packages of the programs that the tests run.
var packages = map[string]string{"docker": "docker.io", "iptables": "iptables", "ip": "iproute2",
	"nsenter": "util-linux", "sysctl": "procps", "openssl": "openssl", "caddy": "caddy", "busybox": "busybox", "prometheus": "prometheus",
	"chromium": "chromium", "curl": "curl", "jq": "jq"}

// lacking are the packages whose programs this machine does not have.
func lacking() (names []string) {
	for program, name := range packages {
		if _, err := exec.LookPath(program); err != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestMain(m *testing.M) {
	if names := lacking(); len(names) > 0 {
		fmt.Fprintln(os.Stderr, "the tests need more of Debian: apt-get install", strings.Join(names, " "))
		os.Exit(1)
	}
	engine = newStack()
	takeDown := sync.OnceFunc(engine.takeDown)
	go func() {
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		select {
		case s := <-interrupted:
			fmt.Fprintln(os.Stderr, "ended by", s)
		case <-time.After(longest):
			fmt.Fprintln(os.Stderr, "ended after", longest)
			engine.printLogs()
		}
		engine.interrupt()
		takeDown()
		os.Exit(1)
	}()
	watchdog := goleak.IgnoreCurrent()
	// What a killed run has left.
	engine.takeDown()
	code := 1
	if err := engine.bringUp(); err != nil {
		fmt.Fprintln(os.Stderr, "bring it up:", err)
	} else {
		code = m.Run()
	}
	if err := goleak.Find(watchdog); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code != 0 {
		engine.printLogs()
	}
	takeDown()
	os.Exit(code)
}
