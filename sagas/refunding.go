package sagas

// What moves money at a provider: each step names the queue of its provider
// when its run starts.
func (s *Sagas) moneySteps() []step { return []step{s.captureStep()} }

func (s *Sagas) moneySagas() []saga { return []saga{{name: "capture", def: captureDef}} }
