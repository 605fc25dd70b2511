package traceroute

import (
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/probing"
	"diagnostics/shared/workerapi"
)

// The options that traceroute has beside those of all worker tools.
const (
	optionProtocol = "protocol"
	optionPort     = "port"
)

// traceTarget is what a trace aims at, and with what probes.
type traceTarget struct {
	probing.Target
	probes workerapi.TraceOptions
}

func parse(in tool.Input) (traceTarget, error) {
	aim, err := probing.Parse(in)
	if err != nil {
		return traceTarget{}, err
	}
	protocol, err := in.Options.OneOf(optionProtocol, workerapi.ProtocolICMP,
		workerapi.ProtocolICMP, workerapi.ProtocolUDP, workerapi.ProtocolTCP)
	if err != nil {
		return traceTarget{}, err
	}
	port, chosen, err := in.Options.Port(optionPort)
	if err != nil {
		return traceTarget{}, err
	}
	if protocol == workerapi.ProtocolICMP {
		if chosen {
			return traceTarget{}, fault.OfOption(optionPort, "The option port needs the protocol udp or tcp.")
		}
		return traceTarget{Target: aim}, nil
	}
	probes, err := workerapi.TraceOptions{Protocol: protocol, Port: port}.Complete()
	if err != nil {
		return traceTarget{}, err
	}
	aim.Port = probes.Port
	return traceTarget{Target: aim, probes: probes}, nil
}
