package billing_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/domaintest"
)

func TestARequestForAPaymentMethodThatIsRepeatedOpensOneSession(t *testing.T) {
	id := uuid.UUID{7}
	start := billing.StartSetup{
		ID: id, Tenant: 17, User: 7, Subject: id, Provider: "test", ExpiresAt: noon.Add(time.Hour), At: noon,
	}
	started := billing.MethodSetupStarted{
		Tenant: 17, User: 7, SubjectID: id, Provider: "test", ExpiresAt: noon.Add(time.Hour), At: noon,
	}
	type story = domaintest.Story[billing.MethodSetup, billing.MethodSetupCommand, billing.MethodSetupEvent]
	given := func(history ...billing.MethodSetupEvent) *story {
		return domaintest.Given(t, billing.MethodSetups, history)
	}
	given().When(start).Then(started)
	given(started).When(start).Then()
	opened := billing.MethodSetupOpened{Session: "cs_1", URL: "https://pay.example/cs_1", ExpiresAt: noon.Add(time.Hour), At: noon}
	open := billing.OpenSetup{ID: id, Session: "cs_1", URL: opened.URL, ExpiresAt: opened.ExpiresAt, At: noon}
	given(started).When(open).Then(opened)
	given(started, opened).When(open).Then()
	open.Session = "cs_2"
	given(started, opened).When(open).
		ThenRefused(domain.Conflict, "The payment method cannot be added in this session.")
}
