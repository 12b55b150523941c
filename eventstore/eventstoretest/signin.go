package eventstoretest

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/postgres"
)

// signInCheaply keeps the password of the cluster's role with one iteration of
// SCRAM in place of 4,096. Tests open thousands of connections, and most of the
// time of each one went into these.
func signInCheaply(ctx context.Context, c *postgres.Cluster) error {
	address, err := url.Parse(c.URL())
	if err != nil {
		return fmt.Errorf("read the cluster's address: %w", err)
	}
	password, _ := address.User.Password()
	verifier, err := scram(password)
	if err != nil {
		return err
	}
	db, err := pgx.Connect(ctx, c.URL())
	if err != nil {
		return err
	}
	defer db.Close(ctx) //nolint:errcheck // nothing was left open
	_, err = db.Exec(ctx, "alter role "+quote(address.User.Username())+" password '"+verifier+"'")
	return err
}

// scram is what Postgres keeps of a password (RFC 5803).
func scram(password string) (string, error) {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	salted, err := pbkdf2.Key(sha256.New, password, salt, 1, sha256.Size)
	if err != nil {
		return "", err
	}
	client := sha256.Sum256(sign(salted, "Client Key"))
	text := base64.StdEncoding.EncodeToString
	return "SCRAM-SHA-256$1:" + text(salt) + "$" + text(client[:]) + ":" + text(sign(salted, "Server Key")), nil
}

func sign(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
