package export

import (
	"strings"

	"hostpanel/domain/texts"
)

// readme tells in the tenant's language what is in the archive, and what is not.
func (a *Archive) readme(language string) string {
	say := func(name string, values ...string) string { return texts.Say(language, "export."+name, values...) }
	paragraphs := []string{
		say("title"), say("moment", "at", a.at.Format("2006-01-02 15:04:05")+" UTC"),
		say("records"), say("zones"), say("bills"), say("stays"), say("secrets"), say("sub_tenants"),
	}
	if len(a.lacks) > 0 {
		paragraphs = append(paragraphs, say("lacks")+"\n"+strings.Join(a.lacks, "\n"))
	}
	return strings.Join(paragraphs, "\n\n") + "\n"
}
