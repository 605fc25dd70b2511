package calls

import . "net"

var hidden = Dial
