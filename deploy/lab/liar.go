package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// lies are what the liar states about packets to some ranges that are larger than NarrowTo.
var lies = []struct {
	to     []netip.Prefix
	mtu    func(size int) int
	forged bool // it does not quote the packet
}{
	{[]netip.Prefix{zero4, zero6}, func(int) int { return 0 }, false},
	{[]netip.Prefix{sixt4, sixt6}, func(int) int { return 68 }, false},
	{[]netip.Prefix{more4, more6}, func(size int) int { return size + 100 }, false},
	{[]netip.Prefix{fake4, fake6}, func(int) int { return NarrowTwice }, true},
}

// ICMP's packet-too-big of both families, and how much of a packet it quotes.
const (
	unreachable, fragmentationNeeded = 3, 4
	packetTooBig                     = 2
	icmpHeader                       = 8
	quoted                           = 512
)

// startLiar reads what comes to the liar, and reports what is too large with the MTU that the lies have.
func (l *Lab) startLiar() error {
	n := l.graph.nodes[liarNode]
	in, err := l.openTap(liarNode, device(liarNode, "c4"))
	if err != nil {
		return fmt.Errorf("the liar: %w", err)
	}
	out := map[bool]net.PacketConn{}
	for v4, at := range map[bool][2]string{true: {"ip4:icmp", n.v4.String()}, false: {"ip6:ipv6-icmp", n.v6.String()}} {
		if out[v4], err = l.ns[liarNode].ListenPacket(at[0], at[1]); err != nil {
			return errors.Join(fmt.Errorf("the liar: %w", err), in.Close())
		}
	}
	var reading sync.WaitGroup
	l.onClose(func() error {
		err := errors.Join(in.Close(), out[true].Close(), out[false].Close())
		reading.Wait()
		return err
	})
	reading.Go(func() {
		for b := make([]byte, 2048); ; {
			size, err := in.Read(b)
			if err != nil {
				return
			}
			lie(out, b[:size])
		}
	})
	return nil
}

// openTap opens a socket with every packet of a device, from its IP header on.
func (l *Lab) openTap(node, device string) (tap *os.File, err error) {
	err = l.ns[node].Do(func() error {
		link, err := net.InterfaceByName(device)
		if err != nil {
			return err
		}
		every := uint16(unix.ETH_P_ALL)>>8 | uint16(unix.ETH_P_ALL)<<8
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, int(every))
		if err != nil {
			return err
		}
		tap = os.NewFile(uintptr(fd), device)
		return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: every, Ifindex: link.Index})
	})
	if err != nil && tap != nil {
		tap.Close()
	}
	return tap, err
}

// lie answers a packet that some lie is about.
func lie(out map[bool]net.PacketConn, packet []byte) {
	v4 := packet[0]>>4 == 4
	source, dst, ttl := addresses(packet)
	for _, l := range lies {
		for _, p := range l.to {
			if !p.Contains(dst) || ttl <= 1 || len(packet) <= NarrowTo {
				continue
			}
			message := tooBig(packet, v4, l.mtu(len(packet)), l.forged)
			_, _ = out[v4].WriteTo(message, &net.IPAddr{IP: source.AsSlice()})
		}
	}
}

// addresses reads an IP header; all is zero where there is none.
func addresses(packet []byte) (source, dst netip.Addr, ttl byte) {
	switch {
	case len(packet) >= 20 && packet[0]>>4 == 4:
		return netip.AddrFrom4([4]byte(packet[12:])), netip.AddrFrom4([4]byte(packet[16:])), packet[8]
	case len(packet) >= 40 && packet[0]>>4 == 6:
		return netip.AddrFrom16([16]byte(packet[8:])), netip.AddrFrom16([16]byte(packet[24:])), packet[7]
	}
	return source, dst, 0
}

// tooBig makes the message (RFC 792, RFC 1191, RFC 4443). A forged one quotes other octets behind the IP header.
func tooBig(packet []byte, v4 bool, mtu int, forged bool) []byte {
	message := append(make([]byte, icmpHeader), packet[:min(len(packet), quoted)]...)
	header := 40
	if v4 {
		header = 20
	}
	if forged {
		for i := icmpHeader + header + 4; i < len(message); i++ {
			message[i] ^= 0x55
		}
	}
	if !v4 { // the kernel does the checksum
		message[0] = packetTooBig
		binary.BigEndian.PutUint32(message[4:], uint32(mtu))
		return message
	}
	message[0], message[1] = unreachable, fragmentationNeeded
	binary.BigEndian.PutUint16(message[6:], uint16(mtu))
	var sum uint32
	for i := 0; i+1 < len(message); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(message[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(message[2:], ^uint16(sum))
	return message
}
