package folder_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hostpanel/adapters/mail/folder"
	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/sagas/notices"
)

var _ notices.Mail = (*folder.Folder)(nil)

func letter() notice.Mail {
	return notice.Mail{
		MessageID: "o.1/welcome..\\x@panel.test", From: "panel@panel.test", To: "jose@customer.test", Subject: "Hi",
		Text: "Hello",
	}
}

func TestEverySendIsAFileOfItsOwn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "outbox")
	f := folder.New(dir)
	for range 3 {
		if err := f.Send(t.Context(), letter()); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	name := regexp.MustCompile(`^[0-9]{8}T[0-9]{6}\.[0-9]{6}Z-o_1_welcome___x@panel_test-[A-Z0-9]{6}\.eml$`)
	for _, file := range files {
		info, err := file.Info()
		if err != nil || info.Mode() != 0o600 || !name.MatchString(file.Name()) {
			t.Errorf("%s has mode %s (%v)", file.Name(), info.Mode(), err)
		}
		content, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil || !strings.Contains(string(content), "To: <jose@customer.test>\r\n") || !strings.Contains(string(content), "Hello") {
			t.Errorf("%s: %v", content, err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v (%v)", info.Mode(), err)
	}
}

func TestAFolderThatCannotBeMadeIsTriedAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := folder.New(filepath.Join(file, "outbox")).Send(t.Context(), letter()); domain.ClassOf(err) != domain.Transient {
		t.Errorf("%v", err)
	}
}

func TestAMalformedLetterLeavesNothingBehind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "outbox")
	m := letter()
	m.Subject = "a\nb"
	if err := folder.New(dir).Send(t.Context(), m); domain.ClassOf(err) != domain.Permanent {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder was made: %v", err)
	}
}

func TestTheMessagesToAnErasedPersonAreDeleted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "outbox")
	f := folder.New(dir)
	if err := f.Forget(t.Context(), []string{"jose@customer.test"}); err != nil {
		t.Errorf("an outbox that is not there: %v", err)
	}
	for _, to := range []string{`"José" <Jose@customer.test>`, "jose@customer.test", "other.jose@customer.test"} {
		m := letter()
		m.To = to
		if err := f.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "note.eml"), []byte("no message"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Forget(t.Context(), []string{"jose@customer.test"}); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Fatalf("left: %v, %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil || !strings.Contains(string(content), "other.jose@") && file.Name() != "note.eml" {
			t.Errorf("left: %s, %v", content, err)
		}
	}
}
