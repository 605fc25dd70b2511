package httpapi

import (
	"context"
	"net/http"
	"net/netip"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/echo"
)

// traceJob is what a trace is asked for.
type traceJob struct {
	target netip.Addr
	probe  echo.Probe
}

var protocols = map[string]echo.Protocol{
	workerapi.ProtocolICMP: echo.ICMP, workerapi.ProtocolUDP: echo.UDP, workerapi.ProtocolTCP: echo.TCP,
}

func readTrace(rc *requestContext) (traceJob, *refusal) {
	request, refused := rc.readJob()
	if refused != nil {
		return traceJob{}, refused
	}
	var options workerapi.TraceOptions
	if request.Options != nil {
		options = *request.Options
	}
	options, err := options.Complete()
	if err != nil {
		return traceJob{}, &refusal{http.StatusBadRequest,
			"Send the option protocol as icmp, udp or tcp, and port as 1 to 65535 with udp or tcp alone."}
	}
	return traceJob{rc.target, echo.Probe{Protocol: protocols[options.Protocol], Port: options.Port}}, nil
}

// trace runs the job.
func (s *Server) trace(ctx context.Context, j traceJob) (workerapi.Traceroute, error) {
	return s.config.Prober.Traceroute(ctx, j.target, j.probe)
}
