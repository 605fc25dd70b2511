package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"diagnostics/shared/progress"
)

// Answers are compressed for clients that accept it, and say the same; a short plain answer stays as it is.
func TestAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	const around = len(`{"data":"","durationMs":0.01,"requestId":"01234567-89ab-4def-8123-456789abcdef"}`)
	long, short := strings.Repeat("a", leastZipped), strings.Repeat("a", leastZipped-around-10)
	for _, test := range []struct {
		name, data, accept string
		stream, zipped     bool
	}{
		{"long", long, "gzip, deflate, br", false, true},
		{"short", short, "gzip", false, false},
		{"long, not accepted", long, "identity", false, false},
		{"long, rejected", long, "gzip;q=0", false, false},
		{"a stream", short, "gzip", true, true},
		{"a stream, not accepted", long, "br", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEdge(t, func(ctx context.Context, _ fakeTarget) (any, error) {
				progress.Enter(ctx, progress.Waiting)
				return test.data, nil
			})
			headers := []string{"Accept-Encoding: " + test.accept}
			if test.stream {
				headers = append(headers, ndjson)
			}
			a := e.post(t, "echo", `{"input":"a"}`, headers...)
			if (a.Header.Get("Content-Encoding") == "gzip") != test.zipped {
				t.Fatalf("%v", a.Header)
			}
			if length := a.Header.Get("Content-Length"); !test.stream && length != strconv.Itoa(len(a.body)) {
				t.Errorf("Content-Length %s of %d", length, len(a.body))
			}
			if test.zipped {
				a.body = unzipped(t, a.body)
			}
			if test.stream {
				if steps, last := linesOf(t, a); len(steps) != 1 || last["data"] != test.data {
					t.Errorf("%v, %v", steps, last)
				}
			} else if got := string(a.body); !strings.HasPrefix(got, `{"data":"`+test.data+`"`) {
				t.Errorf("%.100s", got)
			}
		})
	}
}

// Pieces of any length can be read as they come, and are a whole gzip file in the end.
func TestPack(t *testing.T) {
	t.Parallel()
	z := newZip()
	var all bytes.Buffer
	var want strings.Builder
	for _, size := range []int{0, 1, 100, 1 << 15, 1 << 20} {
		piece := bytes.Repeat([]byte("abc\n"), size)
		want.Write(piece)
		all.Write(z.pack(piece))
		open, err := gzip.NewReader(bytes.NewReader(all.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(open); string(got) != want.String() || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after %d: %d of %d, %v", size, len(got), want.Len(), err)
		}
	}
	all.Write(z.packLast([]byte("end")))
	if got := string(unzipped(t, all.Bytes())); got != want.String()+"end" {
		t.Errorf("%d of %d", len(got), want.Len()+3)
	}
}

func unzipped(t *testing.T, packed []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
