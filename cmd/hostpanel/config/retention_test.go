package config

import (
	"testing"
	"time"

	"hostpanel/eventstore/credentials"
	"hostpanel/sagas/assembly"
)

// What is set is kept for that long, and the rest as usual.
func TestRowsAreKeptAsLongAsTheSettingsSay(t *testing.T) {
	plain, err := New(Settings{}, true)
	if err != nil || plain.Retention != (assembly.Retention{Credentials: credentials.Defaults}) {
		t.Errorf("%+v %v", plain.Retention, err)
	}
	set, err := New(Settings{
		KeepBodies: "1", KeepAttempts: "2", KeepDeliveries: "3", KeepIdempotencyKeys: "4",
		KeepLinks: "5", LooksKept: "6", SessionLife: "20m", SessionStay: "7",
	}, true)
	want := assembly.Retention{
		WebhookBodies: day, Attempts: 2 * day, Deliveries: 3 * day, IdempotencyKeys: 4 * day, Looks: 6 * day,
		Credentials: credentials.Times{
			SessionLife: 20 * time.Minute, SessionIdle: 20 * time.Minute, SessionStay: 7 * day, KeepLinks: 5 * day,
		},
	}
	if err != nil || set.Retention != want {
		t.Errorf("%+v %v", set.Retention, err)
	}
}
