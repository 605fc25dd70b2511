package main

import (
	"net"
	"testing"

	"github.com/miekg/dns"
)

// nameServer answers over UDP on loopback until the test ends.
func nameServer(t *testing.T, answer dns.HandlerFunc) (address string) {
	t.Helper()
	packets, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: packets, Handler: answer}
	ready, ended := make(chan struct{}), make(chan struct{})
	server.NotifyStartedFunc = func() { close(ready) }
	go func() {
		defer close(ended)
		_ = server.ActivateAndServe()
	}()
	<-ready
	t.Cleanup(func() {
		_ = server.Shutdown()
		<-ended
	})
	return packets.LocalAddr().String()
}
