package egress_test

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"

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

// ask2 requests a server of HTTP/2 that answers with what write sends. The error is that of the answer, or of its body.
func ask2(t *testing.T, write func(*http2.Framer, uint32)) (string, error) {
	t.Helper()
	config, trust := site(t)
	n := withSite(t)
	n.ServeConn(web4+":443", frames(config, write))
	r, err := get(t, n.Client(nil, trust), "https://example.com/", maxBody(egress.MaxBodyBytes))
	if err != nil {
		return "", err
	}
	return string(r.Body), r.BodyErr
}

// wantAnswer fails the test unless the answer has the body where good is set, and the sentence where it is not.
func wantAnswer(t *testing.T, good bool, body, want string, err error, bad string) {
	t.Helper()
	if good && (err != nil || body != want) {
		t.Errorf("%d octets, %v", len(body), err)
	}
	if !good && (!fault.Is(err, fault.Upstream) || sentence(err) != bad) {
		t.Errorf("%d octets, %v", len(body), err)
	}
}

// forever sends a frame after the head of an answer until the client leaves.
func forever(frame func(*http2.Framer, uint32) error) func(*http2.Framer, uint32) {
	return func(f *http2.Framer, stream uint32) {
		begin2(f, stream)
		for frame(f, stream) == nil {
		}
	}
}

func TestFloodsWithinABody(t *testing.T) {
	t.Parallel()
	floods := map[string]map[string]func(*http2.Framer, uint32) error{
		noSense: maps.Clone(idleFrames),
		tinyPieces: {
			"one octet": func(f *http2.Framer, stream uint32) error { return f.WriteData(stream, false, []byte("x")) },
			"one octet, padded": func(f *http2.Framer, stream uint32) error {
				return f.WriteDataPadded(stream, false, []byte("x"), make([]byte, 255))
			},
		},
	}
	delete(floods[noSense], "103") // within a body it is a trailer, and an error of the protocol
	maps.Copy(floods[noSense], idleData)
	config, trust := site(t)
	for want, kinds := range floods {
		for name, frame := range kinds {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				body, err := ask2(t, forever(frame))
				wantAnswer(t, false, body, "", err, want)
				// Where the body is not read, the flood behind the head is no fault of the answer.
				n := withSite(t)
				n.ServeConn(web4+":443", frames(config, forever(frame)))
				for range 10 {
					if r, err := get(t, n.Client(nil, trust), "https://example.com/"); err != nil || r.Status != http.StatusOK {
						t.Fatalf("%+v, %v", r, err)
					}
				}
			})
		}
	}
}

// An answer may follow 200 frames, the server's first SETTINGS among them, and not 201.
func TestFramesBeforeAnAnswer(t *testing.T) {
	t.Parallel()
	for name, frame := range idleFrames {
		for _, count := range []int{0, egress.MaxIdlePieces, egress.MaxIdlePieces + 1, 1 << 20} {
			t.Run(fmt.Sprint(name, " ", count), func(t *testing.T) {
				t.Parallel()
				body, err := ask2(t, func(f *http2.Framer, stream uint32) {
					for range count - 1 {
						if frame(f, stream) != nil {
							return
						}
					}
					answer2(f, stream)
				})
				wantAnswer(t, count <= egress.MaxIdlePieces, body, "x", err, noSense)
			})
		}
	}
}

// Each octetsPerPiece of a body pay for a frame, whether it holds them or not.
func TestFramesWithinABody(t *testing.T) {
	t.Parallel()
	const paid = 50
	want := strings.Repeat("x", paid*egress.OctetsPerPiece)
	for name, frame := range idleData {
		// The server's SETTINGS are one, and so is the frame that ends the body.
		for _, count := range []int{0, egress.MaxIdlePieces + paid - 2, egress.MaxIdlePieces + paid - 1} {
			t.Run(fmt.Sprint(name, " ", count), func(t *testing.T) {
				t.Parallel()
				body, err := ask2(t, func(f *http2.Framer, stream uint32) {
					begin2(f, stream)
					_ = f.WriteDataPadded(stream, false, []byte(want), make([]byte, 40))
					for range count {
						_ = frame(f, stream)
					}
					_ = f.WriteRawFrame(http2.FrameData, http2.FlagDataEndStream, stream, nil)
				})
				wantAnswer(t, count < egress.MaxIdlePieces+paid-1, body, want, err, noSense)
			})
		}
	}
}

// A body may come in many pieces: after the first thousands they hold some octets each. All of them fit into the window
// that the reader gives at first (128 KiB): this server does not wait for more.
func TestPiecesOfABody(t *testing.T) {
	t.Parallel()
	const paidFor = egress.MaxBodyPieces + egress.MaxBodyPieces/egress.OctetsPerBodyPiece
	for _, test := range []struct {
		count, size int
		good        bool
	}{
		{egress.MaxBodyPieces, 1, true}, {paidFor, 1, true}, {paidFor + 10, 1, false}, {600, 30, true}, {3000, 43, true},
	} {
		t.Run(fmt.Sprint(test.count, " of ", test.size), func(t *testing.T) {
			t.Parallel()
			piece := strings.Repeat("x", test.size)
			body, err := ask2(t, func(f *http2.Framer, stream uint32) {
				begin2(f, stream)
				for range test.count {
					if f.WriteData(stream, false, []byte(piece)) != nil {
						return
					}
				}
				_ = f.WriteRawFrame(http2.FrameData, http2.FlagDataEndStream, stream, nil)
			})
			wantAnswer(t, test.good, body, strings.Repeat(piece, test.count), err, tinyPieces)
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
	for empty, good := range map[int]bool{0: true, egress.MaxIdlePieces - 2: true, egress.MaxIdlePieces - 1: false} {
		t.Run(fmt.Sprint(empty), func(t *testing.T) {
			t.Parallel()
			body, err := ask2(t, func(f *http2.Framer, stream uint32) {
				_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte{0x88}, EndStream: true})
				for range empty {
					_ = f.WriteContinuation(stream, false, nil)
				}
				_ = f.WriteContinuation(stream, true, nil)
			})
			wantAnswer(t, good, body, "", err, noSense)
		})
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

// The library repeats a request that a server refuses; this service repeats it once. DATA of the refused request is
// nothing of the answer to the one that repeats it.
func TestResetRequests(t *testing.T) {
	t.Parallel()
	const brokenOff = "example.com closed the HTTP/2 connection without an answer."
	for _, test := range []struct {
		refused, data int
		good          bool
		bad           string
	}{
		{1, 0, true, ""}, {2, 0, false, brokenOff},
		// The server's SETTINGS are a piece too.
		{1, egress.MaxIdlePieces - 1, true, ""}, {1, egress.MaxIdlePieces, false, noSense},
	} {
		t.Run(fmt.Sprint(test.refused, " with ", test.data), func(t *testing.T) {
			t.Parallel()
			body, err := ask2(t, func(f *http2.Framer, stream uint32) {
				for requests := 1; ; {
					if requests <= test.refused {
						_ = f.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
					} else {
						for range test.data {
							_ = f.WriteRawFrame(http2.FrameData, 0, stream-2, []byte("x"))
						}
						answer2(f, stream)
					}
					frame, err := f.ReadFrame()
					for ; err == nil && frame.Header().Type != http2.FrameHeaders; frame, err = f.ReadFrame() {
					}
					if err != nil {
						return
					}
					requests++
					stream = frame.Header().StreamID
				}
			})
			wantAnswer(t, test.good, body, "x", err, test.bad)
		})
	}
}

const longHeaders = "example.com sent response headers of more than 64 KiB."

// wantWithin fails the test unless an answer is read whole where good is set, and is too long where it is not.
func wantWithin(t *testing.T, good bool, r *egress.Response, err error) {
	t.Helper()
	if err == nil {
		err = r.BodyErr
	}
	if good && err != nil {
		t.Error(err)
	}
	if !good && (!fault.Is(err, fault.Upstream) || sentence(err) != longHeaders) {
		t.Errorf("%v", err)
	}
}

// All headers of a round trip of HTTP/2 share one bound: interim answers, the answer and its trailers.
func TestAllHeadersShareOneBound(t *testing.T) {
	t.Parallel()
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
		t.Run(test.name, func(t *testing.T) {
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
			wantWithin(t, test.good, r, err)
		})
	}
}

// Every octet of a head of HTTP/1 counts, whatever is kept of it.
func TestEveryOctetOfAHeadCounts(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n"
	for name, head := range map[string]string{
		"fields":              "HTTP/1.1 103 Early Hints\r\nX: " + strings.Repeat("v", 400) + "\r\n\r\n",
		"skipped lines":       "HTTP/1.1 103 Early Hints\r\n" + strings.Repeat("v", 400) + "\r\n\r\n",
		"continuations":       "HTTP/1.1 103 Early Hints\r\nX:" + strings.Repeat("\r\n   ", 100) + "\r\n\r\n",
		"skipped, continued":  "HTTP/1.1 103 Early Hints\r\nX" + strings.Repeat("\r\n   ", 100) + "\r\n\r\n",
		"reasons":             "HTTP/1.1 103 " + strings.Repeat("v", 400) + "\r\n\r\n",
		"interim answers and": "HTTP/1.1 100 Continue\r\n" + strings.Repeat("v: \r\n", 80) + "\r\n",
	} {
		count := (egress.MaxHeaderBytes - len(ok)) / len(head)
		rest := egress.MaxHeaderBytes - len(ok) - count*len(head)
		for more, good := range map[int]bool{0: true, 1: false} {
			t.Run(fmt.Sprint(name, " ", more), func(t *testing.T) {
				t.Parallel()
				n := withSite(t)
				last := strings.Replace(ok, "y", "y"+strings.Repeat("y", rest+more), 1)
				n.ServeConn(web4+":80", answerWith(strings.Repeat(head, count)+last))
				r, err := get(t, n.Client(nil), "http://example.com/", maxBody(10))
				wantWithin(t, good, r, err)
			})
		}
	}
}

// Header blocks of HTTP/2 count as they come, also those of another stream, of which nothing is kept, and padding.
func TestEveryHeaderBlockCounts(t *testing.T) {
	t.Parallel()
	block := packedFields("x", strings.Repeat("\x7f", 8<<10)) // which Huffman's code does not shorten
	for _, padding := range []uint8{0, 200} {
		each := len(block)
		if padding > 0 {
			each += 1 + int(padding)
		}
		for more, good := range map[int]bool{0: true, 1: false} {
			t.Run(fmt.Sprint(padding, " ", good), func(t *testing.T) {
				t.Parallel()
				body, err := ask2(t, func(f *http2.Framer, stream uint32) {
					for range (egress.MaxHeaderBytes-100)/each + more {
						if f.WriteHeaders(http2.HeadersFrameParam{
							StreamID: stream + 2, EndHeaders: true, BlockFragment: block, PadLength: padding,
						}) != nil {
							return
						}
					}
					answer2(f, stream)
				})
				wantAnswer(t, good, body, "x", err, longHeaders)
			})
		}
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
