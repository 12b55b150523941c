package secrets

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/sealing"
	"hostpanel/eventstore/wholefile"
)

// wait is how long a retired key stays in the list: as long as refresh tokens live.
const wait = 7 * 24 * time.Hour

type rotate struct {
	Leaked bool `help:"Remove the old key as soon as nothing is sealed with it. Users who are signed in with tokens have to sign in again."`
}

// Run does the next step, and tells what comes after it.
func (r rotate) Run(ctx context.Context, s config.Settings, c console.Console) error {
	if s.SecretKey != "" {
		return console.Misused(
			`the keys are in HOSTPANEL_SECRET_KEY, which this command cannot change: edit the list, as "hostpanel secrets check" says`,
		)
	}
	return program.WithKeys(ctx, s, c, func(p *program.Program) error {
		keys, err := eventstore.SecretKeys(ctx, p.Pool, p.Keys)
		if err != nil {
			return err
		}
		path := filepath.Join(p.Config.DataDir, "secret.key")
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read the secret keys: %w", err)
		}
		list, say, err := next(strings.Split(strings.TrimSpace(string(text)), ","), keys, r.Leaked)
		if err != nil {
			return err
		}
		if err := wholefile.Write(path, []byte(strings.Join(list, ",")+"\n")); err != nil {
			return fmt.Errorf("write the secret keys: %w", err)
		}
		fmt.Fprintln(c.Out, say)
		return nil
	})
}

// next is the list after the next step.
func next(list []string, keys []eventstore.SecretKey, leaked bool) (after []string, say string, err error) {
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
