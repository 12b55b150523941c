package ispconfigtest

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"time"
)

const (
	sessionLife  = 1800 * time.Second
	failureLimit = 10
	failureTime  = 5 * time.Minute
)

// admitted checks the session, as the engine does before anything else. One
// counter counts whatever an address gets wrong, and each time restarts its
// five minutes.
func (c *call) admitted() answer {
	e := c.engine
	if e.failures > 0 && e.now.Sub(e.failedAt) >= failureTime {
		e.failures = 0
	}
	given, _ := c.arguments.get("session_id")
	id, text := given.(string)
	switch {
	case c.function == "logout":
		delete(e.sessions, id)
		return ok(true)
	case c.function == "login":
		return c.login()
	case e.failures >= failureLimit:
		return remote("The Session failure limit has been reached.")
	case given == nil || id == "" && text:
		return remote("The SessionID is empty.")
	case !text:
		return remote("Wrong SessionID datatype.")
	}
	begun, known := e.sessions[id]
	if !known || e.now.Sub(begun) >= sessionLife {
		delete(e.sessions, id)
		e.failures, e.failedAt = e.failures+1, e.now
		return remote("The Session is expired or does not exist.")
	}
	if slices.Contains(e.forbidden, c.function) {
		return remote("You do not have the permissions to access this function.")
	}
	return c.answer()
}

// Password changes the remote user's password.
func (e *Engine) Password(password string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.password = password
}

// Forbid takes functions away from the remote user, and gives all others back.
func (e *Engine) Forbid(functions ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.forbidden = functions
}

func (c *call) login() answer {
	e := c.engine
	user, password := c.text("username"), c.text("password")
	switch {
	case e.failures >= failureLimit:
		return remote("The login failure limit has been reached.")
	case user == "":
		return remote("The login username is empty.")
	case password == "":
		return remote("The login password is empty.")
	case user != User || password != e.password:
		e.failures, e.failedAt = e.failures+1, e.now
		return remote("The login failed. Username or password wrong.")
	}
	e.failures = 0
	raw := make([]byte, 20)
	_, _ = rand.Read(raw)
	id := "s" + hex.EncodeToString(raw)
	e.sessions[id] = e.now
	return ok(id)
}
