package httpapi

import (
	"bytes"

	"diagnostics/shared/accept"

	"github.com/klauspost/compress/gzip"
	"github.com/labstack/echo/v4"
)

const gzipCoding = "gzip"

// leastZipped is the size of a plain answer from which compression pays. Of a stream it is not known in time.
const leastZipped = 1024

// zips reports whether an answer is compressed: where the client accepts gzip and is not another place.
func zips(c echo.Context, rc *requestContext) bool {
	return rc.from != fromPeer && accept.Gzip(c.Request().Header[echo.HeaderAcceptEncoding])
}

// zip compresses an answer, each piece so that a client can read it at once. It keeps nothing between two pieces, where
// compress/gzip keeps most of a megabyte for each stream that is open.
type zip struct {
	packed bytes.Buffer
	to     *gzip.Writer
}

func newZip() *zip {
	z := &zip{}
	z.to, _ = gzip.NewWriterLevel(&z.packed, gzip.StatelessCompression) // the level is valid
	return z
}

// pack returns a piece as it is sent, until the next call. A nil zip returns it as it is.
func (z *zip) pack(piece []byte) []byte {
	if z == nil {
		return piece
	}
	z.packed.Reset()
	_, _ = z.to.Write(piece) // a bytes.Buffer returns no error
	return z.packed.Bytes()
}

// packLast returns the last piece as it is sent.
func (z *zip) packLast(piece []byte) []byte {
	if z == nil {
		return piece
	}
	z.pack(piece)
	_ = z.to.Close()
	return z.packed.Bytes()
}
