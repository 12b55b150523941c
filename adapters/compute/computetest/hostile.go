package computetest

import (
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// hostile is the machine of the texts that follow.
const hostile = "hostile"

// Hostile are texts that XML, YAML, URLs, shells, paths or the lengths of names could spoil on
// their way to a hypervisor and into a machine.
var Hostile = []string{
	`a"b`, "a'b", "a<b>&amp;c", "</name><uuid>", "a: b", "- a", "a\nruncmd: [reboot]", "a\r\nb", "a b", "a\tb", "a\x00b", "a%2fb", "a?b=c",
	"a#b", "a,b=c", "a;b", "$(id)", "`id`", "${HOME}", "../../etc/passwd", "/etc/passwd", "a/b", `a\b`, "{{ a }}", "{% a %}",
	"!!python/object:a", "-a", "a-", ".a", "a..b", "a.", "_a", "A-B",
	"ñ", "漢字", "a\u202Eb", "😀", "yes", "null", "0", "1e3", "0x1f", "localhost",
	strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a.", 126) + "a", strings.Repeat("a", 300), " ",
}

// hostileNames makes machines whose names end in a hostile text.
func hostileNames(w *world) {
	for _, text := range Hostile {
		m := w.machine(hostile)
		m.On, m.Name = false, m.Name+text
		w.isRefusedOrMade(m, func(seen compute.Seen) {
			if seen.Name != m.Name {
				w.Errorf("the name %q was read back as %q", m.Name, seen.Name)
			}
		})
	}
}

func hostileHostnames(w *world) {
	for _, text := range Hostile {
		m := w.machine(hostile)
		m.Hostname = text
		w.isRefusedOrMade(m, func(compute.Seen) {
			if told := w.Hostname(w.T, m); told != m.Hostname {
				w.Errorf("the host name %q was told as %q", m.Hostname, told)
			}
		})
	}
}

// isRefusedOrMade wants a refusal before anything is made, or a machine that is as wanted.
func (w *world) isRefusedOrMade(m compute.Machine, made func(compute.Seen)) {
	w.Helper()
	var external string
	err := w.patiently(func() (err error) {
		external, err = w.Create(w.Context(), m)
		return err
	})
	if err == nil {
		made(w.becomes(m))
		w.removed(external, m)
		return
	}
	w.fails(err, domain.Permanent)
	byID := w.machine(hostile)
	w.isGone(byID)
}
