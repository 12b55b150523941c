package caller

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"hostpanel/eventstore/clock"
	"hostpanel/http/route"
)

// Tokens identify a user, signed by a key of ours, so that no table has to be
// asked whether they are genuine (docs/security.md, "Tokens").

const (
	tokenIssuer   = "hostpanel"
	tokenAudience = "panel"
	tokenMax      = 8 << 10            // bytes
	AccessTime    = time.Hour          // for which an access token is valid
	RefreshTime   = 7 * 24 * time.Hour // for which a refresh token is valid
)

// A TokenType says what a token is good for: calls, or further tokens.
type TokenType string

const (
	AnyToken     TokenType = ""        // either of them, where tokens are checked
	AccessToken  TokenType = "access"  // for calls
	RefreshToken TokenType = "refresh" // for further tokens
)

// A TokenKey signs tokens; those that it signed name its id.
type TokenKey struct {
	ID  string
	Key []byte
}

// TokenKeys sign tokens with the first of them, and read those that any of them signed.
type TokenKeys []TokenKey

// Claims are what a token says.
type Claims struct {
	Type     TokenType        `json:"token_type"`
	Expires  *jwt.NumericDate `json:"exp"`
	Issued   *jwt.NumericDate `json:"iat"`
	ID       string           `json:"jti"`
	User     string           `json:"user_id"`
	Issuer   string           `json:"iss"`
	Audience string           `json:"aud"`
	Version  int              `json:"sv"`  // of the user's sessions
	SignIn   uuid.UUID        `json:"sid"` // from which all tokens of a family come
}

// GetExpirationTime is the time from which the token is refused.
func (c *Claims) GetExpirationTime() (*jwt.NumericDate, error) { return c.Expires, nil }

// GetIssuedAt is the time at which the token was signed.
func (c *Claims) GetIssuedAt() (*jwt.NumericDate, error) { return c.Issued, nil }

// GetNotBefore is nil: a token is valid at once.
func (c *Claims) GetNotBefore() (*jwt.NumericDate, error) { return nil, nil }

// GetIssuer names the program that signed the token.
func (c *Claims) GetIssuer() (string, error) { return c.Issuer, nil }

// GetSubject is the number of the user.
func (c *Claims) GetSubject() (string, error) { return c.User, nil }

// GetAudience names the program that the token is for.
func (c *Claims) GetAudience() (jwt.ClaimStrings, error) { return jwt.ClaimStrings{c.Audience}, nil }

// A badToken says why a token opens nothing.
type badToken string

const (
	TokenInvalid     badToken = "Token is invalid" // malformed, or signed with another key
	tokenExpired     badToken = "Token is expired"
	tokenWrongType   badToken = "Token has wrong type"
	TokenBlacklisted badToken = "Token is blacklisted" // used before, or ended
)

func (b badToken) Error() string { return string(b) }

// refusedAccess is the answer to a token in the header Authorization that
// opens nothing.
func refusedAccess(err error) error {
	var bad badToken
	if !errors.As(err, &bad) {
		return err
	}
	return &route.Refusal{
		Status: http.StatusUnauthorized, Code: "token_not_valid", Detail: "Given token not valid for any token type",
		More: []route.Member{{Name: "messages", JSON: fmt.Appendf(nil,
			`[{"token_class":"AccessToken","token_type":"access","message":"%s"}]`, string(bad))}},
	}
}

// RefusedToken is the answer to a token in a body that opens nothing.
func RefusedToken(err error) error {
	var bad badToken
	if !errors.As(err, &bad) {
		return err
	}
	return &route.Refusal{Status: http.StatusUnauthorized, Detail: string(bad), Code: "token_not_valid"}
}

// Sign makes a token of the type for a sign-in of the user, who has the session
// version.
func (k TokenKeys) Sign(as TokenType, user int64, version int, signIn uuid.UUID, until time.Time) (text, id string, err error) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	id = hex.EncodeToString(random[:])
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, &Claims{
		Type: as, Expires: jwt.NewNumericDate(until), Issued: jwt.NewNumericDate(clock.Now()), ID: id,
		User: strconv.FormatInt(user, 10), Issuer: tokenIssuer, Audience: tokenAudience, Version: version, SignIn: signIn,
	})
	key := k[0]
	token.Header["kid"] = key.ID
	text, err = token.SignedString(key.Key)
	if err != nil {
		return "", "", fmt.Errorf("sign a token: %w", err)
	}
	return text, id, nil
}

// Read checks a token of the type and returns what it says; the error is a
// [badToken].
func (k TokenKeys) Read(text string, as TokenType) (Claims, error) {
	var c Claims
	if len(text) > tokenMax {
		return c, TokenInvalid
	}
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithExpirationRequired(), jwt.WithLeeway(0),
		jwt.WithIssuer(tokenIssuer), jwt.WithAudience(tokenAudience), jwt.WithTimeFunc(clock.Now), jwt.WithStrictDecoding())
	_, err := parser.ParseWithClaims(text, &c, k.named)
	switch {
	case errors.Is(err, jwt.ErrTokenExpired) && c.complete():
		return c, tokenExpired
	case err != nil, !c.complete():
		return c, TokenInvalid
	case as != AnyToken && c.Type != as:
		return c, tokenWrongType
	}
	return c, nil
}

// complete tells whether the token makes all the claims that ours make.
func (c *Claims) complete() bool {
	return c.ID != "" && c.Type != "" && c.Issuer == tokenIssuer && c.Audience == tokenAudience
}

var errForeignKey = errors.New("signed with a key that is not ours")

// named finds the key that the token names. Keys that a token brings along
// are not used.
func (k TokenKeys) named(token *jwt.Token) (any, error) {
	id, _ := token.Header["kid"].(string)
	for _, key := range k {
		if key.ID == id {
			return key.Key, nil
		}
	}
	return nil, errForeignKey
}
