package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/daemon"
	"diagnostics/daemon/files"
	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/analyze/rootzone"
	"diagnostics/gateway/internal/apidoc/openapi"
	"diagnostics/gateway/internal/apidoc/reference"
	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/httpapi"
	"diagnostics/gateway/internal/httpapi/audit"
	"diagnostics/gateway/internal/limits/addresslimit"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/limits/requests"
	"diagnostics/gateway/internal/metrics"
	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/providers/rdap/bootstrap"
	"diagnostics/gateway/internal/providers/whois"
	"diagnostics/gateway/internal/redis/breaker"
	"diagnostics/gateway/internal/remote/places"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools"
	"diagnostics/gateway/internal/workerclient"
	"diagnostics/gateway/web"

	"github.com/redis/go-redis/v9"
)

// service is the gateway, wired.
type service struct {
	edge    *httpapi.Server
	metrics *httpapi.Metrics
	egress  *egress.Client
	breaker *breaker.Breaker     // nil without Redis
	worker  *workerclient.Client // nil without a worker
	places  *places.Set          // nil where this instance is no place
	peerTLS *files.ServerTLS     // nil where no other place is let in by TLS
	audit   *audit.Log           // nil if none is kept
	files   *files.Watcher
	opened  []func() // which end what wire opened

	checks bool // only: no file is created

	delay         shortage.Delay
	redisPassword atomic.Pointer[string] // of RATE_LIMIT_REDIS_TOKEN; nil where that is not set
}

func newService() *service {
	return &service{metrics: httpapi.NewMetrics(), files: &files.Watcher{}}
}

// wire builds every part from the settings. Nothing listens yet.
func wire(c config.Config, env []string, log *slog.Logger) (*service, error) {
	s := newService()
	if err := s.build(c, env, log); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *service) build(c config.Config, env []string, log *slog.Logger) error {
	egress.HostChecker() // before files may run out
	processor := shortage.WatchProcessor()
	s.opened = append(s.opened, processor.Close)
	s.delay = processor.Delay
	limiter := s.newLimiter(c, log)
	caches := metrics.NewCaches(s.metrics.Registerer())
	root, err := rootzone.Read(string(c.RootHintsFile), string(c.TrustAnchorsFile), os.ReadFile)
	if err != nil {
		return err
	}
	if s.egress, err = s.newEgress(c, limiter, caches, root); err != nil {
		return err
	}
	s.opened = append(s.opened, s.egress.Close)
	if err := s.newWorker(c, log); err != nil {
		return err
	}
	if err := s.newPlaces(c, log); err != nil {
		return err
	}
	if err := s.newPeerTLS(c); err != nil {
		return err
	}
	peers, err := s.newPeers(c, env)
	if err != nil {
		return err
	}
	store := cache.NewCounted(s.newStore(), caches.Of)
	paces := pace.New(serverBuckets{limiter})
	registries, err := s.newRDAP(c, paces, store, log)
	if err != nil {
		return err
	}
	port43, err := whois.New(whois.Config{Egress: s.egress, Cache: store, Pace: paces})
	if err != nil {
		return err
	}
	networks := asn.New(s.egress, string(c.ASNZone), store)
	all := tools.All(tools.Deps{
		Egress: s.egress, RDAP: registries, WHOIS: port43, ASN: networks, Worker: s.worker, Cache: store,
		Certs: egress.HostChecker(), Now: time.Now, Hints: root.Hints, Anchors: root.Anchors,
	})
	if err := c.CheckSlugs(slugs(all)); err != nil {
		return err
	}
	if err := s.openAudit(string(c.AuditLogFile), log); err != nil {
		return err
	}
	api, err := describedAPI()
	if err != nil {
		return err
	}
	pages, err := newPages(c, all, s.worker != nil, s.placesOfPages)
	if err != nil {
		return err
	}
	s.edge, err = httpapi.New(httpapi.Config{
		Tools:                all,
		Description:          api.text,
		Disabled:             c.DisabledTools,
		WorkerEnabled:        s.worker != nil,
		Deny:                 s.egress,
		CountedKey:           s.egress.CountedKey,
		OwnPlace:             s.ownPlace(c),
		Places:               s.places,
		Peers:                peers,
		Limiter:              limiter,
		Limits:               limits(c),
		MaxInFlight:          int(c.MaxInFlight),
		MaxInFlightPerClient: int(c.MaxInFlightEach),
		Clients:              clientip.New(c.Trust(), log),
		MaxConnections:       int(c.MaxConnections),
		Bounds:               httpapi.DefaultBounds(),
		PublicOrigin:         c.PublicOrigin,
		Pages:                pages.Serve,
		LimitedPage:          pages.ServeLimited,
		Redis:                redisState(s.breaker),
		Worker:               workerState(s.worker),
		Metrics:              s.metrics,
		Log:                  log,
		Audit:                s.auditor(),
		Now:                  time.Now,
		Delay:                s.delay,
		RunLimit:             httpapi.RunLimit,
	})
	if err != nil {
		return err
	}
	return c.WatchLists(s.files, config.ListSetters{
		DenyTargets: s.egress.SetDenyFile, HostAddresses: s.egress.SetHostFile,
		DenyClients: s.edge.SetDeniedClients, ClientLimits: s.edge.SetClientLimits,
	})
}

// close lets go of what wire opened, the last first.
func (s *service) close() {
	for _, end := range slices.Backward(s.opened) {
		end()
	}
}

// openAudit opens the audit log at path, if there is one to keep.
func (s *service) openAudit(path string, log *slog.Logger) (err error) {
	switch {
	case path == "":
		return nil
	case s.checks:
		err = audit.CheckPath(path)
	default:
		s.audit, err = audit.Start(path, log)
	}
	if err != nil {
		return fmt.Errorf("AUDIT_LOG_FILE takes the path of a file that this user may write; it cannot be opened: %w", err)
	}
	if s.audit != nil {
		s.opened = append(s.opened, s.audit.Close)
		s.metrics.AuditLines(s.audit.Dropped)
	}
	return nil
}

// auditor returns the audit log as the edge takes it: nil if there is none.
func (s *service) auditor() httpapi.Auditor {
	if s.audit == nil {
		return nil
	}
	return s.audit
}

// newWorker makes no client where the worker is off. A half-configured worker is no reason not to start: its tools
// answer 501.
func (s *service) newWorker(c config.Config, log *slog.Logger) (err error) {
	if !c.EnableWorkerTools {
		return nil
	}
	if !c.WorkerEnabled() {
		missing := "DIAGNOSTICS_WORKER_URL"
		if c.WorkerURL != "" {
			missing = "DIAGNOSTICS_WORKER_TOKEN"
		}
		log.Warn("ENABLE_WORKER_TOOLS is true, but DIAGNOSTICS_WORKER_URL or DIAGNOSTICS_WORKER_TOKEN is missing: "+
			"traceroute, ping and packet-loss answer 501", slog.String("missing", missing))
		return nil
	}
	credentials, err := c.ReadWorkerCredentials(egress.HostChecker().Roots, s.files, log)
	if err != nil {
		return err
	}
	s.worker, err = workerclient.New(string(c.WorkerURL), c.WorkerToken.Reveal(), log,
		workerclient.WithOwnFault(s.egress.OwnFault), workerclient.WithTLS(credentials.Config()),
		workerclient.WithTranslation(s.egress.TranslationPrefixes),
		workerclient.WithObserver(metrics.NewWorker(s.metrics.Registerer())))
	if err == nil {
		s.opened = append(s.opened, s.worker.Close)
		credentials.OnChange(func() { s.worker.SetTLS(credentials.Config()) })
		s.metrics.WorkerUp(s.worker.Serves, s.worker.States)
	}
	return err
}

// watchSecrets rereads the secrets that come from files when these change. A secret of the environment itself stays as
// it was at the start.
func (s *service) watchSecrets(env []string) {
	if path := settings.FileOf(env, "DIAGNOSTICS_WORKER_TOKEN"); path != "" && s.worker != nil {
		of := files.Source{Name: "worker_token", Setting: "DIAGNOSTICS_WORKER_TOKEN_FILE"}
		s.files.Watch(of, func(contents [][]byte) error {
			token, err := config.ParseWorkerToken(contents[0])
			if err != nil {
				return err
			}
			return s.worker.SetToken(token)
		}, path)
	}
	if path := settings.FileOf(env, "RATE_LIMIT_REDIS_TOKEN"); path != "" && s.redisPassword.Load() != nil {
		of := files.Source{Name: "redis_password", Setting: "RATE_LIMIT_REDIS_TOKEN_FILE"}
		s.files.Watch(of, s.setRedisPassword, path)
	}
}

// setRedisPassword is for new connections; open ones stay authenticated.
func (s *service) setRedisPassword(contents [][]byte) error {
	password, err := settings.FileValue(contents[0])
	if err == nil {
		s.redisPassword.Store(&password)
	}
	return err
}

func (s *service) newEgress(
	c config.Config, limiter ratelimit.Limiter, caches *metrics.Caches, root rootzone.Root,
) (*egress.Client, error) {
	return egress.New(egress.Settings{
		Resolvers:         c.Resolvers,
		Families:          egress.FamilySetting(c.EgressFamilies),
		Deny:              c.DenyTargets.Denylist,
		AllowOwnAddresses: bool(c.AllowOwnAddresses),
		HostAddresses:     c.HostAddresses,
		OwnAddress:        func(a netip.Addr) bool { return s.places != nil && s.places.HasAddress(a) },
		NAT64:             c.NAT64.Prefixes,
		ExemptHosts:       c.RDAPHosts(),
		RootServers:       root.Exempt,
		Delay:             s.delay,
		Charge:            addresslimit.New(limiter, int(c.AddressRequests), time.Duration(c.Window)).Allow,
		UserAgent:         userAgent(c),
		Observer:          metrics.NewEgress(s.metrics.Registerer()),
		Providers:         metrics.NewProviders(s.metrics.Registerer()),
		DNSCache:          caches.Of("dns"),
	})
}

func userAgent(c config.Config) string {
	agent := "network-diagnostics/" + daemon.Version()
	if c.ContactURL != "" {
		agent += " (+" + string(c.ContactURL) + ")"
	}
	return agent
}

func slugs(all []tool.Tool) []string {
	out := make([]string, 0, len(all))
	for _, t := range all {
		out = append(out, t.Slug())
	}
	return out
}

// newLimiter counts in memory, or in Redis with memory behind it.
func (s *service) newLimiter(c config.Config, log *slog.Logger) ratelimit.Limiter {
	memory := ratelimit.NewMemory()
	if c.RedisURL.IsZero() {
		if !c.RedisToken.IsZero() {
			log.Warn("RATE_LIMIT_REDIS_TOKEN is set, but RATE_LIMIT_REDIS_URL is not: limits count in memory")
		}
		return memory
	}
	var password func() string
	if !c.RedisToken.IsZero() {
		s.redisPassword.Store(new(c.RedisToken.Reveal()))
		password = func() string { return *s.redisPassword.Load() }
	}
	options := c.RedisURL.Options(password)
	if options.TLSConfig != nil {
		options.TLSConfig.RootCAs = egress.HostChecker().Roots
	}
	breaker.Tune(options)
	client := redis.NewUniversalClient(options)
	log = log.With(slog.String("redis", c.RedisURL.Addresses()))
	s.breaker = breaker.New(client, log, breaker.WithObserver(metrics.NewRedis(s.metrics.Registerer())))
	s.opened = append(s.opened, func() { _ = s.breaker.Close() })
	s.metrics.RedisUp(func() bool { return s.breaker.Check(context.Background()) == breaker.OK })
	return ratelimit.NewFallback(ratelimit.NewRedis(client), memory, s.breaker)
}

// cacheBytes bounds the answers of providers that are kept in memory.
const cacheBytes = 64 << 20

// newStore keeps in memory, and in Redis as well where there is one.
func (s *service) newStore() cache.Store {
	memory := cache.NewMemory(cacheBytes)
	s.opened = append(s.opened, memory.Close)
	if s.breaker == nil {
		return memory
	}
	return cache.NewFallback(cache.NewRedis(s.breaker), memory)
}

func limits(c config.Config) requests.Limits {
	per := func(n settings.Count) ratelimit.Limit {
		return ratelimit.Limit{Requests: int(n), Window: time.Duration(c.Window)}
	}
	l := requests.Limits{Tool: per(c.Requests), Client: per(c.ClientRequests), Target: per(c.TargetRequests),
		Samples: per(c.Samples), Pages: per(c.Pages)}
	if c.PlacesFile != "" {
		l.Ports = per(addresslimit.Ports)
	}
	return l
}

func redisState(breaker *breaker.Breaker) func(context.Context) httpapi.State {
	if breaker == nil {
		return nil
	}
	return func(ctx context.Context) httpapi.State { return httpapi.State(breaker.Check(ctx)) }
}

func workerState(worker *workerclient.Client) func(context.Context) httpapi.State {
	if worker == nil {
		return nil
	}
	return func(ctx context.Context) httpapi.State {
		if _, err := worker.Ready(ctx); err != nil {
			return httpapi.StateDown
		}
		return httpapi.StateOK
	}
}

// apiDescription is the API's description, and what the page on the API shows of it.
type apiDescription struct {
	text string
	page web.API
}

// describedAPI is made once, however many services a process has: tests have many. It lists all tools, and nothing
// that depends on what they are made of.
var describedAPI = sync.OnceValues(func() (apiDescription, error) {
	text, err := openapi.Document(tools.All(tools.Deps{Now: time.Now}))
	if err != nil {
		return apiDescription{}, err
	}
	page, err := reference.Read(text)
	return apiDescription{text: text, page: page}, err
})

func newPages(
	c config.Config, registry []tool.Tool, workerEnabled bool, places func() web.Places,
) (*web.Site, error) {
	registered := make([]web.Registered, 0, len(registry))
	for _, t := range registry {
		r := web.Registered{Slug: t.Slug(), NeedsWorker: t.NeedsWorker(), Parse: parse(t)}
		for _, o := range t.Options() {
			r.Options = append(r.Options,
				web.RegisteredOption{Name: o.Name, Values: o.Values, Number: o.IsNumber(), Boolean: o.Bool})
		}
		registered = append(registered, r)
	}
	api, err := describedAPI()
	if err != nil {
		return nil, err
	}
	return web.New(web.Config{
		Tools:         registered,
		Disabled:      c.DisabledTools,
		WorkerEnabled: workerEnabled,
		Places:        places,
		ContactURL:    string(c.ContactURL),
		PublicOrigin:  c.PublicOrigin.String(),
		Privacy:       privacy(c),
		API:           api.page,
	})
}

// parse returns how the pages read the inputs of a tool.
func parse(t tool.Tool) func(string, map[string]json.RawMessage) (web.Target, bool) {
	return func(input string, options map[string]json.RawMessage) (web.Target, bool) {
		text, err := tool.CleanInput(input)
		if err != nil {
			return web.Target{}, false
		}
		job, err := t.Parse(tool.Input{Text: text, Options: options})
		if err != nil {
			return web.Target{}, false
		}
		return web.Target{Text: job.Target(), Host: job.DenyKey()}, true
	}
}

// privacy is what the page on privacy shows of the settings.
func privacy(c config.Config) web.Privacy {
	return web.Privacy{
		AuditLog:     c.AuditLogFile != "",
		Shared:       !c.RedisURL.IsZero(),
		Window:       time.Duration(c.Window),
		OwnResolvers: len(c.Resolvers) > 0,
		Redirector:   c.OwnRedirector(),
		ASNZone:      string(c.ASNZone),
	}
}

// newPlaces makes the set of places if this instance is one, and reads the file that lists the others.
func (s *service) newPlaces(c config.Config, log *slog.Logger) error {
	if c.PlaceID == "" {
		if c.PeerListenAddr != "" {
			log.Warn("PEER_LISTEN_ADDR is set, but PLACE_ID is not: other places cannot use the results of this one",
				slog.String("listen", string(c.PeerListenAddr)))
		}
		return nil
	}
	key, err := s.placeKey(c, log)
	if err != nil {
		return err
	}
	observer := metrics.NewPlaces(s.metrics.Registerer(), func() map[string]bool { return s.places.States() })
	s.places = places.New(places.Config{
		Here:        places.Place{ID: string(c.PlaceID), Name: string(c.PlaceName)},
		Key:         key.Get,
		Translation: s.egress.TranslationPrefixes,
		OwnFault:    s.egress.OwnFault,
		Observer:    observer,
		Log:         log,
		Every:       time.Second,
	})
	s.opened = append(s.opened, s.places.Close)
	if c.PlacesFile == "" {
		return nil
	}
	return s.places.Follow(s.files, string(c.PlacesFile), egress.HostChecker().Roots, observer.Follow)
}

// placeKey returns the key of the pseudonyms for other places, from a file or shared through Redis.
func (s *service) placeKey(c config.Config, log *slog.Logger) (*places.Key, error) {
	if c.PlaceHashKeyFile != "" {
		return places.KeyFile(string(c.PlaceHashKeyFile), s.checks)
	}
	if s.breaker == nil {
		return places.NewKey(nil, log), nil
	}
	name := "diagnostics:place:hash-key:" + string(c.PlaceID)
	return places.NewKey(func(ctx context.Context, fresh []byte) ([]byte, error) {
		return s.breaker.Share(ctx, name, fresh)
	}, log), nil
}

// newPeers reads the tokens of the places that may run tools here; nil if nothing listens for them.
func (s *service) newPeers(c config.Config, env []string) (*httpapi.Peers, error) {
	if c.PeerListenAddr == "" {
		return nil, nil
	}
	peers := httpapi.NewPeers(map[string][]string{httpapi.AnyPeer: c.PeerTokens()})
	if c.PeerTokensFile != "" {
		return peers, peers.FollowTokens(s.files, string(c.PeerTokensFile))
	}
	if path := settings.FileOf(env, "PEER_TOKEN"); path != "" {
		peers.FollowToken(s.files, path)
	}
	return peers, nil
}

// newPeerTLS reads the certificate of the listener for other places; nil where it speaks clear text, on loopback.
func (s *service) newPeerTLS(c config.Config) (err error) {
	if c.PeerListenAddr == "" || c.PeerTLSCertFile == "" {
		return nil
	}
	s.peerTLS, err = files.LoadServer(s.files, files.ServerFiles{
		Name: "peer", Setting: "PEER_TLS", Auth: tls.RequireAndVerifyClientCert,
		Cert: string(c.PeerTLSCertFile), Key: string(c.PeerTLSKeyFile), ClientCA: string(c.PeerTLSClientCAFile),
	})
	if err == nil {
		s.metrics.PeerCertificate(s.peerTLS.Expiry)
	}
	return err
}

// ownPlace reports whether a DenyKey is the host of another place, which visitors do not reach through this service.
func (s *service) ownPlace(c config.Config) func(string) bool {
	if s.places == nil || bool(c.AllowOwnAddresses) {
		return nil
	}
	return s.places.HasHost
}

// placesOfPages are the places that the pages offer.
func (s *service) placesOfPages() (all web.Places) {
	if s.places == nil {
		return all
	}
	all.Here = web.Place(s.places.Here())
	for _, p := range s.places.Others() {
		all.Others = append(all.Others, web.Place(p))
	}
	return all
}

func (s *service) newRDAP(
	c config.Config, limiter *pace.Limiter, store cache.Store, log *slog.Logger,
) (*rdap.Client, error) {
	config := rdap.Config{
		Egress: s.egress, Base: c.RDAPBaseURL.String(), Cache: store, Pace: limiter,
	}
	if c.UsesLists() && !s.checks {
		lists := bootstrap.New(s.egress, c.RDAPBootstrapURL.URL, log)
		s.opened = append(s.opened, lists.Close)
		config.Registries = lists
	}
	return rdap.New(config)
}

// serverBuckets are the buckets of package pace in a Limiter, and so those of all instances that share it.
type serverBuckets struct{ limiter ratelimit.Limiter }

// Take implements pace.Buckets.
func (b serverBuckets) Take(
	ctx context.Context, key string, size int, every time.Duration,
) (ok bool, after time.Duration, err error) {
	d, err := b.limiter.Take(ctx, ratelimit.Stage{{
		Key: "server|" + key, Limit: ratelimit.Limit{Requests: size, Window: time.Duration(size) * every},
	}})
	if !d.Allowed {
		return false, d.RetryAfter, err
	}
	return true, d.ResetAfter, err
}
