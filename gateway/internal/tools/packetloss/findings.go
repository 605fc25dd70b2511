package packetloss

import "diagnostics/gateway/internal/tools/internal/probing"

var catalogue = probing.EchoCatalogue("No loss: %[1]s answered all %[3]s, in %[2]s (median).%[4]s")
