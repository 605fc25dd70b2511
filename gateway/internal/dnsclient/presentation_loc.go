package dnsclient

import (
	"encoding/binary"
	"fmt"

	"github.com/miekg/dns"
)

// Values of LOC records (RFC 1876 section 2): angles are thousandths of a second of arc around locationZero, altitudes
// centimetres above one 100 km below the spheroid.
const (
	locationZero  = 1 << 31
	quarterCircle = 90 * 60 * 60 * 1000
	seaLevel      = 100_000 * 100
	maxNibble     = 9
)

// presentLocation writes a place as dig does. What is no place on Earth, and what a later version of the record may
// mean, is unknown data.
func presentLocation(rr *dns.LOC) string {
	latitude, north := angle(rr.Latitude)
	longitude, east := angle(rr.Longitude)
	if rr.Version != 0 || latitude > quarterCircle || longitude > 2*quarterCircle ||
		!isLength(rr.Size) || !isLength(rr.HorizPre) || !isLength(rr.VertPre) {
		return unknownData(locationData(rr))
	}
	sign, altitude := "", int64(rr.Altitude)-seaLevel
	if altitude < 0 {
		sign, altitude = "-", -altitude
	}
	return fmt.Sprintf("%s %s %s %s %s%d.%02dm %s %s %s", degrees(latitude), either(north, "N", "S"), degrees(longitude),
		either(east, "E", "W"), sign, altitude/100, altitude%100, length(rr.Size), length(rr.HorizPre), length(rr.VertPre))
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// angle gives how far a coordinate is from the equator or the meridian, and whether it lies north or east.
func angle(v uint32) (distance uint32, positive bool) {
	if v >= locationZero {
		return v - locationZero, true
	}
	return locationZero - v, false
}

func degrees(thousandths uint32) string {
	return fmt.Sprintf("%d %d %d.%03d", thousandths/3_600_000, thousandths/60_000%60, thousandths/1000%60,
		thousandths%1000)
}

// isLength reports whether both digits of a length, a number and a power of ten, are decimal.
func isLength(v uint8) bool { return v>>4 <= maxNibble && v&15 <= maxNibble }

// length writes a length, which is in centimetres.
func length(v uint8) string {
	centimetres := uint64(v >> 4)
	for range v & 15 {
		centimetres *= 10
	}
	if centimetres >= 100 {
		return fmt.Sprintf("%dm", centimetres/100)
	}
	return fmt.Sprintf("0.%02dm", centimetres)
}

// locationData is the record as it came.
func locationData(rr *dns.LOC) []byte {
	raw := []byte{rr.Version, rr.Size, rr.HorizPre, rr.VertPre}
	for _, field := range []uint32{rr.Latitude, rr.Longitude, rr.Altitude} {
		raw = binary.BigEndian.AppendUint32(raw, field)
	}
	return raw
}
