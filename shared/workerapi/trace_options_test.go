package workerapi

import "testing"

func TestTraceOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given, want TraceOptions
		ok          bool
	}{
		{TraceOptions{}, TraceOptions{ProtocolICMP, 0}, true},
		{TraceOptions{Protocol: ProtocolICMP}, TraceOptions{ProtocolICMP, 0}, true},
		{TraceOptions{Protocol: ProtocolTCP}, TraceOptions{ProtocolTCP, 443}, true},
		{TraceOptions{Protocol: ProtocolUDP}, TraceOptions{ProtocolUDP, 33434}, true},
		{TraceOptions{ProtocolTCP, 1}, TraceOptions{ProtocolTCP, 1}, true},
		{TraceOptions{ProtocolUDP, 65535}, TraceOptions{ProtocolUDP, 65535}, true},
		{TraceOptions{ProtocolICMP, 1}, TraceOptions{}, false},
		{TraceOptions{"", 1}, TraceOptions{}, false},
		{TraceOptions{"sctp", 0}, TraceOptions{}, false},
	} {
		got, err := c.given.Complete()
		if (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("%+v: %+v, %v", c.given, got, err)
		}
	}
}

func TestValidFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		protocol string
		port     *int
		asked    TraceOptions
		ok       bool
	}{
		{"ICMP", ProtocolICMP, nil, TraceOptions{ProtocolICMP, 0}, true},
		{"a worker that knows nothing else", "", nil, TraceOptions{ProtocolICMP, 0}, true},
		{"that worker, asked for TCP", "", nil, TraceOptions{ProtocolTCP, 443}, false},
		{"TCP", ProtocolTCP, ptr(443), TraceOptions{ProtocolTCP, 443}, true},
		{"another port", ProtocolTCP, ptr(80), TraceOptions{ProtocolTCP, 443}, false},
		{"another protocol", ProtocolUDP, ptr(443), TraceOptions{ProtocolTCP, 443}, false},
		{"no port", ProtocolTCP, nil, TraceOptions{ProtocolTCP, 443}, false},
		{"a port of ICMP", ProtocolICMP, ptr(7), TraceOptions{ProtocolICMP, 0}, false},
	} {
		r := goodTrace()
		r.Protocol, r.Port = c.protocol, c.port
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check(t, r.ValidFor(c.asked), c.ok)
		})
	}
}
