package accept

import "testing"

func TestGzip(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]bool{
		"gzip": true, "br, GZIP;q=0.5": true, "deflate,gzip ; q=1.0": true, "gzip;level=1": true,
		"": false, "br": false, "gzip;q=0": false, "gzip;q=0.0": false, "gzip;q=x": false, "identity": false, "*": false,
		"gzipped": false,
	} {
		if Gzip([]string{"br", field}) != want {
			t.Errorf("%q: %t", field, !want)
		}
	}
	if Gzip(nil) {
		t.Error("accepted by a client that says nothing")
	}
}
