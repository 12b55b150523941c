package redact

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestTheLogNeverHoldsASecret(t *testing.T) {
	const secret = "HUSH-hush-4711"
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJ1c2VyX2lkIjoiMSJ9.c2lnbmF0dXJl"
	key := "sfk_test_ab12CD34_abcdefghijklmnopqrstuvwxyz012345_0aBcDe"
	for _, c := range []struct {
		about string
		log   func(*slog.Logger)
		gone  string
	}{
		{"a password", func(l *slog.Logger) { l.Info("m", "password", secret) }, secret},
		{"in any case", func(l *slog.Logger) {
			l.Info("m", "Authorization", secret, "X-API-Key", secret, "Set-Cookie",
				secret)
		}, secret},
		{"by the end of its name", func(l *slog.Logger) { l.Info("m", "db_password", secret) }, secret},
		{"by the beginning of its name", func(l *slog.Logger) {
			l.Info("m", "secret_key", secret, "password_repeat",
				secret)
		}, secret},
		{"tokens", func(l *slog.Logger) { l.Info("m", "token", secret, "refresh", secret, "access", secret) }, secret},
		{"keys and chains", func(l *slog.Logger) {
			l.Info("m", "private_key", secret, "chain", secret, "idempotency-key",
				secret)
		}, secret},
		{"in a group", func(l *slog.Logger) { l.Info("m", slog.Group("user", slog.String("password", secret))) }, secret},
		{"of a logger", func(l *slog.Logger) { l.With("cookie", secret).WithGroup("g").Info("m") }, secret},
		{"a value that logs itself", func(l *slog.Logger) { l.Info("m", "user", selfLogging{secret}) }, secret},
		{"a JSON web token", func(l *slog.Logger) { l.Info("came with " + jwt) }, jwt},
		{
			"a storefront key in an error", func(l *slog.Logger) { l.Warn("m", "error", errors.New("refused "+key)) },
			"abcdefghijklmnopqrstuvwxyz012345",
		},
		{"a webhook secret", func(l *slog.Logger) { l.Info("m", "x", "whsec_"+secret) }, secret},
		{"a PEM block", func(l *slog.Logger) {
			l.Info("m", "x", "-----BEGIN PRIVATE KEY-----\n"+secret+"\n-----END PRIVATE KEY-----")
		}, secret},
		{"half a PEM block", func(l *slog.Logger) { l.Info("m", "x", "-----BEGIN EC PRIVATE KEY-----\n"+secret) }, secret},
		{"a password in a URL", func(l *slog.Logger) { l.Info("m", "x", "postgres://me:"+secret+"@db/x") }, secret},
		{"a one-time link", func(l *slog.Logger) { l.Info("m", "x", "/set-password/?token="+secret) }, secret},
	} {
		var b bytes.Buffer
		c.log(NewLog(&b, slog.LevelInfo))
		if strings.Contains(b.String(), c.gone) || !strings.Contains(b.String(), Masked) {
			t.Errorf("%s: %s", c.about, b.String())
		}
	}
}

type selfLogging struct{ password string }

func (s selfLogging) LogValue() slog.Value {
	return slog.GroupValue(slog.String("password", s.password))
}

func TestTheLogKeepsWhatIsNoSecret(t *testing.T) {
	var b bytes.Buffer
	log := NewLog(&b, slog.LevelInfo)
	log.Debug("too quiet")
	log.Info("request", "route", "/storefront/api/orders/", "status", 201, "ms", 1.5, "took", 2*time.Second, "caller",
		"api_key:ab12CD34", "accessed", "yes")
	for _, want := range []string{
		"msg=request", "route=/storefront/api/orders/", "status=201", "ms=1.5", "took=2s",
		"caller=api_key:ab12CD34", "accessed=yes",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is missing in %s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "quiet") {
		t.Error("debug lines are written")
	}
}

func TestALineOfTheLogCannotBeForged(t *testing.T) {
	var b bytes.Buffer
	NewLog(&b, slog.LevelInfo).Info("a\r\nlevel=ERROR msg=forged", "x", "b\nc\x1b[31m")
	if strings.Count(b.String(), "\n") != 1 || strings.ContainsAny(b.String(), "\r\x1b") {
		t.Errorf("%q", b.String())
	}
}
