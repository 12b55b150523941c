package ispconfig_test

import (
	"testing"
	"time"

	"hostpanel/adapters/conformance"
	"hostpanel/adapters/engine/enginetest"
	"hostpanel/adapters/engine/ispconfig"
)

func TestISPConfigIsAHostingEngine(t *testing.T) { enginetest.Run(t, onDouble) }

func onDouble(t *testing.T) enginetest.Engine {
	t.Helper()
	w := empty(t)
	proxy, err := conformance.NewProxy(t.Context(), w.fake.URL, ispconfig.CallOf)
	if err != nil {
		t.Fatal(err)
	}
	w.config.URL = proxy.URL
	behind := enginetest.Servers{NameServers: w.config.NameServers, Zone: func(origin string) (string, error) {
		return w.fake.Zone(origin), nil
	}}
	return enginetest.Engine{
		EngineServer: w.open(w.config), Settle: w.fake.Tick, Pass: func() { w.fake.Pass(time.Minute) },
		Lacks: []string{"cms", "proxy"}, Address: "192.0.2.7", Cut: proxy.Cut,
		Serves: behind.Serves, Observable: behind.Observable(),
		Die: func(_ string, steps int) func() bool { return w.fake.Cut(steps) }, Torn: w.fake.Torn,
		Books: func() string { return w.fake.Answered() + w.log.String() },
		Lose:  func(_ conformance.T, call, kind string) { proxy.Lose(ispconfig.Writes(call, kind)...) },
	}
}
