// Package calls uses all that the bans name. It is parsed, never built.
package calls

import (
	"crypto/tls"
	"net"
	web "net/http"
	"net/rpc"
	"net/smtp"
	"net/url"
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
	innocentType{}.Dial,
	"an innocent text about ip4: addresses",
}
