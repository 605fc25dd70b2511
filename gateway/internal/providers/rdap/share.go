package rdap

import "errors"

// ErrShare is wrapped by the failures of kind Busy by which this service keeps to its own share of a server: nobody was
// asked, and nobody is at fault.
var ErrShare = errors.New("rdap: the share of the server is used up")
