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
	latitude, northSouth := angle(rr.Latitude, "N", "S")
	longitude, eastWest := angle(rr.Longitude, "E", "W")
	if rr.Version != 0 || latitude > quarterCircle || longitude > 2*quarterCircle ||
		!isLength(rr.Size) || !isLength(rr.HorizPre) || !isLength(rr.VertPre) {
		return unknownLocation(rr)
	}
	sign, altitude := "", int64(rr.Altitude)-seaLevel
	if altitude < 0 {
		sign, altitude = "-", -altitude
	}
	return fmt.Sprintf("%s %s %s %s %s%d.%02dm %s %s %s", degrees(latitude), northSouth, degrees(longitude), eastWest,
		sign, altitude/100, altitude%100, length(rr.Size), length(rr.HorizPre), length(rr.VertPre))
}

// angle gives how far a coordinate is from the equator or the meridian, and on which side it lies.
func angle(v uint32, positive, negative string) (distance uint32, side string) {
	if v >= locationZero {
		return v - locationZero, positive
	}
	return locationZero - v, negative
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

// unknownLocation is the record as it came, in the form that any data can be written in (RFC 3597 section 5).
func unknownLocation(rr *dns.LOC) string {
	raw := []byte{rr.Version, rr.Size, rr.HorizPre, rr.VertPre}
	for _, field := range []uint32{rr.Latitude, rr.Longitude, rr.Altitude} {
		raw = binary.BigEndian.AppendUint32(raw, field)
	}
	return fmt.Sprintf(`\# %d %x`, len(raw), raw)
}
