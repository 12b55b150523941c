package demo

import (
	"crypto/rand"
	"crypto/subtle"
	"sync"
	"time"

	"hostpanel/eventstore/clock"
)

const linkLife = 10 * time.Minute

// A Link signs the operator of a demo in, once. It is kept in memory only.
type Link struct {
	mu    sync.Mutex
	token string // "": none
	until time.Time
}

// Draw makes the link, in place of the one before.
func (l *Link) Draw(public string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.token, l.until = rand.Text(), clock.Now().Add(linkLife)
	return public + linkPath + "?token=" + l.token
}

func (l *Link) use(token string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	isIt := l.token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(l.token)) == 1 && clock.Now().Before(l.until)
	if isIt {
		l.token = ""
	}
	return isIt
}
