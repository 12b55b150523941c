package ispconfig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"hostpanel/domain/hosting"
)

// Usage reads what a client uses, by the engine's own collector, which does not
// say when it looked. A figure that the engine does not have is unknown, not
// zero; a site that is off has no line in the traffic at all.
func (e *Engine) Usage(ctx context.Context, owner int64) (hosting.Usage, error) {
	if _, err := e.owners.groupOf(ctx, owner); err != nil { // without a client the engine would answer for all
		return hosting.Usage{}, err
	}
	u := hosting.Usage{ReadAt: e.api.Now(), Traffic: map[string]int64{}}
	for _, of := range resources {
		s := of.storage
		if s == nil {
			continue
		}
		found, err := e.api.rows(ctx, s.function, members{{"client_id", owner}}, []string{s.name, s.used, s.knows})
		if err != nil {
			return hosting.Usage{}, err
		}
		for _, r := range found {
			m := hosting.Measure{Kind: of.kind, Name: r[s.name]}
			if r[s.knows] != "" {
				used := r.number(s.used)
				m.Bytes = &used
			}
			u.Storage = append(u.Storage, m)
		}
	}
	traffic, err := e.api.traffic(ctx, owner)
	u.Traffic = traffic
	return u, err
}

// storage tells where the bytes of a kind's rows are. A site whose used is null
// has not been looked at, whatever its bytes say.
type storage struct{ function, name, used, knows string }

func (c *connection) traffic(ctx context.Context, owner int64) (map[string]int64, error) {
	var raw json.RawMessage
	if err := c.read(ctx, "trafficquota_get_by_user", members{{"client_id", owner}, {"lastdays", 0}}, &raw); err != nil {
		return nil, err
	}
	bytesOf := map[string]int64{}
	if bytes.Equal(bytes.TrimSpace(raw), []byte("[]")) {
		return bytesOf, nil // an empty map
	}
	var byDomain map[string]struct {
		Month json.RawMessage `json:"this_month"`
	}
	if err := json.Unmarshal(raw, &byDomain); err != nil {
		return nil, unclear("trafficquota_get_by_user", errors.New("the answer has an unexpected shape"))
	}
	for name, t := range byDomain {
		bytesOf[name], _ = strconv.ParseInt(strings.Trim(string(t.Month), `"`), 10, 64) // absent is none
	}
	return bytesOf, nil
}
