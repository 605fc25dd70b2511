//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/tlsreference"
	"diagnostics/lab/internal/tlsserver"
	"diagnostics/shared/skiptest"
)

// startTLSServers runs the lab's TLS servers once for all tests.
var startTLSServers = sync.OnceValues(func() (missing []string, err error) {
	return internet.StartTLSServers(context.Background())
})

// tlsServers are the servers of the table, all running.
func tlsServers(t *testing.T) []tlsserver.Server {
	t.Helper()
	missing, err := startTLSServers()
	if err != nil {
		t.Fatal(err)
	}
	if len(missing) > 0 {
		skiptest.Skip(t, fmt.Sprintf("%s: not installed here; .ci/run installs them", missing))
	}
	return internet.TLSServers()
}

// ssl-checker reports of each of the lab's TLS servers the truth of their table.
func TestTLSServers(t *testing.T) {
	t.Parallel()
	for _, s := range tlsServers(t) {
		t.Run(s.Host, func(t *testing.T) {
			t.Parallel()
			a := call(t, "ssl-checker", strings.TrimSuffix(s.Input(), ":443"), nil)
			if limit := 25 * time.Second; a.Took > limit {
				t.Errorf("took %v, and may take %v", a.Took, limit)
			}
			want := s.Truth.Status
			if want == 0 {
				want = http.StatusOK
			}
			if a.Status != want {
				t.Fatalf("status %d, want %d: %.500s", a.Status, want, a.Body)
			}
			if want != http.StatusOK {
				return
			}
			holdTLSTruth(t, s, a)
		})
	}
}

// tlsAnswer is what is held against the truth.
type tlsAnswer struct {
	Data struct {
		AuthorizationError *string `json:"authorizationError"`
		Issues             []struct{ Code string }
		SupportedProtocols map[string]*bool
		CipherSuites       []struct{ Protocol, Name string }
		Groups             []string
		Complete           bool
		Certificate        struct{ Subject string }
		Chain              []struct{ Subject string }
		OCSPStapling       struct{ Status *string }
		Endpoints          []struct {
			Address            string
			AuthorizationError *string
		}
	}
}

func holdTLSTruth(t *testing.T, s tlsserver.Server, a answer) {
	t.Helper()
	truth := s.Truth
	var reported tlsAnswer
	if err := json.Unmarshal(a.Body, &reported); err != nil {
		t.Fatal(err)
	}
	data := reported.Data
	same := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	suites := map[string][]string{}
	for _, protocol := range tlsserver.Protocols {
		got := "null"
		if taken := data.SupportedProtocols[protocol]; taken != nil {
			got = fmt.Sprint(*taken)
		}
		same(protocol, got, fmt.Sprint(truth.Takes(protocol)))
	}
	for _, suite := range data.CipherSuites {
		suites[suite.Protocol] = append(suites[suite.Protocol], suite.Name)
	}
	for protocol, want := range truth.Suites {
		got := suites[protocol]
		if truth.Order != tlsserver.Servers {
			got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
		}
		if len(got)+len(want) > 0 {
			same(protocol+" suites", got, want)
		}
		delete(suites, protocol)
	}
	same("suites of other protocols", len(suites), 0)
	same("groups", fmt.Sprint(slices.Sorted(slices.Values(data.Groups))),
		fmt.Sprint(slices.Sorted(slices.Values(truth.Groups))))
	same("complete", data.Complete, !truth.ShortHellos)
	codes := []string{}
	for _, issue := range data.Issues {
		codes = append(codes, issue.Code)
	}
	slices.Sort(codes)
	same("issues", codes, truth.Codes())
	same("authorizationError", text(data.AuthorizationError), truth.Error)
	same("staple", text(data.OCSPStapling.Status), truth.Staple)
	sent := []string{commonName(data.Certificate.Subject)}
	for _, c := range data.Chain {
		sent = append(sent, commonName(c.Subject))
	}
	same("certificates", sent, truth.Sent)
	for _, endpoint := range data.Endpoints {
		i := slices.IndexFunc(s.Addresses, func(a netip.Addr) bool { return a.String() == endpoint.Address })
		want := truth.Error
		if i >= 0 && truth.Endpoints != nil {
			want = truth.Endpoints[i]
		}
		same(endpoint.Address, text(endpoint.AuthorizationError), want)
	}
	same("addresses", len(data.Endpoints), len(s.Addresses))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// commonName is that of a name as the service writes it, such as "CN=a,O=b".
func commonName(subject string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(subject, "CN="), ",")
	return name
}

// The references report the truth of the table too, or what the table explains.
func TestTLSServersByReferences(t *testing.T) {
	t.Parallel()
	at := filepath.Join(internet.Dir(), "tls", "server-order.lab-tls.com")
	client := tlsreference.Client{
		Roots: internet.RootsFile(), Certificate: at + ".leaf.pem", Key: at + ".key",
		Run: func(ctx context.Context, program string, args ...string) ([]byte, error) {
			return internet.Exec(ctx, lab.ServiceHost, program, args...)
		},
	}
	for _, s := range tlsServers(t) {
		t.Run(s.Host, func(t *testing.T) {
			t.Parallel()
			for i, address := range s.Addresses {
				truth := s.Truth
				if truth.Endpoints != nil {
					truth.Error = truth.Endpoints[i]
				}
				holdReferences(t, client, s, truth, net.JoinHostPort(address.String(), strconv.Itoa(s.Port)))
			}
		})
	}
}

func holdReferences(
	t *testing.T, client tlsreference.Client, s tlsserver.Server, truth tlsserver.Truth, address string,
) {
	t.Helper()
	if truth.Suites == nil {
		if client.Takes(t.Context(), s, address) {
			t.Errorf("openssl shakes hands at %s", address)
		}
		return
	}
	reference := "openssl"
	seen, err := client.Ask(t.Context(), s, address)
	if err != nil {
		t.Fatal(err)
	}
	if s.Program == "gnutls-serv" {
		reference, seen = "gnutls", client.AskGnuTLS(t.Context(), s, address)
	}
	if slices.Contains(truth.Groups, "X25519MLKEM768") {
		seen.Groups = tlsreference.GoGroups(t.Context(), internet.Dial, s, address)
	}
	for _, difference := range tlsreference.Compare(reference, truth, seen, tlsserver.Protocols[1:]) {
		t.Errorf("%s, at %s: %s", reference, address, difference)
	}
}
