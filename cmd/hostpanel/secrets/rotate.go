package secrets

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/secrets/rotation"
	"hostpanel/eventstore"
	"hostpanel/eventstore/wholefile"
)

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
		list, say, err := rotation.Next(strings.Split(strings.TrimSpace(string(text)), ","), keys, r.Leaked)
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
