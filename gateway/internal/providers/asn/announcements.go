package asn

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/parallel"
)

// maxParallel bounds the questions that one request has at the service at once.
const maxParallel = 8

// Announcement is a Record with the name of its network, empty where that is not known.
type Announcement struct {
	Record
	Name string
}

// Announcements are those of an address.
type Announcements struct {
	Records []Announcement // in the order of Origins
	// NamesMissing means that the service failed to answer for some of the names.
	NamesMissing bool
	Sources      Sources // that of the records first
}

// Announcements gives what Origins gives, with the networks' names. A name that the service fails to answer for is
// missing and no error; one in an answer that cannot be read, or that this service cannot ask for, is one. Errors are
// those of Origins.
func (c *Client) Announcements(ctx context.Context, addr netip.Addr) (Announcements, error) {
	records, source, err := c.Origins(ctx, addr)
	if err != nil {
		return Announcements{}, err
	}
	result := Announcements{Records: make([]Announcement, len(records)), Sources: Sources{source}}
	names := make(map[uint32]string)
	for _, found := range c.systems(ctx, numbersOf(records)) {
		switch {
		case errors.Is(found.err, ErrUnreadable), fault.IsOwn(found.err):
			return Announcements{}, found.err
		case found.err != nil:
			result.NamesMissing = true
			continue
		case found.system != nil:
			names[found.system.ASN] = found.system.Name
		}
		result.Sources = result.Sources.With(found.source)
	}
	for i, record := range records {
		result.Records[i] = Announcement{Record: record, Name: names[record.ASN]}
	}
	return result, ctx.Err()
}

func numbersOf(records []Record) []uint32 {
	var numbers []uint32
	for _, record := range records {
		if !slices.Contains(numbers, record.ASN) {
			numbers = append(numbers, record.ASN)
		}
	}
	return numbers
}

type foundSystem struct {
	system *System
	source Source
	err    error
}

// systems looks several numbers up at once, in their order.
func (c *Client) systems(ctx context.Context, numbers []uint32) []foundSystem {
	found := make([]foundSystem, len(numbers))
	parallel.Each(len(numbers), maxParallel, func(i int) {
		found[i].system, found[i].source, found[i].err = c.System(ctx, numbers[i])
	})
	return found
}
