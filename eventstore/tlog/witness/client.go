package witness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"hostpanel/eventstore/tlog"
)

// patience is how long a witness may take to answer.
const patience = 10 * time.Second

// A Client asks witnesses over HTTP.
type Client struct{ http *http.Client }

// NewClient makes a client. It follows no redirects.
func NewClient() *Client {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{&http.Client{Timeout: patience, CheckRedirect: stay}}
}

// errNoAddress means that a policy does not say where a witness is.
var errNoAddress = errors.New("the policy has no URL of this witness")

// Add asks a witness of a policy to cosign, and returns the line of its cosignature.
// [Conflict]: it has cosigned a tree of another size last.
func (c *Client) Add(ctx context.Context, w tlog.PolicyWitness, s tlog.Submission) (line string, err error) {
	if w.URL == "" {
		return "", errNoAddress
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL+"/add-checkpoint", strings.NewReader(s.Text()))
	if err != nil {
		return "", fmt.Errorf("ask the witness: %w", err)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return "", fmt.Errorf("ask the witness: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, longest))
	if err != nil {
		return "", fmt.Errorf("the answer of the witness: %w", err)
	}
	return read(answer.StatusCode, string(text), w.Key, s.Checkpoint)
}

// refusals are what witnesses mean by their statuses.
var refusals = map[int]error{
	http.StatusNotFound: ErrUnknown, http.StatusForbidden: ErrUnsigned, http.StatusUnprocessableEntity: ErrProof,
}

func read(status int, text string, key tlog.Cosigner, checkpoint string) (string, error) {
	switch status {
	case http.StatusOK:
		return key.Cosignature(checkpoint, text)
	case http.StatusConflict:
		size, err := strconv.ParseInt(strings.TrimSuffix(text, "\n"), 10, 64)
		if err != nil || size < 0 {
			return "", errors.New("the witness answers 409 without a size")
		}
		return "", &Conflict{size}
	}
	if known := refusals[status]; known != nil {
		return "", fmt.Errorf("the witness answers %d: %w", status, known)
	}
	return "", fmt.Errorf("the witness answers %d", status)
}
