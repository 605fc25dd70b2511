package icmp

import (
	"golang.org/x/net/bpf"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"
)

// filter4 keeps in the kernel what cannot answer an echo request of ours: everything but echo replies, and errors that
// quote an ICMP packet. A raw IPv4 socket's filter sees the packet from its IP header on.
func filter4() []bpf.Instruction {
	const quotedProtocol = headerLength + 9 // of the IPv4 header within the ICMP error
	return []bpf.Instruction{
		bpf.LoadMemShift{Off: 0}, // X = length of the IP header
		bpf.LoadIndirect{Off: 0, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: v4EchoReply, SkipTrue: 5},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: v4TimeExceeded, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: v4Unreachable, SkipTrue: 2},
		bpf.LoadIndirect{Off: quotedProtocol, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: protocolICMP, SkipTrue: 1},
		bpf.RetConstant{Val: 0},
		bpf.RetConstant{Val: wholePacket},
	}
}

// installFilter6 is filter4 for ICMPv6 by type alone (RFC 3542 section 3.2): extension headers in a quote are more than
// a filter can walk.
func installFilter6(c *ipv6.PacketConn) error {
	var f ipv6.ICMPFilter
	f.SetAll(true)
	for _, typ := range []ipv6.ICMPType{
		ipv6.ICMPTypeDestinationUnreachable, ipv6.ICMPTypePacketTooBig, ipv6.ICMPTypeTimeExceeded, ipv6.ICMPTypeEchoReply,
	} {
		f.Accept(typ)
	}
	return c.SetICMPFilter(&f)
}

// filterNothing keeps everything in the kernel.
func filterNothing() []bpf.Instruction { return []bpf.Instruction{bpf.RetConstant{Val: 0}} }

// attach has a filter judge what comes to a socket.
func attach(fd int, filter []bpf.Instruction) error {
	raw, err := bpf.Assemble(filter)
	if err != nil {
		return err
	}
	program := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		program[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
}

func attachNothing(fd int) error { return attach(fd, filterNothing()) }
