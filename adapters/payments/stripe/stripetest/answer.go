package stripetest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A problem is an error of the API.
type problem struct {
	status  int
	kind    string // invalid_request_error, idempotency_error, api_error
	code    string
	param   string
	message string
	decline string // the bank's reason
	about   any    // the payment intent
	kept    bool   // under the idempotency key, because the call had begun
}

func invalid(code, param, message string) *problem {
	return &problem{status: http.StatusBadRequest, kind: "invalid_request_error", code: code, param: param, message: message}
}

func (p *problem) as(status int) *problem { p.status = status; return p }

// begun is a problem that was found out by trying.
func (p *problem) begun() *problem { p.kept = true; return p }

func (p *problem) body() []byte {
	e := map[string]any{"type": p.kind, "message": p.message}
	for name, value := range map[string]string{"code": p.code, "param": p.param, "decline_code": p.decline} {
		if value != "" {
			e[name] = value
		}
	}
	if p.about != nil {
		e["payment_intent"] = p.about
	}
	return encode(map[string]any{"error": e})
}

func (p *problem) write(w http.ResponseWriter) { write(w, p.status, p.body()) }

func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of texts and numbers
	}
	return body
}

func write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", newID("req_"))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// A request is a call whose parameters have names that we know.
type request struct {
	id     string
	key    string
	params url.Values
}

// answering makes a handler of a call: the key of the account, names of
// parameters, faults that are ordered, and what is kept under the idempotency key.
func (s *Server) answering(name string, known names, do func(request) (any, *problem)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, p := s.read(r, known)
		if p != nil {
			p.write(w)
			return
		}
		fault := s.record(name, q)
		if s.before(w, r, fault) {
			return
		}
		a := s.once(r, q, func() answer { return s.carryOut(r, fault, q, do) })
		s.after(w, r, fault, a)
	})
}

func (s *Server) read(r *http.Request, known names) (request, *problem) {
	if r.Header.Get("Authorization") != "Bearer "+s.options.Key {
		return request{}, invalid("", "", "Invalid API Key provided: sk_****.").as(http.StatusUnauthorized)
	}
	if r.ParseForm() != nil {
		return request{}, invalid("", "", "Invalid form.")
	}
	for name, values := range r.Form {
		if !known.MatchString(name) {
			return request{}, invalid("parameter_unknown", name, "Received unknown parameter: "+name)
		}
		if len(values) != 1 {
			return request{}, invalid("", name, "Invalid "+name)
		}
	}
	return request{id: r.PathValue("id"), key: r.Header.Get("Idempotency-Key"), params: r.Form}, nil
}

// record remembers a call and takes the fault that is ordered for it.
func (s *Server) record(name string, q request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := Call{Name: name, Key: q.key, Params: map[string]string{}}
	for name := range q.params {
		c.Params[name] = q.params.Get(name)
	}
	s.calls = append(s.calls, c)
	for i, f := range s.faults {
		if f.Call == "" || f.Call == name {
			if s.faults[i].Times--; s.faults[i].Times <= 0 {
				s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			}
			return f
		}
	}
	return Fault{}
}

// An answer is what a call has led to.
type answer struct {
	status   int
	body     []byte
	kept     bool // under the idempotency key
	replayed bool
}

// kept is what was answered under an idempotency key.
type kept struct {
	request string
	at      time.Time
	over    bool
	answer
}

// keptFor is how long a key is good; the real ones are good for that at least.
const keptFor = 24 * time.Hour

// once carries a call out unless its key has been used: then the answer is the
// same, failures too, and another call is refused.
func (s *Server) once(r *http.Request, q request, do func() answer) answer {
	if r.Method != http.MethodPost || q.key == "" {
		return do()
	}
	asked := r.URL.Path + "?" + q.params.Encode()
	s.mu.Lock()
	before, used := s.keys[q.key]
	if used && s.now().Sub(before.at) < keptFor {
		defer s.mu.Unlock()
		return before.again(asked)
	}
	mine := &kept{request: asked, at: s.now()}
	s.keys[q.key] = mine
	s.mu.Unlock()
	a := do()
	s.mu.Lock()
	defer s.mu.Unlock()
	mine.answer, mine.over = a, true
	if !a.kept {
		delete(s.keys, q.key)
	}
	return a
}

func (k *kept) again(asked string) answer {
	p := &problem{status: http.StatusBadRequest, kind: "idempotency_error"}
	switch {
	case k.request != asked:
		p.message = "Keys for idempotent requests can only be used with the same parameters they were first used with."
	case !k.over:
		p.status, p.code, p.message = http.StatusConflict, "idempotency_key_in_use",
			"There is currently another in-progress request using this key."
	default:
		a := k.answer
		a.replayed = true
		return a
	}
	return answer{status: p.status, body: p.body()}
}

func (s *Server) carryOut(r *http.Request, f Fault, q request, do func(request) (any, *problem)) answer {
	if f.Kind == Slow {
		s.wait(r, f.Delay)
	}
	broken := &problem{status: http.StatusInternalServerError, kind: "api_error", message: "An error occurred."}
	if f.Kind == ErrorBefore {
		return answer{status: broken.status, body: broken.body(), kept: true}
	}
	s.mu.Lock()
	s.mature()
	v, p := do(q)
	s.mu.Unlock()
	switch {
	case p != nil:
		return answer{status: p.status, body: p.body(), kept: p.kept}
	case f.Kind == ErrorAfter:
		return answer{status: broken.status, body: broken.body(), kept: true}
	}
	return answer{status: http.StatusOK, body: encode(v), kept: true}
}

func (a answer) write(w http.ResponseWriter) {
	if a.replayed {
		w.Header().Set("Idempotent-Replayed", strconv.FormatBool(true))
	}
	write(w, a.status, a.body)
}
