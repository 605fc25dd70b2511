package sslchecker

import (
	"crypto/tls"
	"encoding/binary"
	"testing"
)

// serverHello makes the record of a ServerHello, with a supported_versions extension where selected is not 0.
func serverHello(legacy, selected uint16) []byte {
	body := binary.BigEndian.AppendUint16(nil, legacy)
	body = append(body, make([]byte, 32)...)
	body = append(body, 0 /* session id */, 0x13, 0x01, 0)
	if selected != 0 {
		body = append(body, 0, 12, 0, 51, 0, 2, 1, 1, 0, 43, 0, 2) // key_share first, so that it is stepped over
		body = binary.BigEndian.AppendUint16(body, selected)
	}
	message := append([]byte{2, 0, 0, byte(len(body))}, body...)
	return append([]byte{22, 3, 3, 0, byte(len(message))}, message...)
}

func alert(level, description byte) []byte { return []byte{21, 3, 1, 0, 2, level, description} }

func TestSSLReadOpening(t *testing.T) {
	t.Parallel()
	hello12 := serverHello(tls.VersionTLS12, 0)
	for _, c := range []struct {
		name string
		in   []byte
		want opening
	}{
		{"nothing", nil, opening{alert: -1}},
		{"half a header", []byte{22, 3}, opening{alert: -1}},
		{"TLS 1.2", hello12, opening{version: tls.VersionTLS12, alert: -1}},
		{"TLS 1.3", serverHello(tls.VersionTLS12, tls.VersionTLS13), opening{version: tls.VersionTLS13, alert: -1}},
		{"TLS 1.0", serverHello(tls.VersionTLS10, 0), opening{version: tls.VersionTLS10, alert: -1}},
		{"cut short", hello12[:20], opening{alert: -1}},
		{"in two records", append(append([]byte{22, 3, 3, 0, 10}, hello12[5:15]...), append([]byte{22, 3, 3, 0, byte(len(hello12) - 15)}, hello12[15:]...)...),
			opening{version: tls.VersionTLS12, alert: -1}},
		{"refused", alert(2, 70), opening{alert: 70}},
		{"warned, then answered", append(alert(1, 112), hello12...), opening{version: tls.VersionTLS12, alert: -1}},
		{"closed", alert(1, 0), opening{alert: 0}},
		{"answered, then failed", append(append([]byte(nil), hello12...), alert(2, 40)...), opening{version: tls.VersionTLS12, alert: -1}},
		{"SSH", []byte("SSH-2.0-OpenSSH"), opening{alert: -1}},
	} {
		if got := readOpening(c.in); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func FuzzSSLReadOpening(f *testing.F) {
	f.Add(serverHello(tls.VersionTLS12, tls.VersionTLS13))
	f.Add(append(alert(1, 112), serverHello(tls.VersionTLS10, 0)...))
	f.Add(alert(2, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		o := readOpening(b)
		if o.version != 0 && o.alert >= 0 {
			t.Errorf("both a choice and a refusal: %+v", o)
		}
	})
}
