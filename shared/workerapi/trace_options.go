package workerapi

import "fmt"

// The protocols of the probes of a trace.
const (
	ProtocolICMP = "icmp"
	ProtocolUDP  = "udp"
	ProtocolTCP  = "tcp"
)

// The ports that are probed where none is given: that of websites, and the first of those that traceroute has always
// used since nothing listens there.
const (
	DefaultPortTCP = 443
	DefaultPortUDP = 33434
)

// TraceOptions say what the probes of a trace are. The zero TraceOptions, as an absent one, is ICMP.
type TraceOptions struct {
	Protocol string `json:"protocol,omitempty"`
	Port     uint16 `json:"port,omitempty"` // 0 for the protocol's default
}

// Complete fills in what is left out. The error names the option that is wrong, for whoever wrote the request.
func (o TraceOptions) Complete() (TraceOptions, error) {
	switch {
	case o.Protocol == "", o.Protocol == ProtocolICMP:
		o.Protocol = ProtocolICMP
		if o.Port != 0 {
			return o, fmt.Errorf("port is %d without %s or %s", o.Port, ProtocolUDP, ProtocolTCP)
		}
	case o.Protocol != ProtocolUDP && o.Protocol != ProtocolTCP:
		return o, fmt.Errorf("protocol is %q", o.Protocol)
	case o.Port != 0:
	case o.Protocol == ProtocolTCP:
		o.Port = DefaultPortTCP
	default:
		o.Port = DefaultPortUDP
	}
	return o, nil
}

// ValidFor tells whether a trace was made as the options ask. One that names no protocol comes from a worker that knows
// none but ICMP. The error wraps ErrContract.
func (t Traceroute) ValidFor(asked TraceOptions) error {
	told, port := t.Protocol, 0
	if told == "" {
		told = ProtocolICMP
	}
	if t.Port != nil {
		port = *t.Port
	}
	if told != asked.Protocol || port != int(asked.Port) {
		return breach("%s port %d was answered for %s port %d", told, port, asked.Protocol, asked.Port)
	}
	return nil
}
