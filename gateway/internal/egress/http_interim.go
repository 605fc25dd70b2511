package egress

import "net/http"

// Interim is an answer that came before the final one (RFC 9110 section 15.2), such as 103 Early Hints.
type Interim struct {
	Status     int
	StatusText string // as Response has it
	Header     http.Header
}

// passed keeps an interim answer, once it was counted. What is counted bounds what is kept: all headers of a round trip
// share MaxHeaderBytes, and there are at most maxIdlePieces.
func (x *roundTrip) passed(interim Interim) error {
	if err := x.cost.interim(interim.Header); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.interim = append(x.interim, interim)
	return nil
}
