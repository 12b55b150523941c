package credentials_test

import (
	"encoding/base32"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
)

// present is the step of time by the clock of the database.
func present(t *testing.T, s vault) (step int64) {
	t.Helper()
	if err := s.Pool().QueryRow(t.Context(), `select floor(extract(epoch from real_now()) / 30)::bigint`).Scan(&step); err != nil {
		t.Fatal(err)
	}
	return step
}

// enrol gives user 12 a second factor, confirmed by the present code.
func enrol(t *testing.T, s vault) (secret string) {
	t.Helper()
	secret = credentials.NewFactorSecret()
	if err := s.ProposeFactor(t.Context(), 12, secret); err != nil {
		t.Fatal(err)
	}
	rows, err := s.ConfirmFactor(t.Context(), 12, credentials.CodeAt(secret, present(t, s)))
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	lay(t, s, rows...)
	return secret
}

func uses(t *testing.T, s vault, code string) bool {
	t.Helper()
	ok, err := s.UseFactorCode(t.Context(), 12, code)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// The vectors are those of RFC 6238, appendix B, cut to six digits.
func TestACodeIsThatOfTheStandard(t *testing.T) {
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, code := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		if step, ok := credentials.StepOf(secret, code, time.Unix(at, 0)); !ok || step != at/30 {
			t.Errorf("%d: step %d, %v", at, step, ok)
		}
	}
}

func TestACodeIsGoodOneStepEarlierAndLater(t *testing.T) {
	secret, at := credentials.NewFactorSecret(), time.Unix(1_800_000_015, 0)
	for aside := int64(-3); aside <= 3; aside++ {
		code := credentials.CodeAt(secret, at.Unix()/30+aside)
		step, ok := credentials.StepOf(secret, code, at)
		if ok != (aside >= -1 && aside <= 1) || ok && step != at.Unix()/30+aside {
			t.Errorf("%d steps aside: %v, step %d", aside, ok, step)
		}
	}
	for _, code := range []string{"", "12345", "1234567", "abcdef"} {
		if _, ok := credentials.StepOf(secret, code, at); ok {
			t.Errorf("%q is accepted", code)
		}
	}
	if _, ok := credentials.StepOf("no base32 !", "", at); ok {
		t.Error("a secret that cannot be read has codes")
	}
}

func TestASecondFactorIsConfirmedByACode(t *testing.T) {
	s := newVault(t)
	if _, err := s.ConfirmFactor(t.Context(), 12, "123456"); !errors.Is(err, credentials.ErrProposal) {
		t.Errorf("nothing is proposed: %v", err)
	}
	first, second := credentials.NewFactorSecret(), credentials.NewFactorSecret()
	for _, secret := range []string{first, second} {
		if err := s.ProposeFactor(t.Context(), 12, secret); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := s.ProposedFactor(t.Context(), 12); kept != second || err != nil {
		t.Errorf("another secret is proposed: %v", err)
	}
	step := present(t, s)
	if uses(t, s, credentials.CodeAt(second, step)) {
		t.Error("a code counts before the secret is confirmed")
	}
	if rows, err := s.ConfirmFactor(t.Context(), 12, credentials.CodeAt(first, step)); rows != nil || err != nil {
		t.Errorf("a code of the replaced secret: %v, %v", rows, err)
	}
	rows, err := s.ConfirmFactor(t.Context(), 12, credentials.CodeAt(second, step))
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	lay(t, s, rows...)
	if _, err := s.ProposedFactor(t.Context(), 12); !errors.Is(err, credentials.ErrProposal) {
		t.Errorf("proposed after it was confirmed: %v", err)
	}
	if _, err := s.ExecuteWith(t.Context(), domain.Metadata{}, rows); !errors.Is(err, credentials.ErrProposal) {
		t.Errorf("confirmed twice: %v", err)
	}
	if err := s.ProposeFactor(t.Context(), 12, first); !errors.Is(err, credentials.ErrProposal) {
		t.Errorf("proposed beside the one in force: %v", err)
	}
	if uses(t, s, credentials.CodeAt(second, step)) {
		t.Error("the code that confirmed the secret counts again")
	}
	if !uses(t, s, credentials.CodeAt(second, step+1)) {
		t.Error("the next code does not count")
	}
	if uses(t, s, credentials.CodeAt(second, step)) {
		t.Error("an older code counts after a newer one")
	}
	lay(t, s, credentials.DropFactorRows(12)...)
	if uses(t, s, credentials.CodeAt(second, step+1)) {
		t.Error("a code counts after the factor was dropped")
	}
}

func TestAProposalLivesForAnHour(t *testing.T) {
	s := newVault(t)
	secret := credentials.NewFactorSecret()
	if err := s.ProposeFactor(t.Context(), 12, secret); err != nil {
		t.Fatal(err)
	}
	change(t, s, `update second_factors set proposed_at = now() - interval '61 minutes'`)
	if _, err := s.ConfirmFactor(t.Context(), 12, credentials.CodeAt(secret, present(t, s))); !errors.Is(err, credentials.ErrProposal) {
		t.Errorf("an old proposal: %v", err)
	}
}

// usedAtOnce counts how many of a hundred uses at once succeed.
func usedAtOnce(t *testing.T, use func() (bool, error)) int64 {
	t.Helper()
	var right atomic.Int64
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			ok, err := use()
			if err != nil {
				t.Error(err)
			}
			if ok {
				right.Add(1)
			}
		})
	}
	wg.Wait()
	return right.Load()
}

func TestOfAHundredUsesOfACodeOneIsRight(t *testing.T) {
	s := newVault(t)
	secret := enrol(t, s)
	code := credentials.CodeAt(secret, present(t, s)+1)
	if n := usedAtOnce(t, func() (bool, error) { return s.UseFactorCode(t.Context(), 12, code) }); n != 1 {
		t.Errorf("the code was accepted %d times", n)
	}
	codes, hashes, err := s.NewRecoveryCodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lay(t, s, credentials.RecoveryRows(12, hashes)...)
	if n := usedAtOnce(t, func() (bool, error) { return s.UseRecoveryCode(t.Context(), 12, codes[3]) }); n != 1 {
		t.Errorf("the recovery code was accepted %d times", n)
	}
}

func TestRecoveryCodesAreUsedOnce(t *testing.T) {
	s := newVault(t)
	use := func(text string) bool {
		t.Helper()
		ok, err := s.UseRecoveryCode(t.Context(), 12, text)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	left := func() int {
		t.Helper()
		n, err := s.RecoveryCodesLeft(t.Context(), 12)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	codes, hashes, err := s.NewRecoveryCodes(t.Context())
	if err != nil || len(codes) != 10 || len(slices.Compact(slices.Sorted(slices.Values(codes)))) != 10 {
		t.Fatal(codes, err)
	}
	if use(codes[0]) {
		t.Error("a code counts that is not stored")
	}
	lay(t, s, credentials.RecoveryRows(12, hashes)...)
	before := credentials.PasswordHashes()
	if !use(" " + codes[0][:4] + codes[0][5:]) {
		t.Error("a code without its hyphen is wrong")
	}
	if n := credentials.PasswordHashes() - before; n != 1 {
		t.Errorf("a check costs %d hashes", n)
	}
	if use(codes[0]) || use("") || use("aaaa-bbbb-cccc-dddd") || left() != 9 {
		t.Errorf("used twice, or a wrong code counts; %d are left", left())
	}
	fresh, hashes, err := s.NewRecoveryCodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lay(t, s, credentials.RecoveryRows(12, hashes)...)
	if use(codes[1]) || !use(fresh[1]) || left() != 9 {
		t.Errorf("former codes count after new ones were made, or new ones do not; %d are left", left())
	}
	lay(t, s, credentials.SignOutRows(12)...)
	if use(fresh[2]) || left() != 0 {
		t.Error("a code is left after the credentials were deleted")
	}
}

func TestASecondFactorOutlivesTheKeyThatSealedIt(t *testing.T) {
	url := eventstoretest.URL(t)
	old, fresh := sealing.NewSecretKey(), sealing.NewSecretKey()
	secret := enrol(t, open(t, url, old))
	both := open(t, url, fresh+","+old)
	if err := both.Vault.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := open(t, url, fresh)
	if !uses(t, after, credentials.CodeAt(secret, present(t, after)+1)) {
		t.Error("a code is wrong without the old key")
	}
	ring, err := sealing.ParseKeyring(fresh)
	if err != nil {
		t.Fatal(err)
	}
	owner := eventstoretest.Owner(t, url)
	if gone, err := eventstore.ForgetSecretKey(t.Context(), owner, ring.IDs()[0]); err != nil || gone.Factors != 1 {
		t.Errorf("%+v, %v", gone, err)
	}
	if uses(t, after, credentials.CodeAt(secret, present(t, after)+1)) {
		t.Error("a code counts whose secret is gone")
	}
}

func TestASignInWaitsForItsCode(t *testing.T) {
	s := newVault(t)
	pending := func(id string) bool {
		t.Helper()
		found, known, err := s.PendingSignIn(t.Context(), id)
		if err != nil || known && (found.User != 12 || found.Version != 3) {
			t.Fatal(found, err)
		}
		return known
	}
	begin := func() string {
		t.Helper()
		id, err := s.BeginSignIn(t.Context(), 12, 3)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	id, other := begin(), begin()
	if _, live := visit(t, s, id); live || !pending(id) || pending("guessed") {
		t.Error("a sign-in that waits is a session, or is not found")
	}
	if err := s.EndSignIn(t.Context(), id); err != nil || pending(id) || !pending(other) {
		t.Errorf("after its end: %v", err)
	}
	change(t, s, `update pending_sign_ins set started_at = now() - interval '11 minutes'`)
	if pending(other) {
		t.Error("a sign-in waits for more than ten minutes")
	}
	if err := s.Vault.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := s.Pool().QueryRow(t.Context(), `select count(*) from pending_sign_ins`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows are left, %v", left, err)
	}
	last := begin()
	lay(t, s, credentials.SignOutRows(12)...)
	if pending(last) {
		t.Error("a sign-in waits after the credentials were deleted")
	}
}
