package route_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/route"
)

// A shop is a small API with a route of every sort.
type shop struct {
	mu     sync.Mutex
	sites  map[int64]*site
	orders map[uuid.UUID]*placed
	once   *memory
	calls  map[string]int
	asked  int
	down   bool // the store of limits

	providerDown bool
	log          bytes.Buffer
}

const (
	goodKey    = "sfk_test_good"
	boundKey   = "sfk_test_bound"
	expiredKey = "sfk_test_expired"
	scarceKey  = "sfk_test_scarce"
	public     = "https://panel.example"
	widgetID   = "abcdefgh12345678"
)

var errAway = errors.New("database away")

type site struct {
	ID, Version int64
	Domain      string
	Active      bool
}

func (s *site) Fields() field.Set {
	return field.Set{
		field.Int("id", &s.ID).ReadOnly(),
		field.Text("domain", &s.Domain).Required().Is(field.Domain),
		field.Flag("is_active", &s.Active).Default(true),
	}
}

type order struct {
	Plan   int64
	Email  string
	Method string
}

func (o *order) Fields() field.Set {
	return field.Set{
		field.Ref("plan_id", &o.Plan).Required().Doc("The plan that is bought."),
		field.Text("customer_email", &o.Email).Required().Is(field.Email),
		field.Text("payment_method", &o.Method).Required().Among("stripe", "test"),
	}
}

type placed struct {
	ID     uuid.UUID
	Secret string
	Status string
	Price  decimal.Decimal
}

func (p *placed) Fields() field.Set {
	return field.Set{
		field.UUID("order_id", &p.ID),
		field.Text("status", &p.Status),
		field.Amount("price", &p.Price, 12, 4),
		field.Text("secret", &p.Secret).OneTime(),
	}
}

// Holder knows four keys.
func (s *shop) Holder(_ context.Context, key string, _ netip.Addr) (route.Caller, error) {
	c := route.Caller{Principal: "api_key:" + strings.TrimPrefix(key, "sfk_test_"), PerMinute: 60}
	switch key {
	case goodKey:
	case boundKey:
		c.Origins = []string{"shop.example", "*.sub.example", "localhost"}
	case scarceKey:
		c.PerMinute = 2
	case expiredKey:
		return c, route.ExpiredKey
	default:
		return c, route.InvalidKey
	}
	return c, nil
}

// Take counts calls, and never forgets one.
func (s *shop) Take(_ context.Context, key string, limit int, window time.Duration) (domain.Quota, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked++; s.down {
		return domain.Quota{}, errAway
	}
	q := domain.Quota{Limit: limit, Window: window, Reset: 42 * time.Second, Wait: time.Minute - time.Millisecond}
	if s.calls[key] < limit {
		s.calls[key]++
		q.Allowed = true
	}
	q.Remaining = limit - s.calls[key]
	return q, nil
}

// bearer is a rule of the kind that tokens have.
var bearer = route.Access{
	Scheme: "bearer", Security: map[string]any{"type": "http", "scheme": "bearer"}, Challenge: `Bearer realm="api"`,
	Identify: func(_ context.Context, r route.Request) (route.Caller, error) {
		switch r.Header.Get("Authorization") {
		case "Bearer ana":
			return route.Caller{Principal: "user:1"}, nil
		case "Bearer eve":
			return route.Caller{Principal: "user:2"}, nil
		}
		return route.Caller{}, route.NoKey
	},
	Admit: func(_ context.Context, _ route.Request, c route.Caller) error {
		if c.Principal == "user:2" {
			return route.NoPermission
		}
		return nil
	},
}

func newShop() (*shop, *route.Table) {
	s := &shop{
		sites: map[int64]*site{}, orders: map[uuid.UUID]*placed{}, calls: map[string]int{},
		once: &memory{rows: map[string]domain.Replay{}, prints: map[string][]byte{}},
	}
	for id := range int64(45) {
		s.sites[id+1] = &site{ID: id + 1, Version: 7, Domain: fmt.Sprintf("site%d.example", id+1), Active: true}
	}
	t := route.Mount(route.Options{
		Title: "shop", Version: "1", PublicURL: func() string { return public }, Once: s.once,
		Unavailable: func(err error) bool { return errors.Is(err, errAway) },
		Log:         slog.New(slog.NewJSONHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Trusted:     []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
	}, s.storefront(), s.hosting(), s.others())
	return s, t
}

func (s *shop) storefront() route.Area {
	return route.Area{
		Name: "Storefront", Prefix: "/storefront/api/", CORS: &route.CORS{PerKey: true},
		Access: route.APIKey(s, s, func() string { return public }),
		Routes: []route.Route{
			route.List("/storefront/api/plans/", "Active plans", s.list).Caching("private, max-age=60"),
			route.Get("/storefront/api/widget/{widget_id:[a-z0-9]{16}}/", "A widget", s.widget).Hashed().Caching("private, max-age=60"),
			route.Post("/storefront/api/orders/", "Place an order", s.place).As("order_create").
				Keeping(domain.KeepWeek).Caching("no-store").Resuming(s.resume).Failing(503, "The payment provider does not answer."),
			route.Get("/storefront/api/orders/{order_id:uuid}/", "An order", s.order),
			route.Get("/storefront/api/slow/", "Waits for a database that is away", func(context.Context, route.Call) (*site, error) {
				return nil, fmt.Errorf("read: %w", errAway)
			}),
			route.Get("/storefront/api/crash/", "Crashes", func(context.Context, route.Call) (*site, error) { panic("oh no") }),
			route.Get("/storefront/api/broken/", "Fails", func(context.Context, route.Call) (*site, error) {
				return nil, errors.New("disk on fire")
			}),
		},
	}
}

func (s *shop) hosting() route.Area {
	const one = "/hosting/api/rest/sites/{id:int}/"
	find := func(_ context.Context, c route.Call) (any, string, error) {
		found := s.sites[c.ID("id")]
		if found == nil {
			return nil, "", route.Missing("Site")
		}
		again := *found
		return &again, fmt.Sprintf("site-%d-%d", found.ID, found.Version), nil
	}
	change := func(_ context.Context, c route.Call, to *site) (*site, error) {
		switch to.Domain {
		case "taken.example":
			return nil, domain.RefuseField("domain", field.AlreadyExists("site", "domain"))
		case "raced.example": // another caller is faster
			s.sites[to.ID].Version++
			seen := c.CauseOf(domain.Versions{{Category: "site", ID: c.Var("id")}: int(to.Version)}).ExpectedVersions
			if c.IsExact() != (seen != nil) {
				return nil, errors.New("a version was named, or was not")
			}
			if c.IsExact() {
				return nil, domain.Refuse(domain.Stale, "The resource was changed in the meantime.")
			}
		}
		if len(c.Sent) > 0 {
			to.Version++
			s.sites[to.ID] = to
		}
		c.ETag(fmt.Sprintf("site-%d-%d", to.ID, to.Version))
		return to, nil
	}
	known := route.Check(func(_ context.Context, c route.Call, to *site, wrong *field.Errors) error {
		if c.Sent.Has("domain") && to.Domain == "known.example" {
			wrong.Add("domain", field.AlreadyExists("site", "domain"))
		}
		return nil
	})
	return route.Area{
		Name: "Hosting", Prefix: "/hosting/api/rest/", Access: bearer,
		Routes: []route.Route{
			route.Pages("/hosting/api/rest/sites/", "Sites", s.page),
			route.Post("/hosting/api/rest/sites/", "Create a site", s.create).Tagged(),
			route.Get(one, "A site", func(_ context.Context, c route.Call) (*site, error) {
				found := c.Subject.(*site)
				c.ETag(fmt.Sprintf("site-%d-%d", found.ID, found.Version))
				return found, nil
			}).Of("Site").Finding(find),
			route.Put(one, "Replace a site", change).Of("Site").Finding(find).Checking(known),
			route.Patch(one, "Change a site", change).Of("Site").Finding(find),
			route.Delete(one, "Remove a site", func(_ context.Context, c route.Call) error {
				delete(s.sites, c.ID("id"))
				return nil
			}).Of("Site").Finding(find),
		},
	}
}

func (s *shop) others() route.Area {
	return route.Area{Name: "Others", Access: route.Open, Routes: []route.Route{
		route.Raw("/storefront/webhooks/{provider:stripe|test}/", "News of payments", func(
			_ context.Context, c route.Call,
		) (*route.Document, error) {
			if !bytes.HasPrefix(c.Body, []byte("signed ")) {
				return nil, domain.Refuse(domain.Invalid, "Invalid signature.")
			}
			return &route.Document{Type: "application/json", Body: []byte(`{"received":true}`)}, nil
		}).Failing(400, "The signature is wrong.").Sending("application/json", map[string]any{"type": "object"}),
		route.File("/healthz", "Whether the process lives", func(context.Context, route.Call) (*route.Document, error) {
			return &route.Document{Type: "application/json", Body: []byte(`{"status":"ok"}`), ETag: "v1"}, nil
		}).Sending("application/json", map[string]any{"type": "object"}).Tagged(),
		route.View(http.MethodGet, "/login/", "Log in", func(context.Context, route.Call) (*route.Document, error) {
			return &route.Document{
				Type: "text/html; charset=utf-8", Body: []byte("<p>hello"),
				FormAction: []string{"https://pay.example", "https://x.example; script-src *"},
			}, nil
		}),
		route.View(http.MethodPost, "/login/", "Log in", func(_ context.Context, c route.Call) (*route.Document, error) {
			form, err := c.Form()
			if err != nil {
				return nil, err
			}
			if form.Get("password") != "secret" {
				return nil, domain.Refuse(domain.Denied, "Wrong <password>.")
			}
			return nil, route.SeeOther("/storefront/")
		}).With(http.StatusSeeOther).Failing(403, "The password is wrong."),
	}}
}

func (s *shop) list(context.Context, route.Call) ([]site, error) {
	return []site{{ID: 1, Domain: "a.example"}, {ID: 2, Domain: "b.example"}}, nil
}

func (s *shop) widget(_ context.Context, c route.Call) (*site, error) {
	if c.Var("widget_id") != widgetID {
		return nil, route.Missing("Widget")
	}
	return &site{ID: 1, Domain: "a.example"}, nil
}

func (s *shop) place(_ context.Context, c route.Call, o *order) (*placed, error) {
	if o.Plan == 9 {
		return nil, domain.RefuseField("plan_id", field.NoSuchPK(o.Plan))
	}
	p := &placed{ID: uuid.New(), Status: "payment_processing", Price: decimal.RequireFromString("28.704"), Secret: "s3cret"}
	c.Location("/storefront/api/orders/" + p.ID.String() + "/")
	if key := c.Cause().IdempotencyKey; key != nil {
		s.once.begin(*key)
	}
	s.orders[p.ID] = p
	if s.providerDown {
		return nil, providerDown(p)
	}
	return p, nil
}

func providerDown(p *placed) error {
	return &route.Refusal{
		Status: 503, Detail: "The payment provider is temporarily unavailable.", Code: "payment_provider_unavailable",
		After: 30 * time.Second, More: []route.Member{{Name: "order_id", Value: p.ID.String()}},
	}
}

func (s *shop) resume(_ context.Context, c route.Call, location string) (route.Answer, error) {
	p := s.orders[uuid.MustParse(strings.Split(location, "/")[4])]
	if s.providerDown {
		return nil, providerDown(p)
	}
	if c.Cause().IdempotencyKey != nil {
		return nil, errors.New("the key of a resumed request was to be stored twice")
	}
	return p.Fields(), nil
}

func (s *shop) order(_ context.Context, c route.Call) (*placed, error) {
	p := s.orders[c.UUID("order_id")]
	if p == nil {
		return nil, route.Missing("Order")
	}
	c.ETag("order-" + p.ID.String() + "-1")
	return p, nil
}

func (s *shop) create(_ context.Context, c route.Call, to *site) (*site, error) {
	to.ID = int64(len(s.sites) + 1)
	c.Location(fmt.Sprintf("/hosting/api/rest/sites/%d/", to.ID))
	if key := c.Cause().IdempotencyKey; key != nil {
		s.once.begin(*key)
	}
	s.sites[to.ID] = to
	if to.Domain == "crash.example" {
		panic("after the facts were stored")
	}
	return to, nil
}

func (s *shop) page(_ context.Context, _ route.Call, w route.Window) (route.Page[site], error) {
	var all []site
	for id := range s.sites {
		all = append(all, *s.sites[id])
	}
	slices.SortFunc(all, func(a, b site) int { return int(a.ID - b.ID) })
	from := min(w.Offset, int64(len(all)))
	return route.Page[site]{Count: int64(len(all)), Results: all[from:min(from+w.Limit, int64(len(all)))]}, nil
}
