package tlsserver

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"diagnostics/lab/internal/site"
)

// files are a certificate as programs take it: the leaf alone, those sent behind it, all of them, and the key.
type files struct{ leaf, behind, all, key string }

// order is the order with the server's own name where it names none.
func (s Server) order(o site.Order) site.Order {
	if o.Names == nil {
		o.Names = []string{s.Host}
	}
	return o
}

// write makes the certificate of an order and its files.
func (w *workshop) write(name string, o site.Order) (files, error) {
	made, err := w.ca.Make(o)
	if err != nil {
		return files{}, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		return files{}, err
	}
	blocks := []string{"", "", "", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))}
	for i, der := range made.Certificate {
		text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
		blocks[min(i, 1)] += text
		blocks[2] += text
	}
	f := files{}
	for i, part := range []struct {
		path *string
		end  string
	}{{&f.leaf, ".leaf.pem"}, {&f.behind, ".behind.pem"}, {&f.all, ".pem"}, {&f.key, ".key"}} {
		*part.path = filepath.Join(w.Dir, name+part.end)
		if err := os.WriteFile(*part.path, []byte(blocks[i]), 0o644); err != nil {
			return files{}, err
		}
	}
	return f, nil
}

// sServer runs `openssl s_server` with a certificate and these arguments.
func sServer(o site.Order, args ...string) func(*workshop, Server) error {
	return func(w *workshop, s Server) error {
		f, err := w.write(s.Host, s.order(o))
		if err != nil {
			return err
		}
		// -www answers a request and closes; without it the server would talk with its standard input.
		all := append([]string{"s_server", "-accept", s.at(0), "-www", "-quiet", "-cert", f.leaf, "-cert_chain", f.behind,
			"-key", f.key}, args...)
		return w.Run("tls-"+s.Host, "openssl", all...)
	}
}

// twoCertificates is sServer with a second certificate, which has an ECDSA key, beside an RSA one.
func twoCertificates(args ...string) func(*workshop, Server) error {
	return func(w *workshop, s Server) error {
		second, err := w.write(s.Host+".ecdsa", s.order(site.Order{}))
		if err != nil {
			return err
		}
		more := append([]string{"-dcert", second.leaf, "-dcert_chain", second.behind, "-dkey", second.key}, args...)
		return sServer(site.Order{Key: "rsa"}, more...)(w, s)
	}
}

// withDH is sServer with a prime of so many bits for Diffie-Hellman.
func withDH(bits int, args ...string) func(*workshop, Server) error {
	return func(w *workshop, s Server) error {
		prime, ok := new(big.Int).SetString(primes[bits], 16)
		if !ok {
			return fmt.Errorf("no prime of %d bits", bits)
		}
		der, err := asn1.Marshal(struct {
			P *big.Int
			G int
		}{prime, 2})
		if err != nil {
			return err
		}
		path := filepath.Join(w.Dir, s.Host+".dh.pem")
		text := pem.EncodeToMemory(&pem.Block{Type: "DH PARAMETERS", Bytes: der})
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
		return sServer(site.Order{Key: "rsa"}, append([]string{"-dhparam", path}, args...)...)(w, s)
	}
}

// primes are those of RFC 2409 section 6.2 and of RFC 3526 section 3.
var primes = map[int]string{
	1024: "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD" +
		"EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED" +
		"EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF",
	2048: "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD" +
		"EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED" +
		"EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F" +
		"83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B" +
		"E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF6955817183995497CEA956AE515D2261898FA0510" +
		"15728E5A8AACAA68FFFFFFFFFFFFFFFF",
}

// gnuTLS runs gnutls-serv, which listens on its port of every address. The priorities are GnuTLS's.
func gnuTLS(priorities string) func(*workshop, Server) error {
	return func(w *workshop, s Server) error {
		f, err := w.write(s.Host, s.order(site.Order{Key: "rsa"}))
		if err != nil {
			return err
		}
		return w.Run("tls-"+s.Host, "gnutls-serv", "--http", "--quiet", "--disable-client-cert",
			"--port", strconv.Itoa(s.Port),
			"--x509certfile", f.all, "--x509keyfile", f.key, "--priority", priorities)
	}
}

// nginxServer is a server of the one nginx, with a certificate of each order and these lines.
func nginxServer(lines string, orders ...site.Order) func(*workshop, Server) error {
	return func(w *workshop, s Server) error {
		fmt.Fprintf(&w.nginx, "server {\nlisten %s ssl;\nserver_name %s;\n%s\n", s.at(0), s.Host, lines)
		for i, o := range orders {
			f, err := w.write(fmt.Sprint(s.Host, ".", i), s.order(o))
			if err != nil {
				return err
			}
			fmt.Fprintf(&w.nginx, "ssl_certificate %s;\nssl_certificate_key %s;\n", f.all, f.key)
		}
		w.nginx.WriteString("location / { return 200; }\n}\n")
		return nil
	}
}

// both is a server that two ways of starting make together.
func both(first, second func(*workshop, Server) error) func(*workshop, Server) error {
	return func(w *workshop, s Server) error {
		if err := first(w, s); err != nil {
			return err
		}
		return second(w, s)
	}
}

// nginxDefault is what nginx does with names that it does not have, at the address of the server before it.
func nginxDefault(lines string, orders ...site.Order) func(*workshop, Server) error {
	return func(w *workshop, s Server) error {
		before := w.nginx.Len()
		s.Host = "other." + Zone
		if err := nginxServer(lines, orders...)(w, s); err != nil {
			return err
		}
		text := w.nginx.String()
		w.nginx.Reset()
		w.nginx.WriteString(text[:before] + strings.Replace(text[before:], " ssl;", " ssl default_server;", 1))
		return nil
	}
}

func (w *workshop) startNginx() error {
	if w.nginx.Len() == 0 {
		return nil
	}
	const frame = `daemon off; master_process off; pid %[1]s/nginx.pid; error_log %[1]s/nginx-error.log;
events { worker_connections 512; }
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
%[2]s}
`
	path := filepath.Join(w.Dir, "nginx.conf")
	if err := os.WriteFile(path, fmt.Appendf(nil, frame, w.Dir, w.nginx.String()), 0o644); err != nil {
		return err
	}
	return w.Run("tls-nginx", "nginx", "-c", path, "-e", filepath.Join(w.Dir, "nginx-error.log"))
}

// caddyServer is a server of the one Caddy, with these lines of its tls directive.
func caddyServer(lines string) func(*workshop, Server) error {
	return func(w *workshop, s Server) error {
		f, err := w.write(s.Host, s.order(site.Order{}))
		if err != nil {
			return err
		}
		fmt.Fprintf(&w.caddy, "https://%s {\nbind %s\ntls %s %s {\n%s\n}\nrespond \"hello\"\n}\n", s.Host, s.Addresses[0],
			f.all, f.key, lines)
		return nil
	}
}

func (w *workshop) startCaddy() error {
	if w.caddy.Len() == 0 {
		return nil
	}
	path := filepath.Join(w.Dir, "Caddyfile")
	text := "{\nadmin off\nauto_https off\nservers {\nprotocols h1 h2\n}\n}\n" + w.caddy.String()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return err
	}
	return w.Run("tls-caddy", "caddy", "run", "--adapter", "caddyfile", "--config", path)
}

// served is the certificate of an order for a server of this process.
func (w *workshop) served(s Server, o site.Order) (*tls.Config, error) {
	made, err := w.ca.Make(s.order(o))
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{made}}, nil
}
