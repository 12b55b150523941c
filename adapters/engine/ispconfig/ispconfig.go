// Package ispconfig drives a hosting engine of the ISPConfig 3.2 line through
// its remote JSON API. That API knows neither tenants nor idempotency keys,
// checks next to nothing, and has calls that destroy what they only seem to
// touch; this package never makes them (docs/engine-ispconfig.md).
package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"hostpanel/eventstore/clock"
)

// A Config says where an engine is and what it is made of.
type Config struct {
	Name           string   // names the engine in queues and claims
	URL            string   // "https://panel.example.com:8080"
	User, Password string   // of the remote user
	Servers        Servers  // numbers of the servers by what they do
	Named          bool     // each site has an address of its own; false: each has any
	StorageShare   int64    // per cent of its tenant's storage that each site and database has; 0: 100
	NameServers    []string // of new zones, dotted; the first is a zone's primary unless it names another

	// Installation is the panel that works there.
	Installation Installation

	// Ask tells until when the certificate is valid that is served for a
	// domain, as [Served] does; nil: port 443 where the engine is.
	Ask func(ctx context.Context, domain string) (time.Time, error)

	Turns Turns            // nil: this process is the only one that writes
	HTTP  *http.Client     // nil: a client that verifies certificates
	Now   func() time.Time // nil: clock.Now
	Log   *slog.Logger     // nil: no log
}

// Servers are the engine's own numbers of its servers.
type Servers struct{ Web, Database, DNS, Mail int64 }

const (
	callLimit   = 20 * time.Second // of one call (rule G-2)
	clientLimit = time.Minute      // of client_add, which makes a key of SSH
	makerLimit  = 20 * time.Minute // of PHP at the engine, as its own set-up has it
	answerLimit = 16 << 20         // bytes
	inFlight    = 3                // calls at a time
	lineage     = "3.2."           // versions that this package writes to
)

// An Engine is one ISPConfig installation.
type Engine struct {
	api       *connection
	owners    *owners
	makers    makers
	journal   *journal
	survey    *survey
	addresses memory[[]serverAddress]
	passwords memory[passwordRule]
}

// A connection makes calls of the API and reads its rows, a few at a time, in one session.
type connection struct {
	Config
	sessions *sessionPool
	slots    chan struct{}
	longest  int64 // answer, in bytes
}

// New returns the engine of a configuration. It calls nothing yet.
func New(c Config) (*Engine, error) {
	if c.Servers.Web < 1 || c.Servers.Database < 1 || c.Servers.DNS < 1 || c.Servers.Mail < 1 {
		return nil, errors.New("ispconfig: a server for each of web, database, dns and mail is needed")
	}
	if c.Name == "" || c.User == "" || c.Password == "" || len(c.NameServers) == 0 {
		return nil, errors.New("ispconfig: a name, a remote user with its password, and name servers are needed")
	}
	c.URL = strings.TrimSuffix(c.URL, "/")
	if c.Turns == nil {
		c.Turns = Alone()
	}
	c.Now = clock.Or(c.Now)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Ask == nil {
		c.Ask = servedBy(c.URL)
	}
	c.HTTP = polite(c.HTTP)
	to := &connection{Config: c, slots: make(chan struct{}, inFlight), longest: answerLimit}
	to.sessions = &sessionPool{door: to, now: c.Now, turn: make(chan struct{}, 1), jitter: rand.Int64N}
	j := newJournal(to)
	return &Engine{api: to, owners: &owners{api: to}, journal: j, survey: &survey{api: to, journal: j, hold: &hold{api: to}}}, nil
}

// polite is a client as given that follows no redirects: a redirected write
// would be a second one.
func polite(given *http.Client) *http.Client {
	client := http.Client{}
	if given != nil {
		client = *given
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// Server names the engine in queues and claims.
func (e *Engine) Server() string { return e.api.Name }

// Close ends the session with the engine.
func (e *Engine) Close(ctx context.Context) error { return e.api.sessions.close(ctx) }

// Check asks whether the engine may be written to: that the remote user is let
// in, the version is of the line that this package knows, the servers are
// there, and no other installation works there. A permanent failure is a mistake in the configuration.
func (e *Engine) Check(ctx context.Context) error {
	if err := e.survey.known(ctx); err != nil {
		return err
	}
	return e.survey.hold.look(ctx)
}

// A survey finds out whether an engine may be written to.
type survey struct {
	api     *connection
	journal *journal
	hold    *hold

	mu      sync.Mutex
	isKnown bool // the version and the servers have been looked at
}

// writable makes sure that this is an engine that may be written to, and this
// installation's.
func (s *survey) writable(ctx context.Context) error {
	if err := s.known(ctx); err != nil {
		return err
	}
	return ofTheWhole(s.hold.own(ctx))
}

// known makes sure, once, that the engine is of the line that this package knows, with
// the servers that it is told of.
func (s *survey) known(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isKnown {
		return nil
	}
	for _, ask := range []func(context.Context) error{s.compareVersion, s.compareServers, s.journal.follow} {
		if err := ask(ctx); err != nil {
			return ofTheWhole(err)
		}
	}
	s.isKnown = true
	return nil
}

func (s *survey) compareVersion(ctx context.Context) error {
	var version struct {
		Version string `json:"ispc_app_version"`
	}
	if err := s.api.read(ctx, "server_get_app_version", nil, &version); err != nil {
		return err
	}
	if !strings.HasPrefix(version.Version, lineage) {
		return lacking(
			"engine_version", "version "+lineage+"x",
			fmt.Errorf("version %q is not of the line %sx: the panel only reads from it", version.Version, lineage),
		)
	}
	return nil
}

func (s *survey) compareServers(ctx context.Context) error {
	servers, err := s.api.rows(ctx, "server_get_all", nil, []string{"server_id"})
	if err != nil {
		return err
	}
	for _, id := range []int64{s.api.Servers.Web, s.api.Servers.Database, s.api.Servers.DNS, s.api.Servers.Mail} {
		if !slices.ContainsFunc(servers, func(r row) bool { return r.number("server_id") == id }) {
			return lacking("engine_servers", fmt.Sprintf("server %d", id), fmt.Errorf("the engine has no server %d", id))
		}
	}
	return nil
}
