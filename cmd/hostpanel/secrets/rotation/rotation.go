// Package rotation says how far the replacement of a secret key is, and what comes next
// (docs/security.md).
package rotation

import (
	"fmt"
	"time"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/sealing"
)

// Next is the list after the next step.
func Next(list []string, keys []eventstore.SecretKey, leaked bool) (after []string, say string, err error) {
	placed := map[int]eventstore.SecretKey{}
	for _, k := range keys {
		if k.Place == 0 && k.Needed() {
			return nil, "", fmt.Errorf("the key %s is missing: put it back first", k.ID)
		}
		placed[k.Place] = k
	}
	first, second := placed[1], placed[2]
	switch {
	case len(list) == 1:
		return append(list, sealing.NewSecretKey()),
			"Step 1 of 3: a new key is the last one. Restart every process, then run this command again.", nil
	case len(list) > 2:
		return nil, "", console.Misused("secret.key has %d keys, and this command works with two: edit the file", len(list))
	case second.SealingAt.IsZero():
		return []string{list[1], list[0]},
			"Step 2 of 3: the new key is the first one. Restart every process, and run this command again in seven days.", nil
	case !first.Newest:
		return nil, "", fmt.Errorf("no process has started with %s as its first key: restart every process first", first.ID)
	case second.Needed() || second.Transit > 0:
		return nil,
			"",
			fmt.Errorf("%d keys of people, %d secrets of webhook endpoints, %d second factors, %d keys of the "+
				"transparency log and %d secrets in transit are still sealed with %s: try again in some minutes",
				second.People, second.Webhooks, second.Factors, second.Logs, second.Transit, second.ID)
	case !leaked && clock.Now().Before(first.SealingAt.Add(wait)):
		return nil, "", fmt.Errorf(
			"the new key became the first less than seven days ago: wait until %s, or use --leaked",
			first.SealingAt.Add(wait).UTC().Format(time.DateTime),
		)
	}
	return list[:1], "Step 3 of 3: the old key is removed. Restart every process.", nil
}

// wait is how long a retired key stays in the list: as long as refresh tokens live.
const wait = 7 * 24 * time.Hour

// State is what a key is for.
func State(k eventstore.SecretKey) string {
	switch {
	case k.Place == 0 && k.Needed():
		return "missing"
	case k.Place == 0:
		return "not needed"
	case k.Place == 1 && k.Newest:
		return "seals"
	case k.Place == 1:
		return "seals after a restart"
	case k.SealingAt.IsZero():
		return "new"
	case k.Needed() || k.Transit > 0:
		return "opens, still needed"
	}
	return "opens, not needed"
}

// Advice is the next thing to do.
func Advice(keys []eventstore.SecretKey) string {
	for _, k := range keys {
		if k.Place == 0 && k.Needed() {
			return "The key " +
				k.ID + " is missing: no process starts. Put it back, or give up what it seals with: hostpanel secrets forget " + k.ID
		}
	}
	for _, k := range keys {
		switch State(k) {
		case "new":
			return "Once every process was restarted with this list, put " + k.ID + " first: hostpanel secrets rotate."
		case "seals after a restart":
			return "Restart every process."
		case "opens, still needed":
			return "Wait until nothing is sealed with " + k.ID + " any more: the panel seals a thousand a minute anew."
		case "opens, not needed":
			return "Seven days after the new key became the first, remove " + k.ID + ": hostpanel secrets rotate."
		}
	}
	return "Nothing is to be done."
}
