package accounts

import (
	"context"
	"net/url"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// A signInRow is a sign-in in the list.
type signInRow struct {
	Name      string
	IsCurrent bool
	Facts     []web.Aspect
	End       *web.Form // nil: it is that of the reader
}

func (s *signIns) showSignIns(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	found, err := s.listSignIns(ctx, c, route.Window{Offset: (web.PageNumber(c) - 1) * web.PageSize, Limit: web.PageSize})
	if err != nil {
		return nil, err
	}
	w, rows := web.Texts[web.Readers(c)], make([]signInRow, len(found.Results))
	for i, one := range found.Results {
		rows[i] = s.signInRow(c, w, one, back)
	}
	data := map[string]any{"SignIns": rows, "Others": nil}
	if found.Count > 1 {
		data["Others"] = s.web.Fill(c, web.Form{Name: "sessions_end", Action: web.SessionsPath, IsGrave: true}, back)
	}
	return s.web.Sheet(c, back.StatusOf(), "sessions", "session_list_title", web.Paged(c, nil, found.Count, data))
}

func (s *signIns) signInRow(c route.Call, w web.Words, one signIn, back *web.Returned) signInRow {
	kind, _ := one.Fields().Named("kind")
	row := signInRow{Name: w["session_"+kind.FormText()], IsCurrent: one.isCurrent, Facts: []web.Aspect{
		w.Moment(w["session_began"], &one.StartedAt, ""), w.Moment(w["session_seen"], &one.SeenAt, ""),
	}}
	if !one.isCurrent {
		form := s.web.Fill(c, web.Form{Name: "session_end", Of: one.ID.String(), Action: web.SessionsPath, IsGrave: true}, back)
		row.End = &form
	}
	return row
}

// takeEnd ends one; one that has ended meanwhile is gone all the same.
func (s *signIns) takeEnd(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	id, err := uuid.Parse(sent.Get("of"))
	if err != nil {
		return nil, domain.RefuseField("of", field.NoSuchChoice)
	}
	if err := s.closeSignIn(ctx, c, id); err != nil {
		return nil, err
	}
	return s.web.Done(web.SessionsPath, "session_end"), nil
}

func (s *signIns) takeEndOthers(ctx context.Context, c route.Call, _ url.Values) (*route.Document, error) {
	if _, err := s.endOtherSignIns(ctx, c, &route.Nothing{}); err != nil {
		return nil, err
	}
	return s.web.Done(web.SessionsPath, "sessions_end"), nil
}
