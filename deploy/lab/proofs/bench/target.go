package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
)

// The target is a process of its own on the lab's near host: a name server and web servers that answer at once with
// fixed bytes, so that the client is what is measured. Every address of the host is served.
const (
	targetWeb     = ":80"
	targetSecure  = ":443"
	targetMute    = ":81"  // takes the request and never answers
	targetMuteTLS = ":444" // shakes hands and then says nothing
	nameServer    = "11.77.53.1:53"
)

// page is what the web servers answer: the headers of a small page, and a body that costs little to read.
const page = "<!doctype html><title>Target</title><p>A small page.\n"

var pageHeader = [][2]string{
	{"Date", "Sun, 01 Nov 2026 12:00:00 GMT"},
	{"Server", "target"},
	{"Content-Type", "text/html; charset=utf-8"},
	{"Cache-Control", "max-age=60"},
	{"Strict-Transport-Security", "max-age=63072000"},
	{"X-Content-Type-Options", "nosniff"},
}

// serveTarget runs until the lab ends it. certificate is a file with key and chain.
func serveTarget(certificate string) error {
	text, err := os.ReadFile(certificate)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return err
	}
	var raw bytes.Buffer
	raw.WriteString("HTTP/1.1 200 OK\r\n")
	for _, field := range pageHeader {
		raw.WriteString(field[0] + ": " + field[1] + "\r\n")
	}
	fmt.Fprintf(&raw, "Content-Length: %d\r\n\r\n%s", len(page), page)

	ended := make(chan error)
	serve := func(address string, talk func(net.Conn)) { go func() { ended <- listen(address, talk) }() }
	serve(targetWeb, func(c net.Conn) { answerAll(c, raw.Bytes()) })
	serve(targetMute, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	mute := &tls.Config{Certificates: []tls.Certificate{pair}}
	serve(targetMuteTLS, func(c net.Conn) { _, _ = io.Copy(io.Discard, tls.Server(c, mute)) })
	go func() { ended <- serveHTTPS(pair) }()
	go func() { ended <- serveNames(nameServer) }()
	return <-ended
}

func listen(address string, talk func(net.Conn)) error {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			talk(c)
		}()
	}
}

var requests = sync.Pool{New: func() any { b := make([]byte, 4096); return &b }}

// answerAll gives the same answer to every request head on a connection.
func answerAll(c net.Conn, answer []byte) {
	buffer, _ := requests.Get().(*[]byte)
	defer requests.Put(buffer)
	have := 0
	for have < len(*buffer) {
		n, err := c.Read((*buffer)[have:])
		if err != nil {
			return
		}
		if have += n; bytes.HasSuffix((*buffer)[:have], []byte("\r\n\r\n")) {
			if _, err := c.Write(answer); err != nil {
				return
			}
			have = 0
		}
	}
}

// serveHTTPS answers over HTTP/2 and HTTP/1.1, as most of the web does.
func serveHTTPS(pair tls.Certificate) error {
	server := &http.Server{
		Addr:      targetSecure,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}},
		// A client that leaves during a handshake is no error.
		ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for _, field := range pageHeader {
				w.Header().Set(field[0], field[1])
			}
			_, _ = io.WriteString(w, page)
		}),
	}
	return server.ListenAndServeTLS("", "")
}
