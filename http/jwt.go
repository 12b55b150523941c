package http

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hostpanel/http/route"
)

// Tokens say who somebody is, signed by a key of ours, so that no table has to
// be asked whether they are genuine (docs/security.md, "Tokens").

const (
	tokenIssuer   = "hostpanel"
	tokenAudience = "panel"
	tokenMax      = 8 << 10 // bytes
	accessTime    = time.Hour
	refreshTime   = 7 * 24 * time.Hour
)

// A tokenType says what a token is good for: calls, or further tokens.
type tokenType string

const (
	anyToken     tokenType = ""
	accessToken  tokenType = "access"
	refreshToken tokenType = "refresh"
)

// A TokenKey signs tokens; those that it signed name its id.
type TokenKey struct {
	ID  string
	Key []byte
}

// claims are what a token says.
type claims struct {
	Type     tokenType        `json:"token_type"`
	Expires  *jwt.NumericDate `json:"exp"`
	Issued   *jwt.NumericDate `json:"iat"`
	ID       string           `json:"jti"`
	User     string           `json:"user_id"`
	Issuer   string           `json:"iss"`
	Audience string           `json:"aud"`
	Version  int              `json:"sv"` // of the user's sessions
}

func (c *claims) GetExpirationTime() (*jwt.NumericDate, error) { return c.Expires, nil }
func (c *claims) GetIssuedAt() (*jwt.NumericDate, error)       { return c.Issued, nil }
func (c *claims) GetNotBefore() (*jwt.NumericDate, error)      { return nil, nil }
func (c *claims) GetIssuer() (string, error)                   { return c.Issuer, nil }
func (c *claims) GetSubject() (string, error)                  { return c.User, nil }
func (c *claims) GetAudience() (jwt.ClaimStrings, error)       { return jwt.ClaimStrings{c.Audience}, nil }

// A badToken says why a token opens nothing.
type badToken string

const (
	tokenInvalid     badToken = "Token is invalid"
	tokenExpired     badToken = "Token is expired"
	tokenWrongType   badToken = "Token has wrong type"
	tokenBlacklisted badToken = "Token is blacklisted"
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

// refusedToken is the answer to a token in a body that opens nothing.
func refusedToken(err error) error {
	var bad badToken
	if !errors.As(err, &bad) {
		return err
	}
	return &route.Refusal{Status: http.StatusUnauthorized, Detail: string(bad), Code: "token_not_valid"}
}

// sign makes a token of the type for the user, who has the session version.
func (s *Server) sign(as tokenType, user int64, version int, until time.Time) (text, id string, err error) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	id = hex.EncodeToString(random[:])
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, &claims{
		Type: as, Expires: jwt.NewNumericDate(until), Issued: jwt.NewNumericDate(s.now()), ID: id,
		User: strconv.FormatInt(user, 10), Issuer: tokenIssuer, Audience: tokenAudience, Version: version,
	})
	key := s.TokenKeys[0]
	token.Header["kid"] = key.ID
	text, err = token.SignedString(key.Key)
	if err != nil {
		return "", "", fmt.Errorf("sign a token: %w", err)
	}
	return text, id, nil
}

// read checks a token of the type and returns what it says; the error is a
// [badToken].
func (s *Server) read(text string, as tokenType) (claims, error) {
	var c claims
	if len(text) > tokenMax {
		return c, tokenInvalid
	}
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithExpirationRequired(), jwt.WithLeeway(0),
		jwt.WithIssuer(tokenIssuer), jwt.WithAudience(tokenAudience), jwt.WithTimeFunc(s.now), jwt.WithStrictDecoding())
	_, err := parser.ParseWithClaims(text, &c, s.keyOfToken)
	switch {
	case errors.Is(err, jwt.ErrTokenExpired) && c.complete():
		return c, tokenExpired
	case err != nil, !c.complete():
		return c, tokenInvalid
	case as != anyToken && c.Type != as:
		return c, tokenWrongType
	}
	return c, nil
}

// complete tells whether the token makes all the claims that ours make.
func (c *claims) complete() bool {
	return c.ID != "" && c.Type != "" && c.Issuer == tokenIssuer && c.Audience == tokenAudience
}

var errForeignKey = errors.New("signed with a key that is not ours")

// keyOfToken finds the key that the token names. Keys that a token brings along
// are nobody's.
func (s *Server) keyOfToken(token *jwt.Token) (any, error) {
	id, _ := token.Header["kid"].(string)
	for _, key := range s.TokenKeys {
		if key.ID == id {
			return key.Key, nil
		}
	}
	return nil, errForeignKey
}
