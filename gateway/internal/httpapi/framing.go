package httpapi

import "net/http"

// endsConnection reports whether the connection must end with this request's answer, because a proxy may take what
// follows on it for part of this request, or part of this request for what follows:
//
//   - Where a request in chunks carried a length too, net/http has forgotten that length, and of HTTP/1.0 its chunks.
//     RFC 9112 section 6.1 wants the connection closed in both cases. We cannot tell them from honest chunks and honest
//     HTTP/1.0, which are rare and lose little.
//   - CONNECT has no body, but proxies made of net/http send what a visitor's CONNECT of HTTP/2 carries after it as it
//     stands (https://github.com/advisories/GHSA-3ccp-42pg-hgv6).
func endsConnection(r *http.Request) bool {
	return !r.ProtoAtLeast(1, 1) || len(r.TransferEncoding) > 0 || r.Method == http.MethodConnect
}
