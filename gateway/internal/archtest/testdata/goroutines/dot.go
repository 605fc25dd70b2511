package goroutines

import . "sync"

var hidden WaitGroup
