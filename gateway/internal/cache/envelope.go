package cache

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"time"
)

// A stored value is
//
//	4 bytes  the mark, whose last byte is the version of this form
//	8 bytes  FetchedAt, Unix nanoseconds, big endian
//	4 bytes  CRC-32C of the key and of all the rest
//	n bytes  the value as JSON
//
// A shared store outlives the program that wrote to it: a value of an older or newer form, of another program or of a
// damaged disk is a miss, and so is a value under another key than it was written for. The checksum is no
// authentication: anyone who can write to the store can write valid values.
const (
	mark       = "dgc\x02"
	headerSize = len(mark) + 8 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(key string, fetchedAt, body []byte) uint32 {
	sum := crc32.Checksum([]byte(key), castagnoli)
	return crc32.Update(crc32.Update(sum, castagnoli, fetchedAt), castagnoli, body)
}

func seal[V any](key string, e Entry[V]) ([]byte, error) {
	body, err := json.Marshal(e.Value)
	if err != nil {
		return nil, err
	}
	sealed := make([]byte, 0, headerSize+len(body))
	sealed = append(sealed, mark...)
	sealed = binary.BigEndian.AppendUint64(sealed, uint64(e.FetchedAt.UnixNano()))
	sealed = binary.BigEndian.AppendUint32(sealed, checksum(key, sealed[len(mark):], body))
	return append(sealed, body...), nil
}

func open[V any](key string, sealed []byte) (Entry[V], bool) {
	if len(sealed) < headerSize || string(sealed[:len(mark)]) != mark {
		return Entry[V]{}, false
	}
	fetchedAt, sum, body := sealed[len(mark):len(mark)+8], sealed[len(mark)+8:headerSize], sealed[headerSize:]
	if binary.BigEndian.Uint32(sum) != checksum(key, fetchedAt, body) {
		return Entry[V]{}, false
	}
	// #nosec G115 -- the bits that seal wrote
	e := Entry[V]{Cached: true, FetchedAt: time.Unix(0, int64(binary.BigEndian.Uint64(fetchedAt))).UTC()}
	if err := json.Unmarshal(body, &e.Value); err != nil {
		return Entry[V]{}, false
	}
	return e, true
}
