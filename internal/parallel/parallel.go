// Package parallel does many small things as many at once as there are processors.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do for every number below n, and returns when all have been done. A single one is done by the caller.
func Each(n int, do func(i int)) {
	if n == 1 {
		do(0)
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}
