package httpapi

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

const (
	apiPrefix      = "/api/"
	pathTools      = "/api/tools/"
	pathConnection = "/api/connection/"
	pathReference  = "/api"
	pathOpenAPI    = "/api/openapi.yaml"
	pathPage       = "/tools/:slug"
	pathAssets     = "/assets/"
)

// probes are the connection routes.
var probes = []string{"ping", "packet-loss"}

// pages are the paths of what people read, and of what it is made of.
var pages = []string{
	"/", pathPage, "/report", "/history", "/privacy", pathReference, pathAssets + "*", "/robots.txt",
}

// routes is every route there is. A path that is known answers its own methods and 405 to all others, OPTIONS included
// (there is no CORS); every tool is a path of its own, so an unknown slug is an unknown path.
func (s *Server) routes() *echo.Echo {
	e := echo.New()
	// The framework would otherwise trust any X-Forwarded-For. Nothing here uses it; clientip identifies clients.
	e.IPExtractor = echo.ExtractIPDirect()
	e.HTTPErrorHandler = s.fail
	e.Pre(s.observe(fromClient))

	for _, t := range s.config.Tools {
		s.handle(e, pathTools+t.Slug(), s.requireOwnOrigin(s.runTool(t)), http.MethodPost)
	}
	for _, probe := range probes {
		s.get(e, pathConnection+probe, s.api(s.sample(probe)))
	}
	s.get(e, pathOpenAPI, s.description.serve)
	s.get(e, "/healthz", health)
	s.get(e, "/readyz", s.ready)
	for _, path := range pages {
		s.get(e, path, s.page)
	}
	return e
}

func (s *Server) get(e *echo.Echo, path string, h echo.HandlerFunc) {
	s.handle(e, path, h, http.MethodGet, http.MethodHead)
}

func (s *Server) handle(e *echo.Echo, path string, h echo.HandlerFunc, methods ...string) {
	for _, m := range methods {
		e.Add(m, path, h)
	}
	allow := strings.Join(methods, ", ")
	// The framework's own 405 would allow OPTIONS, and answer it.
	e.RouteNotFound(path, func(echo.Context) error { return methodNotAllowed(allow) })
}

// page hands the request to the pages. An asset is charged but never refused, so that a page that was allowed works.
// Assets, and the page on the API, are the same bytes for everybody; any other page is made for its reader, and is
// counted while it is read.
func (s *Server) page(c echo.Context) error {
	path := c.Request().URL.Path
	isAsset := strings.HasPrefix(path, pathAssets)
	_, err := s.requests.AllowPage(c.Request().Context(), contextOf(c).client)
	if err != nil && !isAsset {
		return err
	}
	if path != pathReference && !isAsset {
		if err := contextOf(c).memory.Grow(pageBytes); err != nil {
			return err
		}
	}
	if err := s.config.Pages(c.Response(), c.Request()); err != nil {
		// Made a problem here, since a visitor who has left excuses nothing in a page.
		return problemOf(err)
	}
	return nil
}

// unknown answers a path that does not exist: the envelope under /api/, a page elsewhere. It is not a route of its own,
// since the framework would prefer a catch-all to the 405 of a path that exists.
func (s *Server) unknown(c echo.Context) error {
	method := c.Request().Method
	if contextOf(c).from == fromPeer {
		return errNotFound
	}
	if isAPI(c.Request()) || method != http.MethodGet && method != http.MethodHead {
		return errNotFound
	}
	return s.page(c)
}

// isAPI reports whether failures are reported in the envelope. This includes /api, which is a page: a client that sends
// it anything but a GET expects the API.
func isAPI(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, apiPrefix) || r.URL.Path == pathReference
}

// requireOwnOrigin wraps a handler of the API: the origin rule comes first.
func (s *Server) requireOwnOrigin(h func(echo.Context, *requestContext) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		rc := contextOf(c)
		if !s.ownOrigin(c.Request(), rc.client.Trusted) {
			return errForeignOrigin
		}
		return h(c, rc)
	}
}

// api wraps a handler of the API whose data goes into the envelope.
func (s *Server) api(h func(echo.Context, *requestContext) (any, error)) echo.HandlerFunc {
	return s.requireOwnOrigin(func(c echo.Context, rc *requestContext) error {
		data, err := h(c, rc)
		if err != nil {
			return err
		}
		return s.succeed(c, data)
	})
}
