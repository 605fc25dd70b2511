package httpapi

import "net/http"

// endsConnection tells whether the connection must end with this request's answer. Where a request in chunks carried a
// length too, net/http has forgotten that length, and of HTTP/1.0 its chunks; a proxy that went by the other one would
// take what follows for part of this request, or part of it for what follows. RFC 9112 section 6.1 wants the connection
// closed in both cases. We cannot tell them from honest chunks and honest HTTP/1.0, which are rare and lose little.
func endsConnection(r *http.Request) bool {
	return !r.ProtoAtLeast(1, 1) || len(r.TransferEncoding) > 0
}
