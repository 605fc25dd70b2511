package egress_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"

	"golang.org/x/net/http2"
)

const (
	noSense    = "example.com sent an invalid answer."
	tinyPieces = "example.com sent its answer in too many tiny pieces."
)

// answer2 ends a round trip of HTTP/2 well, with a body of one octet.
func answer2(f *http2.Framer, stream uint32) {
	fields(":status", "200")(f, stream)
	_ = f.WriteData(stream, true, []byte("x"))
}

// begin2 begins a body of HTTP/2.
func begin2(f *http2.Framer, stream uint32) { fields(":status", "200")(f, stream) }

// idleFrames are frames of HTTP/2 that may come before an answer, and carry nothing of it.
var idleFrames = map[string]func(*http2.Framer, uint32) error{
	"SETTINGS": func(f *http2.Framer, _ uint32) error { return f.WriteSettings() },
	"PING":     func(f *http2.Framer, _ uint32) error { return f.WritePing(false, [8]byte{}) },
	"PING ACK": func(f *http2.Framer, _ uint32) error { return f.WritePing(true, [8]byte{}) },
	"unknown":  func(f *http2.Framer, _ uint32) error { return f.WriteRawFrame(0x77, 0, 0, make([]byte, 100)) },
	"ALTSVC":   func(f *http2.Framer, _ uint32) error { return f.WriteRawFrame(0x0a, 0, 0, []byte("\x00\x00")) },
	"WINDOW_UPDATE of the connection": func(f *http2.Framer, _ uint32) error {
		return f.WriteWindowUpdate(0, 1)
	},
	"WINDOW_UPDATE": func(f *http2.Framer, stream uint32) error { return f.WriteWindowUpdate(stream, 1) },
	"PRIORITY": func(f *http2.Framer, stream uint32) error {
		return f.WritePriority(stream, http2.PriorityParam{StreamDep: stream + 2})
	},
	"RST_STREAM of another": func(f *http2.Framer, stream uint32) error {
		return f.WriteRSTStream(stream+2, http2.ErrCodeCancel)
	},
	"GOAWAY": func(f *http2.Framer, stream uint32) error { return f.WriteGoAway(stream, http2.ErrCodeNo, nil) },
	"103": func(f *http2.Framer, stream uint32) error {
		return f.WriteHeaders(http2.HeadersFrameParam{
			StreamID: stream, EndHeaders: true, BlockFragment: []byte("\x08\x03103"),
		})
	},
}

// idleData are frames of HTTP/2 that may come within a body, and carry nothing of it.
var idleData = map[string]func(*http2.Framer, uint32) error{
	"empty DATA": func(f *http2.Framer, stream uint32) error { return f.WriteData(stream, false, nil) },
	"padding": func(f *http2.Framer, stream uint32) error {
		return f.WriteDataPadded(stream, false, nil, make([]byte, 255))
	},
	"padding of length": func(f *http2.Framer, stream uint32) error { return f.WriteDataPadded(stream, false, nil, []byte{}) },
	"unknown of the stream": func(f *http2.Framer, stream uint32) error {
		return f.WriteRawFrame(0x77, 0, stream, []byte("x"))
	},
}

func TestFloodsOfFrames(t *testing.T) {
	t.Parallel()
	config, trust := site(t)
	for name, frame := range idleFrames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.ServeConn(web4+":443", frames(config, func(f *http2.Framer, stream uint32) {
				for frame(f, stream) == nil {
				}
			}))
			began := time.Now()
			_, err := get(t, n.Client(nil, trust), "https://example.com/")
			if s := wantFault(t, err, fault.Upstream); s != noSense {
				t.Errorf("%q (%v)", s, err)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
	tiny := map[string]func(*http2.Framer, uint32) error{
		"one octet": func(f *http2.Framer, stream uint32) error { return f.WriteData(stream, false, []byte("x")) },
		"one octet, padded": func(f *http2.Framer, stream uint32) error {
			return f.WriteDataPadded(stream, false, []byte("x"), make([]byte, 255))
		},
	}
	within := maps.Clone(tiny)
	for name, frame := range idleFrames {
		if name != "103" { // there it is a trailer, and an error of the protocol
			within[name] = frame
		}
	}
	for name, frame := range idleData {
		within[name] = frame
	}
	for name, frame := range within {
		t.Run("within a body: "+name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.ServeConn(web4+":443", frames(config, func(f *http2.Framer, stream uint32) {
				begin2(f, stream)
				for frame(f, stream) == nil {
				}
			}))
			r, err := get(t, n.Client(nil, trust), "https://example.com/", maxBody(egress.MaxBodyBytes))
			if err != nil {
				t.Fatal(err)
			}
			want := noSense
			if tiny[name] != nil {
				want = tinyPieces
			}
			if s := wantFault(t, r.BodyErr, fault.Upstream); s != want {
				t.Errorf("%q (%v)", s, r.BodyErr)
			}
		})
		t.Run("after a head: "+name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.ServeConn(web4+":443", frames(config, func(f *http2.Framer, stream uint32) {
				begin2(f, stream)
				for frame(f, stream) == nil {
				}
			}))
			for range 20 {
				r, err := get(t, n.Client(nil, trust), "https://example.com/")
				if err != nil || r.Status != http.StatusOK {
					t.Fatalf("%+v, %v", r, err)
				}
			}
		})
	}
}

// An answer may follow 200 frames, the server's first SETTINGS among them, and not 201.
func TestFramesBeforeAnAnswer(t *testing.T) {
	t.Parallel()
	config, trust := site(t)
	for name, frame := range idleFrames {
		for _, count := range []int{0, egress.MaxIdlePieces - 1, egress.MaxIdlePieces, egress.MaxIdlePieces + 1} {
			t.Run(fmt.Sprint(name, " ", count), func(t *testing.T) {
				t.Parallel()
				n := withSite(t)
				n.ServeConn(web4+":443", frames(config, func(f *http2.Framer, stream uint32) {
					for range count - 1 {
						_ = frame(f, stream)
					}
					answer2(f, stream)
				}))
				r, err := get(t, n.Client(nil, trust), "https://example.com/")
				if count > egress.MaxIdlePieces {
					if s := wantFault(t, err, fault.Upstream); s != noSense {
						t.Errorf("%q (%v)", s, err)
					}
					return
				}
				if err != nil || r.Status != http.StatusOK {
					t.Errorf("%v, %v", r, err)
				}
			})
		}
	}
}

// Each octetsPerPiece of a body pay for a frame, whether it holds them or not.
func TestFramesWithinABody(t *testing.T) {
	t.Parallel()
	config, trust := site(t)
	const paid = 50
	for name, frame := range idleData {
		// The server's SETTINGS are one, and so is the frame that ends the body.
		for _, count := range []int{0, egress.MaxIdlePieces + paid - 2, egress.MaxIdlePieces + paid - 1} {
			t.Run(fmt.Sprint(name, " ", count), func(t *testing.T) {
				t.Parallel()
				n := withSite(t)
				body := strings.Repeat("x", paid*egress.OctetsPerPiece)
				n.ServeConn(web4+":443", frames(config, func(f *http2.Framer, stream uint32) {
					begin2(f, stream)
					_ = f.WriteDataPadded(stream, false, []byte(body), make([]byte, 40))
					for range count {
						_ = frame(f, stream)
					}
					_ = f.WriteRawFrame(http2.FrameData, http2.FlagDataEndStream, stream, nil)
				}))
				r, err := get(t, n.Client(nil, trust), "https://example.com/", maxBody(egress.MaxBodyBytes))
				if err != nil {
					t.Fatal(err)
				}
				if count >= egress.MaxIdlePieces+paid-1 {
					if s := wantFault(t, r.BodyErr, fault.Upstream); s != noSense {
						t.Errorf("%q (%v)", s, r.BodyErr)
					}
					return
				}
				if r.BodyErr != nil || string(r.Body) != body {
					t.Errorf("%d octets, %v", len(r.Body), r.BodyErr)
				}
			})
		}
	}
}

// A body may come in many pieces: after the first thousands they hold some octets each. All of them fit into the window
// that the reader gives at first (128 KiB): this server does not wait for more.
func TestPiecesOfABody(t *testing.T) {
	t.Parallel()
	config, trust := site(t)
	const paidFor = egress.MaxBodyPieces + egress.MaxBodyPieces/egress.OctetsPerBodyPiece
	for _, test := range []struct {
		count, size int
		good        bool
	}{
		{egress.MaxBodyPieces, 1, true}, {paidFor, 1, true}, {paidFor + 10, 1, false}, {600, 30, true}, {3000, 43, true},
	} {
		t.Run(fmt.Sprint(test.count, " of ", test.size), func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.ServeConn(web4+":443", frames(config, func(f *http2.Framer, stream uint32) {
				begin2(f, stream)
				piece := make([]byte, test.size)
				for range test.count {
					if f.WriteData(stream, false, piece) != nil {
						return
					}
				}
				_ = f.WriteRawFrame(http2.FrameData, http2.FlagDataEndStream, stream, nil)
			}))
			r, err := get(t, n.Client(nil, trust), "https://example.com/", maxBody(egress.MaxBodyBytes))
			if err != nil {
				t.Fatal(err)
			}
			if test.good {
				if r.BodyErr != nil || len(r.Body) != test.count*test.size {
					t.Errorf("%d octets, %v", len(r.Body), r.BodyErr)
				}
				return
			}
			if s := wantFault(t, r.BodyErr, fault.Upstream); s != tinyPieces {
				t.Errorf("%q (%v)", s, r.BodyErr)
			}
		})
	}
}

// Pages that are written line by line are pages, over every protocol.
func TestPagesOfManyLines(t *testing.T) {
	t.Parallel()
	config, trust := site(t)
	for _, proto := range []string{"h2", "http/1.1"} {
		for _, test := range []struct{ count, size int }{{300, 8}, {600, 30}, {3000, 45}, {12_000, 45}} {
			t.Run(fmt.Sprint(proto, " ", test.count, " of ", test.size), func(t *testing.T) {
				t.Parallel()
				n := withSite(t)
				own := config.Clone()
				own.NextProtos = []string{proto}
				n.ServeTLS(web4+":443", own, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					line := []byte(strings.Repeat("x", test.size-1) + "\n")
					for range test.count {
						_, _ = w.Write(line)
						_ = http.NewResponseController(w).Flush()
					}
				}))
				r, err := get(t, n.Client(nil, trust), "https://example.com/", maxBody(1<<20))
				if err != nil {
					t.Fatal(err)
				}
				if r.BodyErr != nil || len(r.Body) != test.count*test.size {
					t.Errorf("%d octets, %v", len(r.Body), r.BodyErr)
				}
			})
		}
	}
}

// A long header may come in many frames, but not in so many that they are nearly empty.
func TestContinuations(t *testing.T) {
	t.Parallel()
	config, trust := site(t)
	for _, test := range []struct {
		empty int
		good  bool
	}{{0, true}, {egress.MaxIdlePieces - 2, true}, {egress.MaxIdlePieces - 1, false}} {
		t.Run(fmt.Sprint(test.empty), func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.ServeConn(web4+":443", frames(config, func(f *http2.Framer, stream uint32) {
				_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte{0x88}, EndStream: true})
				for range test.empty {
					_ = f.WriteContinuation(stream, false, nil)
				}
				_ = f.WriteContinuation(stream, true, nil)
			}))
			r, err := get(t, n.Client(nil, trust), "https://example.com/")
			if test.good {
				if err != nil || r.Status != http.StatusOK {
					t.Errorf("%v, %v", r, err)
				}
				return
			}
			if s := wantFault(t, err, fault.Upstream); s != noSense {
				t.Errorf("%q (%v)", s, err)
			}
		})
	}
}

// What busy servers send is none of all that.
func TestLongAnswersOfManyFrames(t *testing.T) {
	t.Parallel()
	config, trust := site(t)
	n := withSite(t)
	const pieces, size = 1200, 100 // within the window, which this server does not wait for
	n.ServeConn(web4+":443", frames(config, func(f *http2.Framer, stream uint32) {
		_ = f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100})
		_ = f.WriteSettingsAck()
		_ = f.WriteWindowUpdate(0, 1<<20)
		for range 3 {
			fields(":status", "103", "link", "</style.css>; rel=preload")(f, stream)
		}
		begin2(f, stream)
		for i := range pieces {
			_ = f.WriteData(stream, i == pieces-1, bytes.Repeat([]byte("x"), size))
			if i%3 == 0 {
				_ = f.WritePing(false, [8]byte{byte(i)})
			}
		}
	}))
	r, err := get(t, n.Client(nil, trust), "https://example.com/", maxBody(egress.MaxBodyBytes))
	if err != nil || r.BodyErr != nil || len(r.Body) != pieces*size {
		t.Fatalf("%v, %v, %d octets", err, r.BodyErr, len(r.Body))
	}
}

// The bound holds however the frames are cut into records.
func TestFramesInTinyRecords(t *testing.T) {
	t.Parallel()
	config, trust := site(t)
	n := withSite(t)
	n.ServeConn(web4+":443", func(c net.Conn) {
		frames(config, func(f *http2.Framer, stream uint32) { answer2(f, stream) })(dripping{c})
	})
	r, err := get(t, n.Client(nil, trust), "https://example.com/", maxBody(10))
	if err != nil || r.BodyErr != nil || string(r.Body) != "x" {
		t.Fatalf("%v, %+v", err, r)
	}
}

// dripping writes an octet at a time.
type dripping struct{ net.Conn }

func (d dripping) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := d.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// The library repeats a request that a server refuses; this service repeats it once.
func TestResetRequests(t *testing.T) {
	t.Parallel()
	config, trust := site(t)
	config.NextProtos = []string{"h2"}
	for refused, good := range map[int]bool{1: true, 2: false} {
		t.Run(fmt.Sprint(refused), func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.ServeConn(web4+":443", func(c net.Conn) {
				server := tls.Server(c, config)
				if _, err := io.ReadFull(server, make([]byte, len(http2.ClientPreface))); err != nil {
					return
				}
				f := http2.NewFramer(server, server)
				_ = f.WriteSettings()
				for requests := 0; ; {
					frame, err := f.ReadFrame()
					if err != nil {
						return
					}
					request, is := frame.(*http2.HeadersFrame)
					if !is {
						continue
					}
					if requests++; requests <= refused {
						_ = f.WriteRSTStream(request.StreamID, http2.ErrCodeRefusedStream)
						continue
					}
					answer2(f, request.StreamID)
				}
			})
			r, err := get(t, n.Client(nil, trust), "https://example.com/", maxBody(10))
			if good {
				if err != nil || string(r.Body) != "x" || r.BodyErr != nil {
					t.Errorf("%+v, %v", r, err)
				}
				return
			}
			want := "example.com closed the HTTP/2 connection without an answer."
			if s := wantFault(t, err, fault.Upstream); s != want {
				t.Errorf("%q (%v)", s, err)
			}
		})
	}
}

// DATA of a request that was refused is nothing of the answer to the one that repeats it.
func TestDataOfAnotherStream(t *testing.T) {
	t.Parallel()
	config, trust := site(t)
	// The server's SETTINGS are a piece too.
	for count, good := range map[int]bool{0: true, egress.MaxIdlePieces - 1: true, egress.MaxIdlePieces: false} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.ServeConn(web4+":443", frames(config, func(f *http2.Framer, refused uint32) {
				_ = f.WriteRSTStream(refused, http2.ErrCodeRefusedStream)
				for {
					frame, err := f.ReadFrame()
					if err != nil {
						return
					}
					request, is := frame.(*http2.HeadersFrame)
					if !is {
						continue
					}
					for range count {
						_ = f.WriteRawFrame(http2.FrameData, 0, refused, []byte("x"))
					}
					answer2(f, request.StreamID)
				}
			}))
			r, err := get(t, n.Client(nil, trust), "https://example.com/", maxBody(10))
			if good {
				if err != nil || string(r.Body) != "x" {
					t.Errorf("%+v, %v", r, err)
				}
				return
			}
			if s := wantFault(t, err, fault.Upstream); s != noSense {
				t.Errorf("%q (%v)", s, err)
			}
		})
	}
}

// Interim answers are bounded over HTTP/1 as well.
func TestInterimAnswers(t *testing.T) {
	t.Parallel()
	const interim = "HTTP/1.1 103 Early Hints\r\n\r\n"
	for _, count := range []int{0, 1, egress.MaxIdlePieces - 1, egress.MaxIdlePieces, egress.MaxIdlePieces + 1, 1 << 20} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.ServeConn(web4+":80", func(c net.Conn) {
				_, _ = http.ReadRequest(bufio.NewReader(c))
				_, _ = io.WriteString(c, strings.Repeat(interim, count)+"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
			})
			r, err := get(t, n.Client(nil), "http://example.com/", maxBody(10))
			if count > egress.MaxIdlePieces {
				if s := wantFault(t, err, fault.Upstream); s != noSense {
					t.Errorf("%q (%v)", s, err)
				}
				return
			}
			if err != nil || string(r.Body) != "x" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// All headers of a round trip share one bound: interim answers, the answer and its trailers.
func TestAllHeadersShareOneBound(t *testing.T) {
	t.Parallel()
	const longHeaders = "example.com sent response headers of more than 64 KiB."
	config, trust := site(t)
	// Each header is "X: …\r\n", of which the value is so long; the answer and its interim answers are three of them.
	third := egress.MaxHeaderBytes/3 - len("X: \r\n")
	rest := egress.MaxHeaderBytes - 3*(egress.MaxHeaderBytes/3)
	for _, test := range []struct {
		name    string
		trailer bool
		more    int
		good    bool
	}{
		{"interim answers", false, rest, true}, {"interim answers, one octet more", false, rest + 1, false},
		{"a trailer", true, rest, true}, {"a trailer, one octet more", true, rest + 1, false},
	} {
		value := strings.Repeat("v", third)
		last := value + strings.Repeat("v", test.more)
		check := func(t *testing.T, r *egress.Response, err error) {
			t.Helper()
			if err == nil {
				err = r.BodyErr
			}
			if test.good {
				if err != nil {
					t.Errorf("%v", err)
				}
				return
			}
			if s := wantFault(t, err, fault.Upstream); s != longHeaders {
				t.Errorf("%q (%v)", s, err)
			}
		}
		t.Run("HTTP/2: "+test.name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.ServeConn(web4+":443", frames(config, func(f *http2.Framer, stream uint32) {
				fields(":status", "103", "x", value)(f, stream)
				if test.trailer {
					fields(":status", "200", "x", value)(f, stream)
					_ = f.WriteData(stream, false, []byte("x"))
					trailer(f, stream, last)
					return
				}
				fields(":status", "103", "x", value)(f, stream)
				fields(":status", "200", "x", last)(f, stream)
				_ = f.WriteData(stream, true, nil)
			}))
			r, err := get(t, n.Client(nil, trust), "https://example.com/", maxBody(10))
			check(t, r, err)
		})
		if test.trailer {
			continue // over HTTP/1 the library takes none of more than 4 KiB
		}
		t.Run("HTTP/1: "+test.name, func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			interim := "HTTP/1.1 103 Early Hints\r\nX: " + value + "\r\n\r\n"
			n.ServeConn(web4+":80", answerWith(interim+interim+"HTTP/1.1 204 No Content\r\nX: "+last+"\r\n\r\n"))
			r, err := get(t, n.Client(nil), "http://example.com/", maxBody(10))
			check(t, r, err)
		})
	}
}

// trailer ends a stream with a trailer of one field.
func trailer(f *http2.Framer, stream uint32, value string) {
	packed := packedFields("x", value)
	const frameSize = 16 << 10
	first := packed[:min(len(packed), frameSize)]
	packed = packed[len(first):]
	_ = f.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: first, EndHeaders: len(packed) == 0, EndStream: true,
	})
	for len(packed) > 0 {
		next := packed[:min(len(packed), frameSize)]
		packed = packed[len(next):]
		_ = f.WriteContinuation(stream, len(packed) == 0, next)
	}
}
