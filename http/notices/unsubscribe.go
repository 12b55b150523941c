package notices

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

const (
	unsubscribePrefix = "/notifications/unsubscribe/"
	unsubscribePath   = unsubscribePrefix + "{token}/"
	guessedLinks      = 20 // a minute, from one network
)

// UnsubscribeRoutes are where the last line of a mail leads to, and where mail
// programs send their one click (RFC 8058). The link itself is the proof: it
// asks for no login and no cookie, and any site may send the form
// (docs/notifications.md, "Unsubscribing").
func (s *Area) UnsubscribeRoutes() route.Area {
	return route.Area{
		Name: "Unsubscribing", Access: route.Open,
		About: "Where the links in mails lead to by which people want no more of them.",
		Routes: append(s.choiceRoutes(),
			route.View(http.MethodGet, unsubscribePath, "The page that asks whether mails are to stop", s.showUnsubscribe).
				As("unsubscribe_page"),
			route.View(http.MethodPost, unsubscribePath, "Stop the mails that the link is about", s.unsubscribe).
				As("unsubscribe"),
		),
	}
}

func (s *Area) showUnsubscribe(ctx context.Context, c route.Call) (*route.Document, error) {
	u, err := s.unsubscription(ctx, c)
	if err != nil {
		return s.wrongLink(c, err)
	}
	return web.Secluded(s.Web.Sheet(c, http.StatusOK, "unsubscribe", "unsubscribe_title", map[string]any{
		"Question": about(u, web.Readers(c), "unsubscribe_question"), "All": c.Path + choicePart,
		"Form": web.Form{Name: "unsubscribe", Action: c.Path}.In(web.Readers(c), nil),
	}))
}

func (s *Area) unsubscribe(ctx context.Context, c route.Call) (*route.Document, error) {
	u, err := s.unsubscription(ctx, c)
	if err != nil {
		return s.wrongLink(c, err)
	}
	if last, err := s.isLastToHear(ctx, u); err != nil || last {
		return s.lastToHear(c, err)
	}
	cause := c.Cause()
	cause.Actor = u.Actor()
	if _, err := s.Commands.Execute(ctx, cause, u.Command()); err != nil {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	return web.Secluded(s.Web.Sheet(c, http.StatusOK, "notice", "unsubscribed_title", map[string]any{
		"Text": about(u, web.Readers(c), "unsubscribed"), "About": w["unsubscribed_about"], "Path": c.Path + choicePart,
		"Way": w["unsubscribe_all"],
	}))
}

// isLastToHear tells whether no superuser would get alarms by mail any more without those
// that the link is about. One click, which programs make too, does not decide that.
func (s *Area) isLastToHear(ctx context.Context, u notice.Unsubscription) (bool, error) {
	if u.Preference != notice.System.Preference() {
		return false, nil
	}
	return s.hearsAlone(ctx, u.User)
}

// hearsAlone tells whether a user is the only superuser who gets alarms by mail.
func (s *Area) hearsAlone(ctx context.Context, user int64) (isOne bool, err error) {
	superusers, err := s.Callers.System().Accounts().Superusers(ctx)
	for _, one := range superusers {
		prefers, _, err := s.Callers.System().Notices().Preferences(ctx, one.ID)
		switch {
		case err != nil:
			return false, err
		case one.ID == user:
			isOne = prefers.OnSystem
		case prefers.OnSystem && one.EmailRefusedAt == nil:
			return false, nil
		}
	}
	return isOne, err
}

// lastToHear is the page for the last superuser who gets alarms.
func (s *Area) lastToHear(c route.Call, err error) (*route.Document, error) {
	if err != nil {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	return web.Secluded(s.Web.Sheet(c, http.StatusConflict, "notice", "unsubscribe_last_title", map[string]any{
		"Text": w["unsubscribe_last"], "About": w["unsubscribe_last_about"], "Path": c.Path + choicePart, "Way": w["unsubscribe_all"],
	}))
}

// about says one of the texts of the sort of mails that it is about.
func about(u notice.Unsubscription, language, text string) string {
	return strings.ReplaceAll(web.Texts[language][text], "{mails}", u.About(language))
}

// unsubscription is what the link is about. Who tries many wrong ones is
// stopped; the right ones are not counted, for the servers of a mail provider
// send those of all its customers.
func (s *Area) unsubscription(ctx context.Context, c route.Call) (notice.Unsubscription, error) {
	u, ok := notice.ReadUnsubscription(c.Var("token"), s.UnsubscribeKeys...)
	if !ok {
		err := domain.Refuse(domain.NotFound, "The link is none of ours.")
		return u, errors.Join(
			s.Callers.Limiter.Spend(ctx, "guessed_unsubscription", caller.Network(c.IP, 32, 64), guessedLinks, time.Minute),
			err,
		)
	}
	user, err := s.Callers.System().Accounts().User(ctx, u.User)
	if err == nil && user.Email == "" {
		err = domain.Refuse(domain.NotFound, "The account has been erased.")
	}
	return u, err
}

// wrongLink tells people whose mail program has broken the link what they can do.
func (s *Area) wrongLink(c route.Call, err error) (*route.Document, error) {
	var throttled *route.Refusal
	if !record.IsMissing(err) || errors.As(err, &throttled) {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	return web.Secluded(s.Web.Sheet(c, http.StatusNotFound, "notice", "unsubscribe_wrong_title", map[string]any{
		"Text": w["unsubscribe_wrong"], "About": w["unsubscribe_wrong_about"], "Path": "/", "Way": w["go_home"],
	}))
}
