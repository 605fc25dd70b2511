package traceroute

import (
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/probing"
	"diagnostics/shared/workerapi"
)

// The options that traceroute has beside those of all worker tools.
var (
	optionProtocol = tool.Option{
		Name:   "protocol",
		Doc:    "The kind of probe. Without raw sockets the worker can only trace with icmp, and any other is 502.",
		Values: []string{workerapi.ProtocolICMP, workerapi.ProtocolUDP, workerapi.ProtocolTCP}, Default: workerapi.ProtocolICMP,
	}
	optionPort = tool.Option{
		Name: "port",
		Doc: "The target's port that udp and tcp probes go to, the same for all of them; 33434 and 443 where none is given. " +
			"It counts among the ports of the address that a client tries. Not with icmp.",
		Min: 1, Max: 65535,
	}
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
	protocol, err := optionProtocol.Choice(in.Options)
	if err != nil {
		return traceTarget{}, err
	}
	port, chosen, err := optionPort.Number(in.Options)
	if err != nil {
		return traceTarget{}, err
	}
	if protocol == workerapi.ProtocolICMP {
		if chosen {
			return traceTarget{}, fault.OfOption(optionPort.Name, "The option port needs the protocol udp or tcp.")
		}
		return traceTarget{Target: aim}, nil
	}
	probes, err := workerapi.TraceOptions{Protocol: protocol, Port: uint16(port)}.Complete()
	if err != nil {
		return traceTarget{}, err
	}
	aim.Port = probes.Port
	return traceTarget{Target: aim, probes: probes}, nil
}
