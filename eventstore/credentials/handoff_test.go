package credentials_test

import (
	"errors"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
)

func TestASecretIsHandedOverOnceAndShredded(t *testing.T) {
	s := newVault(t)
	execute := func(rows ...eventstore.TxStatement) {
		t.Helper()
		if _, err := s.ExecuteWith(t.Context(), domain.Metadata{}, rows); err != nil {
			t.Fatal(err)
		}
	}
	execute(s.HandOff("ftp", "e/site-1/1", []byte("s3cret"), time.Hour))
	execute(s.HandOff("ftp", "e/site-1/1", []byte("another"), time.Hour))
	if got, err := s.OpenHandOff(t.Context(), "ftp", "e/site-1/1"); err != nil || string(got) != "s3cret" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := s.OpenHandOff(t.Context(), "mail", "e/site-1/1"); !errors.Is(err, credentials.ErrShredded) {
		t.Errorf("for another purpose: %v", err)
	}
	execute(credentials.Shred("e/site-1/1"))
	if _, err := s.OpenHandOff(t.Context(), "ftp", "e/site-1/1"); !errors.Is(err, credentials.ErrShredded) {
		t.Errorf("after shredding: %v", err)
	}
}

func TestASecretOnItsWayOutlivesARotation(t *testing.T) {
	url := eventstoretest.URL(t)
	old, fresh := sealing.NewSecretKey(), sealing.NewSecretKey()
	before, after := open(t, url, old), open(t, url, fresh+","+old)
	if _, err := before.ExecuteWith(
		t.Context(), domain.Metadata{},
		[]eventstore.TxStatement{before.HandOff("ftp", "e1", []byte("s3cret"), time.Hour)},
	); err != nil {
		t.Fatal(err)
	}
	if secret, err := after.OpenHandOff(t.Context(), "ftp", "e1"); err != nil || string(secret) != "s3cret" {
		t.Errorf("%q, %v", secret, err)
	}
}
