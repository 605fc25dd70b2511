package tlsscan

import (
	"fmt"
	"slices"
)

// group is one for key exchange, by IANA's number and name.
type group struct {
	id   uint16
	name string
	// since and until are the versions that it can be used in.
	since, until Version
}

// groups are those of IANA (tls-parameters, TLS Supported Groups) and of the drafts that servers took before ML-KEM was
// finished, in our order: first what servers are most likely to have.
var groups = []group{
	{4588, "X25519MLKEM768", TLS13, TLS13},
	{29, "x25519", TLS10, TLS13},
	{23, "secp256r1", TLS10, TLS13},
	{30, "x448", TLS10, TLS13},
	{24, "secp384r1", TLS10, TLS13},
	{25, "secp521r1", TLS10, TLS13},
	{4587, "SecP256r1MLKEM768", TLS13, TLS13},
	{4589, "SecP384r1MLKEM1024", TLS13, TLS13},
	{512, "MLKEM512", TLS13, TLS13},
	{513, "MLKEM768", TLS13, TLS13},
	{514, "MLKEM1024", TLS13, TLS13},
	{0x6399, "X25519Kyber768Draft00", TLS13, TLS13},
	{0x639A, "SecP256r1Kyber768Draft00", TLS13, TLS13},
	{256, "ffdhe2048", TLS10, TLS13},
	{257, "ffdhe3072", TLS10, TLS13},
	{258, "ffdhe4096", TLS10, TLS13},
	{259, "ffdhe6144", TLS10, TLS13},
	{260, "ffdhe8192", TLS10, TLS13},
	{31, "brainpoolP256r1tls13", TLS13, TLS13},
	{32, "brainpoolP384r1tls13", TLS13, TLS13},
	{33, "brainpoolP512r1tls13", TLS13, TLS13},
	{41, "curveSM2", TLS13, TLS13},
	{4590, "curveSM2MLKEM768", TLS13, TLS13},
	{26, "brainpoolP256r1", TLS10, TLS12},
	{27, "brainpoolP384r1", TLS10, TLS12},
	{28, "brainpoolP512r1", TLS10, TLS12},
	{22, "secp256k1", TLS10, TLS12},
	{14, "sect571r1", TLS10, TLS12},
	{13, "sect571k1", TLS10, TLS12},
	{11, "sect409k1", TLS10, TLS12},
	{12, "sect409r1", TLS10, TLS12},
	{9, "sect283k1", TLS10, TLS12},
	{10, "sect283r1", TLS10, TLS12},
	{20, "secp224k1", TLS10, TLS12},
	{21, "secp224r1", TLS10, TLS12},
	{6, "sect233k1", TLS10, TLS12},
	{7, "sect233r1", TLS10, TLS12},
	{8, "sect239k1", TLS10, TLS12},
	{18, "secp192k1", TLS10, TLS12},
	{19, "secp192r1", TLS10, TLS12},
	{4, "sect193r1", TLS10, TLS12},
	{5, "sect193r2", TLS10, TLS12},
	{15, "secp160k1", TLS10, TLS12},
	{16, "secp160r1", TLS10, TLS12},
	{17, "secp160r2", TLS10, TLS12},
	{1, "sect163k1", TLS10, TLS12},
	{2, "sect163r1", TLS10, TLS12},
	{3, "sect163r2", TLS10, TLS12},
	{34, "GC256A", TLS12, TLS13},
	{35, "GC256B", TLS12, TLS13},
	{36, "GC256C", TLS12, TLS13},
	{37, "GC256D", TLS12, TLS13},
	{38, "GC512A", TLS12, TLS13},
	{39, "GC512B", TLS12, TLS13},
	{40, "GC512C", TLS12, TLS13},
}

// The groups that are named in code.
const (
	groupP256   = 23
	groupP384   = 24
	groupP521   = 25
	groupX25519 = 29

	groupX25519MLKEM768     = 4588
	groupSecP256r1MLKEM768  = 4587
	groupSecP384r1MLKEM1024 = 4589
	groupMLKEM768           = 513
	groupMLKEM1024          = 514
)

// GroupName is IANA's name of a group for key exchange, "0x1234" of an unknown one.
func GroupName(id uint16) string {
	at := slices.IndexFunc(groups, func(g group) bool { return g.id == id })
	if at < 0 {
		return fmt.Sprintf("0x%04X", id)
	}
	return groups[at].name
}

// isFiniteField reports whether a group is one of RFC 7919.
func isFiniteField(id uint16) bool { return id>>8 == 1 }

// offeredGroups are those that are asked for in a version, in our order. Up to TLS 1.2 these are curves: a client that
// names finite fields there may lose every DHE suite (RFC 7919 section 4), and hardly any other does.
func offeredGroups(v Version) []uint16 {
	var ids []uint16
	for _, g := range groups {
		if g.since <= v && v <= g.until && (v == TLS13 || !isFiniteField(g.id)) {
			ids = append(ids, g.id)
		}
	}
	return ids
}

// commonGroups are for servers that give up on long hellos.
var commonGroups = []uint16{groupX25519, groupP256, groupP384, groupP521}
