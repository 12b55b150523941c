package notice

import "hostpanel/domain/texts"

// A letterKind is what letters of one occasion have in common in all languages.
type letterKind struct {
	once bool // its link works once
}

// letters are all occasions but notifications. The texts have the same names (package
// texts, "letter.texts.").
var letters = map[Occasion]letterKind{
	FirstOrder: {once: true}, NextOrder: {}, Invitation: {once: true}, Reset: {once: true}, ApprovalLost: {}, OrderTenant: {},
}

// words are what all letters in one language share.
type words struct {
	Language         string
	Panel, User, Bye string
	Validity         string // of a link that works once
	Open             string // what the button of news says
	Stop             string // how to get no more news
}

func wordsIn(language string) words {
	say := func(name string) string { return texts.Say(language, "letter."+name) }
	return words{
		Language: texts.Spoken(language), Bye: say("bye"), Panel: say("panel"), User: say("user"),
		Validity: say("validity"), Open: say("open"), Stop: say("stop"),
	}
}

// A letterText is what one letter says in one language.
type letterText struct {
	subject, news string
	call          string // what the link is for
	once          bool   // the link works once
	ignore        string // for whom the letter was not meant
}

// says is what this letter says, with nothing left to fill in.
func (l Letter) says(w words) letterText {
	if l.Occasion == News {
		about := texts.Say(l.Language, "letter.sorts."+l.News.Type.Preference())
		return letterText{
			subject: oneLine(l.News.Title), news: l.News.Message, call: w.Open,
			ignore: texts.Say(l.Language, "letter.why", "sort", about),
		}
	}
	say := func(part string) string {
		return texts.Say(l.Language, "letter.texts."+string(l.Occasion)+"."+part, "number", l.Order, "plan", l.Plan)
	}
	news := say("news")
	if l.Invoiced {
		news += " " + texts.Say(l.Language, "letter.invoiced")
	}
	return letterText{subject: say("subject"), news: news, call: say("call"), ignore: say("ignore"), once: letters[l.Occasion].once}
}
