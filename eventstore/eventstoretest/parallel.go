package eventstoretest

import (
	"flag"
	"runtime"
	"strconv"
)

// SideBySide lets four tests of a package run at once, also on two cores. It is for
// stories: most of the time they wait for programs, leases and readers. A TestMain
// calls it before m.Run; the flag -parallel has priority.
func SideBySide() {
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = flag.Set("test.parallel", "4")
	}
}
