package graph

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/audit"
)

// A graph is well-formed, has each event and each call once, and escapes what
// events say.
func TestAGraphShowsTheChainWhatFollowedAndTheCalls(t *testing.T) {
	run := uuid.New()
	why := audit.Why{
		Root: audit.Root{Kind: "webhook", ID: "stripe/evt_1"},
		Chain: []audit.Event{{
			Stream: "order-1", Version: 3, Type: "order.payment_confirmed", Text: "Bread & <Co> paid",
			Cause: "webhook:stripe/evt_1",
		}},
		Effects: []audit.Event{{Stream: "saga-" + run.String(), Version: 1, Type: "saga.started", Cause: "event:order-1/3"}},
		Calls:   []audit.Call{{Run: run, Key: "o/1/site", Step: "site", State: "confirmed", ExternalID: "12"}},
	}
	nodes := nodesOf(why)
	if len(nodes) != 4 || nodes[1].cause != 0 || nodes[2].cause != 1 || nodes[3].cause != 2 || !nodes[3].isCall {
		t.Errorf("%+v", nodes)
	}
	var b bytes.Buffer
	if err := Draw(&b, why); err != nil {
		t.Fatal(err)
	}
	for decoder := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{"stripe/evt_1", "order-1/3", "Bread &amp; &lt;Co&gt; paid", "call site  confirmed"} {
		if strings.Count(b.String(), part) != 1 {
			t.Errorf("%q is not once in %s", part, b.String())
		}
	}
}
