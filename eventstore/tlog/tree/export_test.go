package tree

import "fmt"

// OnStage calls do when a seal has stored its tiles, and when it has stored its
// checkpoint. A test stops it there.
func (s *Sealer) OnStage(do func(stage string)) {
	s.after = func(at stage) { do(fmt.Sprint([]string{"tiles", "checkpoint"}[at])) }
}

// SealAtOnce is the number of events in one seal.
const SealAtOnce = sealAtOnce
