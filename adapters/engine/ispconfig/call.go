package ispconfig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"time"

	"hostpanel/domain"
)

// A member is one name and value of a JSON object whose order matters: the
// engine reads the columns of a filter up to the first paging key.
type member struct {
	name  string
	value any
}

type members []member

// text is the value of a name, as the engine stores it; "": there is none.
func (m members) text(name string) string {
	for _, one := range m {
		if one.name == name {
			return stored(one.value)
		}
	}
	return ""
}

// once keeps the last value of each name.
func (m members) once() (all members) {
	for i, one := range m {
		if !slices.ContainsFunc(m[i+1:], func(later member) bool { return later.name == one.name }) {
			all = append(all, one)
		}
	}
	return all
}

// MarshalJSON writes the members in their order.
func (m members) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, one := range m {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(one.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(one.value)
		if err != nil {
			return nil, err
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// call makes one call that may change something, or notes it in a rehearsal.
func (c *connection) call(ctx context.Context, function string, arguments members, into any) error {
	if r := rehearsalOf(ctx); r != nil {
		r.note(function, arguments)
		return nil
	}
	return c.within(ctx, function, arguments, into)
}

// within makes one call within a session and keeps the calls in flight few. A
// session that has expired is replaced once.
func (c *connection) within(ctx context.Context, function string, arguments members, into any) error {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return domain.Fail(domain.Transient, "engine_busy", fmt.Errorf("%s waited for its turn: %w", function, ctx.Err()))
	}
	for again := false; ; again = true {
		s, err := c.sessions.borrow(ctx)
		if err != nil {
			return err
		}
		err = c.send(ctx, function, append(members{{"session_id", s.id}}, arguments...), into)
		c.sessions.giveBack(ctx, s)
		refusal, refused := errors.AsType[*fault](err)
		if !refused {
			return err
		}
		if stop := c.sessions.heed(ctx, s, refusal, again); stop {
			return refusal.failure(function, c.sessions.pause())
		}
	}
}

// read makes a call that changes nothing, so that its lost answer is no riddle.
func (c *connection) read(ctx context.Context, function string, arguments members, into any) error {
	return harmlessly(c.within(ctx, function, arguments, into))
}

func harmlessly(err error) error {
	if f, ok := errors.AsType[*domain.Failure](err); ok && f.Class == domain.Unknown {
		return domain.Fail(domain.Transient, f.Code, f.Err)
	}
	return err
}

// send makes one HTTP call. Its error is a *fault where the engine answered
// with one, else a *domain.Failure.
func (c *connection) send(ctx context.Context, function string, arguments members, into any) (err error) {
	begun := c.Now()
	defer func() {
		c.Log.DebugContext(ctx, "engine call", "engine", c.Name, "function", function, "took", c.Now().Sub(begun), "outcome", outcome(err))
	}()
	ctx, cancel := context.WithTimeout(ctx, limitOf(function))
	defer cancel()
	body, err := json.Marshal(arguments)
	if err != nil {
		return domain.Fail(domain.Permanent, "engine_call", fmt.Errorf("encode the arguments of %s: %w", function, err))
	}
	raw, err := c.post(ctx, function, body)
	if err != nil {
		return err
	}
	return decode(function, raw, into)
}

func limitOf(function string) time.Duration {
	if function == "client_add" {
		return clientLimit
	}
	return callLimit
}

// lasting is a context for a call that may take longer than its caller's limit. It ends
// with the call's own limit, or when the caller is stopped.
func lasting(ctx context.Context, limit time.Duration) (context.Context, func()) {
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})
	return longer, func() { stop(); cancel() }
}

func (c *connection) post(ctx context.Context, function string, body []byte) ([]byte, error) {
	connected := false
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }})
	request, err := http.NewRequestWithContext(traced, http.MethodPost, c.URL+"/remote/json.php?"+function, bytes.NewReader(body))
	if err != nil {
		return nil, domain.Fail(domain.Permanent, "engine_address", errors.New("the engine's address is not an address"))
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.HTTP.Do(request)
	if err != nil && !connected {
		return nil, domain.Fail(domain.Transient, "engine_unreachable", fmt.Errorf("%s: %w", function, err))
	}
	if err != nil {
		return nil, unclear(function, err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, c.longest+1))
	switch {
	case err != nil:
		return nil, unclear(function, err)
	case response.StatusCode != http.StatusOK:
		return nil, unclear(function, fmt.Errorf("status %d", response.StatusCode))
	case int64(len(raw)) > c.longest:
		return nil, unclear(function, errTooLong)
	}
	return raw, nil
}

// errTooLong is an answer that is longer than the engine's may be.
var errTooLong = errors.New("the answer is too long")

// unclear is the failure of a call that may have been carried out.
func unclear(function string, err error) error {
	return domain.Fail(domain.Unknown, "no_answer", fmt.Errorf("%s: %w", function, err))
}

// decode reads an answer. What is not JSON never says whether the call was
// carried out, and its text is not kept: it may quote what was sent.
func decode(function string, raw []byte, into any) error {
	var answer struct {
		Code     string          `json:"code"`
		Message  string          `json:"message"`
		Response json.RawMessage `json:"response"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil || answer.Code == "" {
		return unclear(function, errors.New("the answer is not what the engine answers"))
	}
	if answer.Code != "ok" {
		return classify(answer.Code, answer.Message)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(answer.Response, into); err != nil {
		return unclear(function, errors.New("the answer has an unexpected shape"))
	}
	return nil
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	if refusal, ok := errors.AsType[*fault](err); ok {
		return refusal.Error()
	}
	if f, ok := errors.AsType[*domain.Failure](err); ok {
		return f.Code
	}
	return "failed"
}

// farewell ends a session; whether it worked does not matter.
func (c *connection) logout(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = c.send(ctx, "logout", members{{"session_id", id}}, nil)
}

// login opens a session. The logins of all processes take turns, so that wrong
// ones cannot add up to a lock-out.
func (c *connection) login(ctx context.Context) (id string, err error) {
	release, err := c.Turns.Take(ctx, Turn{Name: c.Name + "/session"})
	if err != nil {
		return "", err
	}
	defer release()
	err = c.send(ctx, "login", members{{"username", c.User}, {"password", c.Password}}, &id)
	return id, harmlessly(err)
}

// CallOf names the function that a request of this package calls, to a proxy
// before the engine; "" is one of sessions.
func CallOf(r *http.Request) string {
	if r.URL.RawQuery == "login" || r.URL.RawQuery == "logout" {
		return ""
	}
	return r.URL.RawQuery
}

var verbs = map[string]string{"create": "_add", "change": "_update", "remove": "_delete"}

// Writes are the functions by which a kind is created, changed or removed.
func Writes(call, kind string) (functions []string) {
	r, err := resourceOf(kind)
	if err != nil {
		return nil
	}
	for _, stem := range r.stems {
		functions = append(functions, stem+verbs[call])
	}
	if call == "change" && r == &sites {
		functions = append(functions, "sites_web_domain_set_status")
	}
	return functions
}
