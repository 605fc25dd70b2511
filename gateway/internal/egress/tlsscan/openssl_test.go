package tlsscan

import (
	"bufio"
	"bytes"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"diagnostics/shared/skiptest"
)

func hasOpenSSL() bool {
	_, err := exec.LookPath("openssl")
	return err == nil
}

// openSSL runs its command.
func openSSL(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "openssl", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("openssl %q: %v: %s", args, err, out)
	}
}

// parameters writes the second group of Oakley (RFC 2409 section 6.2), of 1,024 bits, as parameters of DH.
func parameters(t *testing.T, file string) {
	t.Helper()
	const prime = "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD" +
		"EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED" +
		"EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF"
	p, _ := new(big.Int).SetString(prime, 16)
	der, err := asn1.Marshal(struct{ P, G *big.Int }{p, big.NewInt(2)})
	if err != nil {
		t.Fatal(err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "DH PARAMETERS", Bytes: der})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
}

// keys makes a certificate of each kind in a folder: ec, rsa, dsa, brainpool and ed25519.
func keys(t *testing.T, dir string, kinds ...string) {
	t.Helper()
	options := map[string][]string{
		"ec":        {"-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"},
		"brainpool": {"-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:brainpoolP256r1"},
		"ed25519":   {"-newkey", "ed25519"},
		"rsa":       {"-newkey", "rsa:2048"},
		"dsa":       {"-newkey", "dsa:" + filepath.Join(dir, "dsa.param")},
	}
	for _, kind := range kinds {
		file := filepath.Join(dir, kind)
		if kind == "dsa" {
			openSSL(t, "dsaparam", "-out", file+".param", "1024")
		}
		openSSL(t, append([]string{"req", "-x509", "-nodes", "-keyout", file + ".key", "-out", file + ".pem",
			"-subj", "/CN=example.com"}, options[kind]...)...)
	}
}

// serveOpenSSL starts a server of OpenSSL's command.
func serveOpenSSL(t *testing.T, args ...string) *far {
	t.Helper()
	args = append([]string{"s_server", "-accept", "127.0.0.1:0"}, args...)
	server := exec.CommandContext(t.Context(), "openssl", args...)
	in, err := server.StdinPipe() // which it reads to its end
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	server.Stderr = &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = server.Process.Kill(), in.Close()
		_ = server.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, address, found := strings.Cut(lines.Text(), "ACCEPT "); found {
			drained := make(chan struct{})
			go func() {
				defer close(drained)
				for lines.Scan() {
				}
			}()
			t.Cleanup(func() {
				_ = server.Process.Kill()
				<-drained
			})
			return &far{address: address}
		}
	}
	t.Fatalf("openssl %q did not start: %s", args, said.String())
	return nil
}

// openSSLIDs are the suites that OpenSSL has by its own names, in its order.
func openSSLIDs(t *testing.T, names string) (all []uint16) {
	t.Helper()
	for name := range strings.SplitSeq(names, ":") {
		at := slices.IndexFunc(registry, func(r registered) bool { return r.openSSL == name })
		if at < 0 {
			t.Fatalf("OpenSSL has no suite %s", name)
		}
		all = append(all, registry[at].id)
	}
	return all
}

// What Go has never implemented is found on OpenSSL's server, and every kind of probe agrees.
func TestScanOpenSSL(t *testing.T) {
	t.Parallel()
	if !hasOpenSSL() {
		skiptest.Skip(t, "openssl is not installed")
	}
	dir := t.TempDir()
	keys(t, dir, "rsa", "ec", "dsa", "brainpool", "ed25519")
	parameters(t, filepath.Join(dir, "dh1024"))
	openSSL(t, "genpkey", "-genparam", "-algorithm", "DH", "-pkeyopt", "group:ffdhe3072",
		"-out", filepath.Join(dir, "ffdhe3072"))
	const insecure = "@SECLEVEL=0:"
	cert := func(kind string) []string {
		return []string{"-cert", filepath.Join(dir, kind+".pem"), "-key", filepath.Join(dir, kind+".key")}
	}
	for name, c := range map[string]struct {
		kind   string
		args   []string
		words  string
		suites map[Version]string // by OpenSSL's names, in the order of the report
		groups string             // "" is not looked at
		dhBits int
	}{
		// Go reports these as refused: it has no DHE.
		"DHE alone in TLS 1.0 and 1.1": {
			"rsa", []string{"-no_tls1_2", "-no_tls1_3", "-dhparam", filepath.Join(dir, "dh1024"), "-cipher", insecure + "DHE-RSA-AES256-SHA:DHE-RSA-AES128-SHA"},
			"--++-", map[Version]string{TLS11: "DHE-RSA-AES256-SHA:DHE-RSA-AES128-SHA", TLS10: "DHE-RSA-AES256-SHA:DHE-RSA-AES128-SHA"}, "", 1024,
		},
		"a group of RFC 7919": {
			"rsa", []string{"-tls1_2", "-dhparam", filepath.Join(dir, "ffdhe3072"), "-cipher", "DHE-RSA-AES256-GCM-SHA384"},
			"-+---", map[Version]string{TLS12: "DHE-RSA-AES256-GCM-SHA384"}, "ffdhe3072", 3072,
		},
		"CCM": {
			"ec", []string{"-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-CCM8:ECDHE-ECDSA-AES256-CCM", "-serverpref"},
			"-+---", map[Version]string{TLS12: "ECDHE-ECDSA-AES128-CCM8:ECDHE-ECDSA-AES256-CCM"}, "x25519 secp256r1", 0,
		},
		"Camellia and ARIA": {
			"rsa", []string{"-tls1_2", "-cipher", "CAMELLIA128-SHA256:ARIA256-GCM-SHA384:ECDHE-ARIA128-GCM-SHA256", "-serverpref"},
			"-+---", map[Version]string{TLS12: "CAMELLIA128-SHA256:ARIA256-GCM-SHA384:ECDHE-ARIA128-GCM-SHA256"}, "", 0,
		},
		"X448 alone": {
			"rsa", []string{"-groups", "X448", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256", "-ciphersuites", "TLS_AES_128_GCM_SHA256"},
			"++---", map[Version]string{TLS13: "TLS_AES_128_GCM_SHA256", TLS12: "ECDHE-RSA-AES128-GCM-SHA256"}, "x448", 0,
		},
		"old curves": {
			"rsa", []string{"-tls1_2", "-groups", "brainpoolP384r1:sect571r1:P-224:secp256k1", "-cipher", insecure + "ECDHE-RSA-AES128-GCM-SHA256"},
			"-+---", map[Version]string{TLS12: "ECDHE-RSA-AES128-GCM-SHA256"}, "brainpoolP384r1 secp256k1 sect571r1 secp224r1", 0,
		},
		"a certificate on a curve of Brainpool": {
			"brainpool", []string{"-tls1_2", "-groups", "brainpoolP256r1:P-384", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"},
			"-+---", map[Version]string{TLS12: "ECDHE-ECDSA-AES128-GCM-SHA256"}, "", 0,
		},
		"anonymous and NULL": {
			"rsa", []string{"-tls1_2", "-cipher", insecure + "NULL-SHA256:NULL-MD5:AECDH-AES128-SHA:ADH-AES128-SHA:AES128-SHA"},
			"-+---", map[Version]string{TLS12: "AES128-SHA:AECDH-AES128-SHA:ADH-AES128-SHA:NULL-MD5:NULL-SHA256"}, "", 1024,
		},
		"DSS": {
			"dsa", []string{"-no_tls1_3", "-cipher", insecure + "DHE-DSS-AES128-GCM-SHA256:DHE-DSS-AES256-SHA"},
			"-+++-", map[Version]string{TLS12: "DHE-DSS-AES128-GCM-SHA256:DHE-DSS-AES256-SHA", TLS11: "DHE-DSS-AES256-SHA", TLS10: "DHE-DSS-AES256-SHA"}, "", 1024,
		},
		"suites that come in both chunks": {
			"rsa", []string{"-tls1_2", "-psk", "1234", "-cipher", "RSA-PSK-AES128-CBC-SHA:AES128-SHA:RSA-PSK-AES256-GCM-SHA384:AES256-SHA", "-serverpref"},
			"-+---", map[Version]string{TLS12: "AES128-SHA:AES256-SHA:RSA-PSK-AES128-CBC-SHA:RSA-PSK-AES256-GCM-SHA384"}, "", 0,
		},
		"the server's order in TLS 1.3": {
			"ec", []string{"-tls1_3", "-ciphersuites", "TLS_AES_128_CCM_8_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256", "-groups", "P-521:X25519:ffdhe2048", "-serverpref"},
			"+----", map[Version]string{TLS13: "TLS_AES_128_CCM_8_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256"}, "", 0,
		},
		"the same order as ours": {
			"ec", []string{"-no_tls1_1", "-no_tls1", "-ciphersuites", "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256", "-serverpref"},
			"++---", map[Version]string{TLS13: "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256", TLS12: "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256"}, "", 0,
		},
		"ChaCha20 for clients that prefer it": {
			"ec", []string{"-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305", "-serverpref", "-prioritize_chacha"},
			"-+---", map[Version]string{TLS12: "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305"}, "", 0,
		},
		"Ed25519": {
			"ed25519", []string{"-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256", "-groups", "P-384:X25519"},
			"-+---", map[Version]string{TLS12: "ECDHE-ECDSA-AES128-GCM-SHA256"}, "", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := scan(t, serveOpenSSL(t, append(cert(c.kind), c.args...)...))
			if got.words() != c.words || !got.Complete || got.DHBits != c.dhBits {
				t.Errorf("%s, complete %v, %d bits", got.words(), got.Complete, got.DHBits)
			}
			for _, v := range Versions {
				if c.suites[v] == "" {
					if ids := got.suitesOf(v); ids != nil {
						t.Errorf("%s: %x", v, ids)
					}
					continue
				}
				want := openSSLIDs(t, c.suites[v])
				if ids := got.suitesOf(v); !slices.Equal(ids, want) {
					t.Errorf("%s: %x, want %x", v, ids, want)
				}
			}
			var names []string
			for _, group := range got.Groups {
				names = append(names, GroupName(group))
			}
			if words := strings.Join(names, " "); c.groups != "" && words != c.groups {
				t.Errorf("groups %s, want %s", words, c.groups)
			}
		})
	}
}

// The certificates of servers that Go cannot speak to are read all the same, and both of a server that has two.
func TestReadHandshakeOpenSSL(t *testing.T) {
	t.Parallel()
	if !hasOpenSSL() {
		skiptest.Skip(t, "openssl is not installed")
	}
	dir := t.TempDir()
	keys(t, dir, "rsa", "ec", "ed25519")
	both := []string{"-cert", filepath.Join(dir, "rsa.pem"), "-key", filepath.Join(dir, "rsa.key"),
		"-dcert", filepath.Join(dir, "ec.pem"), "-dkey", filepath.Join(dir, "ec.key")}
	for _, c := range []struct {
		args    []string
		hello   Hello
		kind    string // "" has no certificate
		suite   string
		version Version
	}{
		{append(both, "-tls1_2"), Hello{Authentication: "RSA"}, "rsa", "", TLS12},
		{append(both, "-tls1_2"), Hello{Authentication: "ECDSA"}, "ec", "", TLS12},
		{append(both, "-tls1_3"), Hello{Authentication: "RSA"}, "rsa", "", TLS13},
		{append(both, "-tls1_3"), Hello{Authentication: "ECDSA"}, "ec", "", TLS13},
		{append(both, "-tls1_3", "-ciphersuites", "TLS_AES_128_CCM_SHA256"), Hello{}, "", "TLS_AES_128_CCM_SHA256", TLS13},
		{append(both, "-tls1_3", "-ciphersuites", "TLS_AES_128_CCM_8_SHA256"), Hello{}, "", "TLS_AES_128_CCM_8_SHA256", TLS13},
		{append(both, "-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"), Hello{}, "", "TLS_CHACHA20_POLY1305_SHA256", TLS13},
		{append(both, "-tls1_3", "-ciphersuites", "TLS_AES_256_GCM_SHA384", "-groups", "P-521"), Hello{}, "", "TLS_AES_256_GCM_SHA384", TLS13},
		{append(both, "-tls1_2", "-cipher", "DHE-RSA-CAMELLIA256-SHA"), Hello{}, "rsa", "DHE-RSA-CAMELLIA256-SHA", TLS12},
		{append(both, "-tls1_1", "-cipher", "@SECLEVEL=0:DHE-RSA-AES128-SHA"), Hello{}, "rsa", "DHE-RSA-AES128-SHA", TLS11},
		{append(both, "-tls1", "-cipher", "@SECLEVEL=0:AES128-SHA"), Hello{Versions: []Version{TLS10, TLS12}}, "rsa", "AES128-SHA", TLS10},
		{[]string{"-cert", filepath.Join(dir, "ed25519.pem"), "-key", filepath.Join(dir, "ed25519.key"), "-tls1_3"}, Hello{Authentication: "ECDSA"}, "ed25519", "", TLS13},
	} {
		t.Run(fmt.Sprint(c.args[len(c.args)-1], c.hello), func(t *testing.T) {
			t.Parallel()
			server := serveOpenSSL(t, c.args...)
			c.hello.ServerName = "example.com"
			got, err := ReadHandshake(t.Context(), server.connect(t), c.hello)
			other := c.suite != "" && got.Suite.OpenSSL != c.suite
			if err != nil || got.Version != c.version || len(got.Certificates) != 1 || other {
				t.Fatalf("%+v, %v", got, err)
			}
			if c.kind == "" {
				return
			}
			text, err := os.ReadFile(filepath.Join(dir, c.kind+".pem"))
			if err != nil {
				t.Fatal(err)
			}
			if block, _ := pem.Decode(text); !bytes.Equal(got.Certificates[0], block.Bytes) {
				t.Errorf("it is not the certificate %s", c.kind)
			}
		})
	}
}

// Servers of TLS 1.3 with one group alone: their certificate is read where keys can be computed in it.
func TestGroupsOfTLS13(t *testing.T) {
	t.Parallel()
	if !hasOpenSSL() {
		skiptest.Skip(t, "there is no openssl command")
	}
	dir := t.TempDir()
	keys(t, dir, "ec")
	for name, want := range map[string]struct {
		group uint16
		err   error
	}{
		"ffdhe2048": {groupFFDHE2048, nil}, "ffdhe3072": {groupFFDHE3072, nil}, "ffdhe4096": {groupFFDHE4096, nil},
		"ffdhe6144": {groupFFDHE6144, nil}, "ffdhe8192": {groupFFDHE8192, nil}, "P-384": {groupP384, nil},
		"X448": {30, ErrNotComputed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serveOpenSSL(t, "-cert", filepath.Join(dir, "ec.pem"), "-key", filepath.Join(dir, "ec.key"),
				"-groups", name)
			got, err := ReadHandshake(t.Context(), server.connect(t), Hello{Versions: []Version{TLS13}})
			if !errors.Is(err, want.err) || got.Version != TLS13 || got.Group != want.group {
				t.Errorf("group %d, %v", got.Group, err)
			}
			if certificates := len(got.Certificates); (certificates == 1) != (want.err == nil) {
				t.Errorf("%d certificates", certificates)
			}
		})
	}
}

// Shares that are no element of the group, or of another length, are malformed.
func TestFiniteFieldShares(t *testing.T) {
	t.Parallel()
	for group, field := range finiteFields {
		ours, err := newAgreement(group)
		if err != nil {
			t.Fatal(err)
		}
		p, size := field.prime(), field.bits/8
		if !p.ProbablyPrime(0) || !new(big.Int).Rsh(p, 1).ProbablyPrime(0) || !bytes.HasPrefix(p.Bytes(), ffdhePrefix) {
			t.Errorf("%s: not a safe prime", GroupName(group))
		}
		for name, y := range map[string]*big.Int{
			"0": big.NewInt(0), "1": big.NewInt(1), "p - 1": new(big.Int).Sub(p, big.NewInt(1)), "p": p,
		} {
			if _, err := ours.finish(y.FillBytes(make([]byte, size))); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: %s: %v", GroupName(group), name, err)
			}
		}
		for name, share := range map[string][]byte{"short": ours.share.data[1:], "long": append([]byte{0},
			ours.share.data...)} {
			if _, err := ours.finish(share); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: %s: %v", GroupName(group), name, err)
			}
		}
		theirs, err := newAgreement(group)
		if err != nil {
			t.Fatal(err)
		}
		one, err1 := ours.finish(theirs.share.data)
		two, err2 := theirs.finish(ours.share.data)
		if err1 != nil || err2 != nil || !bytes.Equal(one, two) || len(one) != size {
			t.Errorf("%s: the secrets differ: %v, %v", GroupName(group), err1, err2)
		}
	}
}
