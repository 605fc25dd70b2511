package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/daemon/daemontest"
	"diagnostics/shared/workerapi"
)

// ask serves a handler as the worker does, on a clock of the test's own, sends a request as it stands, and gives the
// answer's status (0 for none) with the time that it took.
func ask(t *testing.T, h http.HandlerFunc, request string) (status int, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		pipes, server := daemontest.NewPipes(), newServer(h)
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(pipes) }()
		conn, err := pipes.Dial()
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		go func() { _, _ = io.WriteString(conn, request) }()
		if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
			status = resp.StatusCode
		}
		took = time.Since(begin)
		conn.Close()
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		time.Sleep(time.Second) // Go 1.26.11 closes the connection 500 ms after its write side
	})
	return status, took
}

// post is a request with a body of which so many bytes are sent.
func post(length, sent int) string {
	return fmt.Sprintf("POST /api/ping HTTP/1.1\r\nHost: worker\r\nContent-Length: %d\r\n\r\n%0*d", length, sent, 0)
}

// working reads a body and then takes a while.
func working(d time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		select {
		case <-time.After(d):
			w.WriteHeader(http.StatusOK)
		case <-r.Context().Done():
			w.WriteHeader(http.StatusRequestTimeout)
		}
	}
}

// Deadlines for reading are not for the job: one that outlasts them is answered like any other.
func TestAJobOutlastsTheReadTimeout(t *testing.T) {
	t.Parallel()
	if readTimeout >= workerapi.JobLimit {
		t.Fatalf("the longest job is no test of a read timeout of %v", readTimeout)
	}
	status, took := ask(t, working(workerapi.JobLimit), post(10, 10))
	if status != http.StatusOK || took != workerapi.JobLimit {
		t.Errorf("%d after %v", status, took)
	}
}

// A body that does not come ends with the read timeout, also where no handler reads it.
func TestABodyThatDoesNotComeEnds(t *testing.T) {
	t.Parallel()
	refusing := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	for want, h := range map[int]http.HandlerFunc{http.StatusUnauthorized: refusing, http.StatusBadRequest: working(0)} {
		if status, took := ask(t, h, post(1000, 10)); status != want || took != readTimeout {
			t.Errorf("%d after %v, want %d after %v", status, took, want, readTimeout)
		}
	}
}

// A header that does not come ends sooner, without an answer.
func TestAHeaderThatDoesNotComeEnds(t *testing.T) {
	t.Parallel()
	if status, took := ask(t, working(0), "POST /api/ping HTTP/1.1\r\nHost: "); status != 0 || took != headerTimeout {
		t.Errorf("%d after %v", status, took)
	}
}
