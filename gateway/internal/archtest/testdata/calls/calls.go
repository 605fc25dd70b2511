// Package calls uses all that the bans name. It is parsed, never built.
package calls

import (
	"crypto/tls"
	"fmt"
	"log"
	"log/slog"
	"net"
	web "net/http"
	"net/rpc"
	"net/smtp"
	"net/url"
	"os"
	"syscall"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

var guilty = []any{
	net.DialTimeout,
	net.Dialer{},
	net.LookupHost,
	net.ResolveTCPAddr,
	net.ResolveIPAddr,
	net.ResolveUDPAddr,
	net.DefaultResolver,
	net.Resolver{},
	web.Get,
	web.Head,
	web.Post,
	web.PostForm,
	web.DefaultClient,
	web.DefaultTransport,
	web.Client{},
	web.Transport{},
	tls.DialWithDialer,
	dns.Client{},
	dns.ExchangeContext,
	dns.DialTimeout,
	smtp.SendMail,
	rpc.Dial,
	syscall.Connect,
	unix.Connect,
	syscall.SOCK_RAW,
	unix.SOCK_RAW,
	syscall.Socket,
	unix.Socket,
	net.ListenIP,
	net.DialIP,
	net.IPConn{},
	net.ListenPacket,
	net.InterfaceAddrs,
	net.FileConn,
	os.Stdout,
	os.Stderr,
	fmt.Println,
	log.Printf,
	log.Fatal,
	log.Panicln,
	log.New,
	log.Default,
	log.Writer,
	log.SetOutput,
	slog.Default,
	slog.SetDefault,
	slog.DebugContext,
	slog.Info,
	slog.Warn,
	slog.Error,
	slog.LogAttrs,
	"ip4:icmp",
	"ip6:ipv6-icmp",
	"ip:icmp",
}

type innocentType struct{ Get, Dial func() }

var innocents = []any{
	tls.Client,
	net.JoinHostPort,
	web.StatusOK,
	url.Parse,
	fmt.Fprintln,
	slog.NewJSONHandler,
	innocentType{}.Dial,
	"an innocent text about ip4: addresses",
}
