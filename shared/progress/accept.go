package progress

import (
	"mime"
	"strconv"
	"strings"
)

// Wanted reports whether Accept fields (RFC 9110 section 12.5.1) ask for a stream: they name MediaType with a weight
// above 0, and at least that of application/json where that stands there too. A wildcard does not ask for one.
func Wanted(accept []string) bool {
	stream, plain := 0.0, 0.0
	for _, field := range accept {
		for item := range strings.SplitSeq(field, ",") {
			switch name, weight := mediaRange(item); name {
			case MediaType:
				stream = max(stream, weight)
			case "application/json":
				plain = max(plain, weight)
			}
		}
	}
	return stream > 0 && stream >= plain
}

// mediaRange reads one item; what cannot be read has the weight 0.
func mediaRange(item string) (name string, weight float64) {
	name, parameters, err := mime.ParseMediaType(item)
	if err != nil {
		return "", 0
	}
	q, given := parameters["q"]
	if !given {
		return name, 1
	}
	weight, err = strconv.ParseFloat(q, 64)
	if err != nil || !(weight >= 0 && weight <= 1) {
		return name, 0
	}
	return name, weight
}
