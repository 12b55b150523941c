package accounts

import (
	"context"
	"net/http"
	"net/url"

	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// pages are where people set up their second factor.
func (s *factors) pages() route.Area {
	d := web.FormPage{Show: s.showFactorPage, Forms: map[string]web.FormHandler{
		"factor_begin": s.beginFactor, "factor_on": s.takeFactor, "factor_codes": s.takeCodes, "factor_off": s.dropFactor,
	}}
	return route.Area{
		Name: "Second factor", Access: s.callers.EnrollingSession(),
		About: "What proves beside the password that it is the user who signs in.",
		Routes: []route.Route{
			web.View(caller.FactorPath, "The second factor of the own account", d.Look).As("second_factor_page"),
			s.web.Press(caller.FactorPath, "Change the second factor of the own account", d).As("second_factor"),
		},
	}
}

func (s *factors) showFactorPage(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	v, w := caller.VisitOf(c), web.Texts[web.Readers(c)]
	state, err := s.factorState(ctx, v.Who.User)
	if err != nil {
		return nil, err
	}
	data := map[string]any{"Wide": true, "State": state}
	secret := ""
	if !state.Enabled && s.callers.IsFresh(v) {
		if secret, err = s.accounts.ProposedFactor(ctx, v.Who.ID); err != nil {
			return nil, err
		}
	}
	switch {
	case state.Enabled:
		data["Sections"] = s.factorSections(c, back, "factor_codes", "factor_off")
	case secret == "":
		data["Sections"] = s.factorSections(c, back, "factor_begin")
	default:
		if data["Scan"], err = s.scan(c, secret, back); err != nil {
			return nil, err
		}
	}
	if state.Enabled {
		data["Stand"] = w["factor_is_on"]
	} else if state.Required {
		data["Stand"] = w["factor_required"]
	}
	return s.web.Sheet(c, back.StatusOf(), "factor", "factor_title", data)
}

// factorSections are forms that ask for nothing but the password, unless it was
// given a moment ago.
func (s *factors) factorSections(c route.Call, back *web.Returned, names ...string) (all []section) {
	w := web.Texts[web.Readers(c)]
	for _, name := range names {
		f := s.web.Fill(
			c,
			web.Form{Name: name, Action: caller.FactorPath, Inputs: s.web.PasswordInputs(c), IsGrave: name == "factor_off"},
			back,
		)
		all = append(all, section{Name: name, Title: w[name+"_title"], About: w[name+"_about"], Form: &f})
	}
	return all
}

// A scanned secret is shown as a picture and as text, with the form for the
// first code.
type scanned struct {
	Picture web.Picture
	Secret  []string // in groups that are easy to type
	Form    web.Form
}

func (s *factors) scan(c route.Call, secret string, back *web.Returned) (*scanned, error) {
	address, err := factorURI(c, caller.VisitOf(c).Who.Email, secret)
	if err != nil {
		return nil, err
	}
	picture, err := web.QR(address)
	form := s.web.Fill(c, web.Form{Name: "factor_on", Action: caller.FactorPath, Inputs: []web.Input{
		{Name: "otp", Key: "app_code", Autocomplete: "one-time-code", Required: true, Plain: true, IsSecret: true, Long: 64},
	}}, back)
	return &scanned{picture, inFours(secret), form}, err
}

// inFours cuts a text into groups of four.
func inFours(text string) (groups []string) {
	const size = 4
	for ; len(text) > size; text = text[size:] {
		groups = append(groups, text[:size])
	}
	return append(groups, text)
}

// beginFactor makes a secret, which the page shows next.
func (s *factors) beginFactor(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	if err := s.web.AskUnlessFresh(ctx, c, sent); err != nil {
		return nil, err
	}
	if _, err := s.accounts.ProposeFactor(ctx, caller.VisitOf(c).Who.ID); err != nil {
		return nil, err
	}
	d := web.SeeOther(caller.FactorPath)
	s.web.RenewUnlessFresh(ctx, c, d)
	return d, nil
}

// takeFactor switches the second factor on and shows the recovery codes, this
// once. A password that was given too long ago is asked for again.
func (s *factors) takeFactor(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	if !s.callers.IsFresh(caller.VisitOf(c)) {
		return web.SeeOther(caller.FactorPath), nil
	}
	if err := web.Needed(sent, "otp"); err != nil {
		return nil, err
	}
	codes, cookie, err := s.switchOn(ctx, c, sent.Get("otp"))
	if err != nil {
		return nil, err
	}
	d, err := s.showCodes(c, codes, "factor_is_on")
	if err == nil {
		web.Giving(d, cookie)
	}
	return d, err
}

func (s *factors) takeCodes(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	if err := s.web.AskUnlessFresh(ctx, c, sent); err != nil {
		return nil, err
	}
	codes, err := s.accounts.RenewRecoveryCodes(ctx, c.Cause(), caller.VisitOf(c).Who.ID)
	if err != nil {
		return nil, err
	}
	d, err := s.showCodes(c, codes, "codes_are_new")
	if err == nil {
		s.web.RenewUnlessFresh(ctx, c, d)
	}
	return d, err
}

// showCodes is the one page that has the recovery codes. It has no forms, since
// the session goes on under another id.
func (s *factors) showCodes(c route.Call, codes []string, stand string) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	return s.web.Sheet(c, http.StatusOK, "factor_codes", "codes_title", map[string]any{"Stand": w[stand], "Codes": codes})
}

func (s *factors) dropFactor(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	if err := s.web.AskUnlessFresh(ctx, c, sent); err != nil {
		return nil, err
	}
	if err := s.accounts.DisableFactor(ctx, c.Cause(), caller.VisitOf(c).Who.ID, ""); err != nil {
		return nil, err
	}
	d := s.web.Done(caller.FactorPath, "factor_off")
	s.web.RenewUnlessFresh(ctx, c, d)
	return d, nil
}
