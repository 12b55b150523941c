//go:build system

package program_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hostpanel/tests/processtest"
)

// stand-ins let the tour's blocks run as they stand beside other panels: on another port,
// in another folder, and with a program that is built already.
const standIns = `
curl() { command curl --max-time 60 "${@//http:\/\/127.0.0.1:8080/$BASE}"; }
go() {
	local what=$2; shift 2
	if [ "$what" = ./cmd/hostpanel ]; then "$PROGRAM" "$@"; else command go run "hostpanel/${what#./}" "$@"; fi
}
id() { echo 1000; }
`

// A tourStop is a block of docs/tour.md, with what it is said to show.
type tourStop struct{ script, shows string }

var tourStops = regexp.MustCompile("(?s)```bash\n(.*?)```(?:\\s+```text\n(.*?)```)?")

// The tour can be pasted into a shell, and shows what its page says.
func TestReadmesTourRunsAsItStands(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "sed", "grep"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the tour needs %s, which this machine does not have", tool)
		}
	}
	tour, err := os.ReadFile("../../docs/tour.md")
	must(t, err)
	var stops []tourStop
	script := standIns
	for _, block := range tourStops.FindAllStringSubmatch(string(tour), -1) {
		stops = append(stops, tourStop{block[1], block[2]})
		script += block[1] + "\necho '<<<stop>>>'\n"
	}
	shown := strings.Split(pasted(t, script), "<<<stop>>>")
	if len(stops) < 8 || len(shown) != len(stops)+1 {
		t.Fatalf("%d blocks, %d were shown", len(stops), len(shown)-1)
	}
	for i, stop := range stops {
		for line := range strings.SplitSeq(unfolded(stop.shows), "\n") {
			if !likeness(line).MatchString(unfolded(shown[i])) {
				t.Errorf("the tour shows\n%s\nof\n%s\nwhich shows\n%s", line, stop.script, shown[i])
			}
		}
	}
}

// pasted runs a script in a shell beside a demo, and returns what it shows.
func pasted(t *testing.T, script string) string {
	h := processtest.OwnHome(t)
	data := h.Dir
	h.Dir = filepath.Join(data, "hostpanel")
	must(t, os.Mkdir(h.Dir, 0o711)) //nolint:gosec // Postgres may run as another user
	r := h.Start()
	defer r.Stop()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &terminal{silence: time.AfterFunc(processtest.Patience, cancel)}
	defer out.silence.Stop()
	shell := exec.CommandContext(ctx, "bash")
	shell.Stdin, shell.Stdout, shell.Stderr, shell.WaitDelay = strings.NewReader(script), out, out, time.Second
	for _, setting := range h.Prepare().Env {
		if !strings.HasPrefix(setting, "XDG_DATA_HOME=") {
			shell.Env = append(shell.Env, setting)
		}
	}
	program, err := processtest.Binary()
	must(t, err)
	shell.Env = append(shell.Env, "BASE="+r.Base, "PROGRAM="+program, "XDG_DATA_HOME="+data)
	if err := shell.Run(); err != nil {
		t.Fatalf("the shell ended with %v:\n%s", err, out.shown.String())
	}
	return out.shown.String()
}

// A terminal keeps what a shell shows. Patience is for each wait, not for all together.
// The buffer is a field: what it could read by itself would begin no wait anew.
type terminal struct {
	shown   bytes.Buffer
	silence *time.Timer
}

// Write begins the wait anew.
func (s *terminal) Write(more []byte) (int, error) {
	s.silence.Reset(processtest.Patience)
	return s.shown.Write(more)
}

// unfolded joins the lines of quoted-printable mails, which break where they are long.
func unfolded(text string) string {
	return strings.NewReplacer("=\r\n", "", "=\n", "", "\r", "").Replace(text)
}

// varying is what differs from run to run, and what may stand in its place. The first
// that fits counts.
var varying = []struct{ shown, pattern *regexp.Regexp }{
	{regexp.MustCompile(`http://127\.0\.0\.1:8080`), regexp.MustCompile(`http://127\.0\.0\.1:\d+`)},
	same(`ORD-\d{8}-[0-9A-Z]{6}`), same(`(?:cs|pay|re)_test_\w+`), same(`token=3D\S+`), same(`whsec_[^"]+`),
	same(`"password":"[^"]*"`),
	same(`api_key:\w+`), same(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), same(`[0-9a-f]{64}`),
	same(`\.[0-9a-f]{10}@`),
	same(`[0-9a-f]{8}-`),
	same(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?`), same(`TEST(?:CN)?-\d{4}-\d{6}`), same(`\d{4}-\d\d-\d\d`),
	same(`\+[\d.]+m?s`), same(`\+\d+d\s+\d+h`), same(`\d{10} \d+`), same(`· \d+ events`),
	same(`(?:id|intact): \d+`), same(`head \d+`), same(`hosting_site_id":\d+`), same(`client\d+/web\d+`),
	same(`has it as \d+`), same(`c\d+_shop_\d+`),
	same(`done\s+1\s+\d+`), same(`\d+ events`),
}

func same(pattern string) struct{ shown, pattern *regexp.Regexp } {
	p := regexp.MustCompile(pattern)
	return struct{ shown, pattern *regexp.Regexp }{p, p}
}

// likeness matches what is shown instead of a line of the tour, on another day.
func likeness(line string) *regexp.Regexp {
	return regexp.MustCompile(pattern(strings.TrimSpace(line), 0))
}

// pattern matches text with what varies, from one of [varying] on.
func pattern(text string, from int) string {
	if from == len(varying) {
		return literally(text)
	}
	at := varying[from].shown.FindStringIndex(text)
	if at == nil {
		return pattern(text, from+1)
	}
	return pattern(text[:at[0]], from+1) + varying[from].pattern.String() + pattern(text[at[1]:], from)
}

// literally is a pattern for text: "…" is anything on a line, and blanks are as many as
// the table needs.
func literally(text string) string {
	var parts []string
	for _, part := range strings.Split(text, "…") {
		parts = append(parts, regexp.MustCompile(`\s+`).ReplaceAllString(regexp.QuoteMeta(part), `\s+`))
	}
	return strings.Join(parts, "[^\n]*?")
}
