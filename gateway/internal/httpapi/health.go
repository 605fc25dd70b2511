package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// readyTimeout is short: a worker that hangs must not make a platform think that the gateway does.
const readyTimeout = 500 * time.Millisecond

func health(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.String(http.StatusOK, "ok")
}

type readiness struct {
	Status string `json:"status"`
	Redis  State  `json:"redis"`
	Worker State  `json:"worker"`
	// Places are the other places by ID, nil where there are none.
	Places map[string]State `json:"places,omitempty"`
}

// ready reports whether to send clients here. A lost Redis or worker degrades the service but does not end it.
func (s *Server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyTimeout)
	defer cancel()
	answer := readiness{Status: "ready", Redis: ask(ctx, s.config.Redis), Worker: ask(ctx, s.config.Worker)}
	answer.Places = s.placeStates()
	status := http.StatusOK
	if s.draining.Load() {
		answer.Status, status = "draining", http.StatusServiceUnavailable
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(status, answer)
}

func ask(ctx context.Context, state func(context.Context) State) State {
	if state == nil {
		return StateOff
	}
	return state(ctx)
}
