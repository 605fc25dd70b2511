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

const (
	protocolTCP = 6
	protocolUDP = 17

	wholePacket = 1 << 18 // more than any packet has: keep all of it

	tcpFlags      = 13 // where a TCP header has its flags
	flagSYN       = 0x02
	flagRST       = 0x04
	flagACK       = 0x10
	blockMask     = 0xffff &^ (blockSize - 1)
	plainIPv4     = 0x45 // version 4, a header of 20 octets: no options, as our packets have it
	quoteTransit4 = headerLength + minIPv4Header
	quoteTransit6 = headerLength + ipv6Header
)

// errorFilter4 keeps in the kernel all but ICMP errors about packets that came from the reserved ports.
func errorFilter4(first uint16) []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadMemShift{Off: 0}, // X = length of the IP header
		bpf.LoadIndirect{Off: 0, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: v4TimeExceeded, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: v4Unreachable, SkipTrue: 9},
		bpf.LoadIndirect{Off: headerLength, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: plainIPv4, SkipTrue: 7},
		bpf.LoadIndirect{Off: headerLength + 9, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: protocolTCP, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: protocolUDP, SkipTrue: 4},
		bpf.LoadIndirect{Off: quoteTransit4, Size: 2},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: blockMask},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(first), SkipTrue: 1},
		bpf.RetConstant{Val: wholePacket},
		bpf.RetConstant{Val: 0},
	}
}

// errorFilter6 is errorFilter4 for ICMPv6. A quote with extension headers is of no packet of ours.
func errorFilter6(first uint16) []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: 0, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: v6TimeExceeded, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: v6PacketTooBig, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: v6Unreachable, SkipTrue: 7},
		bpf.LoadAbsolute{Off: headerLength + 6, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: protocolTCP, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: protocolUDP, SkipTrue: 4},
		bpf.LoadAbsolute{Off: quoteTransit6, Size: 2},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: blockMask},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(first), SkipTrue: 1},
		bpf.RetConstant{Val: wholePacket},
		bpf.RetConstant{Val: 0},
	}
}

// segmentFilter4 keeps in the kernel all TCP segments but SYN-ACKs and RSTs to the reserved ports. A raw IPv4 socket's
// filter sees the packet from its IP header on, a raw IPv6 socket's from its TCP header on.
func segmentFilter4(first uint16) []bpf.Instruction {
	return append([]bpf.Instruction{bpf.LoadMemShift{Off: 0}}, segmentFilter(first)...)
}

func segmentFilter6(first uint16) []bpf.Instruction {
	return append([]bpf.Instruction{bpf.LoadConstant{Dst: bpf.RegX, Val: 0}}, segmentFilter(first)...)
}

// segmentFilter wants in X where the TCP header begins.
func segmentFilter(first uint16) []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadIndirect{Off: 2, Size: 2},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: blockMask},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(first), SkipTrue: 5},
		bpf.LoadIndirect{Off: tcpFlags, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: flagRST, SkipTrue: 2},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: flagSYN | flagACK},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: flagSYN | flagACK, SkipTrue: 1},
		bpf.RetConstant{Val: wholePacket},
		bpf.RetConstant{Val: 0},
	}
}
