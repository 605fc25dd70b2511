package ping

import "diagnostics/gateway/internal/tools/internal/probing"

var catalogue = probing.EchoCatalogue("%s answers in %s (median of %s).%s")
