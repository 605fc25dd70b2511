package httpapi

import (
	"sync"
	"time"

	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/fault"
)

// smallHolding is what is not counted of each request: it fits into what the kernel takes of an answer at once (package
// connections), so it waits for nobody. A full account then stops no small answer.
const smallHolding = 16 << 10

// holdingWait is what a refused visitor is told to wait: most readers have read long before, and none may take longer
// than answerLimit.
const holdingWait = 5 * time.Second

// sharesOfRuns is how many shares a client may hold while its runs still go on, for moments: the worst answers of name
// servers alone are more than one share, before what does not fit into an answer is cut off.
const sharesOfRuns = 2

// newHoldings bounds the bytes that requests hold, from what a run reads to the last byte of its answer. One network
// has at most half, whatever its shares come to.
func newHoldings(all, perClient int64) *shares { return newShares(all, perClient, all/2) }

// holding is what one request holds. Its methods may be called at any time and from anywhere.
type holding struct {
	account *shares
	client  clientip.Identity

	mu     sync.Mutex
	size   int64
	taken  int64 // from the account
	closed bool
}

// grow counts more. It fails with Limited for the client or its network, with Busy for the instance.
func (h *holding) grow(n int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.set(h.size+int64(n), sharesOfRuns)
}

// fits counts more for what can be left out, and reports whether that is within the client's share: else nothing is
// counted.
func (h *holding) fits(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.set(h.size+int64(n), 1) == nil
}

// become counts n in place of all that was counted: the answer is all that is left of a run. It fails as grow does.
func (h *holding) become(n int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.set(int64(n), 1)
}

// large reports whether what the run took makes a large answer.
func (h *holding) large() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.size > smallHolding
}

// close gives everything back. What is counted afterwards is nobody's.
func (h *holding) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.set(0, 1)
	h.closed = true
}

func (h *holding) set(size, times int64) error {
	if h.closed {
		return nil
	}
	counted := max(0, size-smallHolding)
	switch more := counted - h.taken; {
	case more > 0:
		if full := h.account.take(h.client, more, times); full != scopeNone {
			return errTooMuchHeld(full)
		}
	case more < 0:
		h.account.give(h.client, -more)
	}
	h.size, h.taken = size, counted
	return nil
}

func errTooMuchHeld(full scope) error {
	switch full {
	case scopeClient:
		return &fault.Error{Kind: fault.Limited, Rule: fault.LimitClientMemory, RetryAfter: holdingWait,
			Sentence: "Your running diagnostics need too much memory. Wait until some have finished and you have read " +
				"their answers."}
	case scopeNetwork:
		return &fault.Error{Kind: fault.Limited, Rule: fault.LimitNetworkMemory, RetryAfter: holdingWait,
			Sentence: "The diagnostics running from your network need too much memory. Wait until some have finished."}
	}
	return errBusy(fault.LimitMemory, holdingWait)
}
