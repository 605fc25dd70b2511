package clientip

import (
	"fmt"
	"testing"
)

func TestClientsOfPlaces(t *testing.T) {
	t.Parallel()
	id := Identity{Place: &PlaceClient{Place: "fra", Client: "c1", Group: "g1"}}
	got := fmt.Sprintf("%s %v %s, %s, %t", id.LimitKey(), id.Networks(), id.LogPrefix(), id.OfPlace(), id.Addr().IsValid())
	if want := "fra/c1 [{fra/g1 16}] place fra, fra, false"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	id.Place = &PlaceClient{Place: "fra", Client: "c1"}
	if got := id.Networks(); got != nil {
		t.Errorf("networks without a group: %v", got)
	}
	if got := (Identity{}).OfPlace(); got != "" {
		t.Errorf("a client of this place is of %q", got)
	}
}
