package gunzip

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"
)

func pack(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// read returns the text, whether other bytes followed it, and the error.
func read(from io.Reader) (text string, trailing bool, err error) {
	r, err := NewReader(bufio.NewReader(from), func() { trailing = true })
	if err != nil {
		return "", false, err
	}
	all, err := io.ReadAll(r)
	return string(all), trailing, err
}

func TestRead(t *testing.T) {
	t.Parallel()
	one := pack(t, "one ")
	spoilt := one[:len(one)-5] + "\xff" + one[len(one)-4:]
	reset := errors.New("reset")
	for name, test := range map[string]struct {
		from     io.Reader
		text     string
		trailing bool
		err      error
	}{
		"one member":             {strings.NewReader(one), "one ", false, nil},
		"byte by byte":           {iotest.OneByteReader(strings.NewReader(one + one)), "one one ", false, nil},
		"with its end":           {iotest.DataErrReader(strings.NewReader(one)), "one ", false, nil},
		"two members":            {strings.NewReader(one + one), "one one ", false, nil},
		"empty ones":             {strings.NewReader(strings.Repeat(pack(t, ""), 100) + one), "one ", false, nil},
		"a comment behind it":    {strings.NewReader(one + "<!-- cached -->"), "one ", true, nil},
		"one byte behind it":     {strings.NewReader(one + "\n"), "one ", true, nil},
		"zeroes behind two":      {strings.NewReader(one + one + "\x00\x00\x00"), "one one ", true, nil},
		"half a magic number":    {strings.NewReader(one + "\x1f"), "one ", true, nil},
		"a magic number alone":   {strings.NewReader(one + "\x1f\x8b"), "one ", false, io.ErrUnexpectedEOF},
		"another method":         {strings.NewReader(one + "\x1f\x8b\x09 no member at all"), "one ", true, nil},
		"a second cut short":     {strings.NewReader(one + one[:len(one)-1]), "one one ", false, io.ErrUnexpectedEOF},
		"a second spoilt":        {strings.NewReader(one + spoilt), "one one ", false, gzip.ErrChecksum},
		"the first spoilt":       {strings.NewReader(spoilt + one), "one ", false, gzip.ErrChecksum},
		"a reset behind it":      {io.MultiReader(strings.NewReader(one), iotest.ErrReader(reset)), "one ", false, reset},
		"a reset in a second":    {io.MultiReader(strings.NewReader(one+one[:11]), iotest.ErrReader(reset)), "one ", false, reset},
		"no gzip":                {strings.NewReader("User-agent: *"), "", false, gzip.ErrHeader},
		"nothing":                {strings.NewReader(""), "", false, io.EOF},
		"a comment before a one": {strings.NewReader(one + "x" + one), "one ", true, nil},
	} {
		text, trailing, err := read(test.from)
		if text != test.text || trailing != test.trailing || !errors.Is(err, test.err) {
			t.Errorf("%s: %q, trailing %t, %v", name, text, trailing, err)
		}
	}
	if r, err := NewReader(bufio.NewReader(strings.NewReader(one+"x")), nil); err != nil {
		t.Error(err)
	} else if _, err := io.ReadAll(r); err != nil {
		t.Error(err)
	}
}

// FuzzRead compares with the standard library: what that reads whole is read the same, and of what it refuses at the
// header of a later member the members before it are read.
func FuzzRead(f *testing.F) {
	one := pack(f, "one ")
	for _, s := range []string{one, one + one, one + "x", one + "\x1f\x8b\x08", one[:12], "",
		one + "\x1f\x8b\x09xxxxxxxxxx"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		text, trailing, err := read(bytes.NewReader(packed))
		var want []byte
		std, wantErr := gzip.NewReader(bytes.NewReader(packed))
		if wantErr == nil {
			want, wantErr = io.ReadAll(std)
		}
		var corrupt flate.CorruptInputError
		switch {
		case text != string(want):
			t.Fatalf("%q, the library has %q", text, want)
		case trailing && (err != nil || wantErr == nil):
			t.Fatalf("trailing bytes, %v and %v", err, wantErr)
		case !trailing && !errors.Is(err, wantErr) && !errors.As(err, &corrupt):
			t.Fatalf("%v, the library has %v", err, wantErr)
		}
	})
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
