package endpointlimiter

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAnEndpointGetsTwoDeliveriesAtOnceAndATenantFour(t *testing.T) {
	c := New()
	var leave []func(time.Duration)
	enter := func(endpoint, tenant int64, fits bool) {
		t.Helper()
		left, full := c.Enter(Limits(endpoint, tenant))
		if fits != (full == 0) || full > longestTurn*6/5 {
			t.Errorf("endpoint %d of tenant %d waits %s", endpoint, tenant, full)
		}
		if left != nil {
			leave = append(leave, left)
		}
	}
	enter(1, 7, true)
	enter(1, 7, true)
	enter(1, 7, false) // the limit of the endpoint
	enter(2, 7, true)
	enter(2, 7, true)
	enter(3, 7, false) // the limit of the tenant
	enter(4, 8, true)
	leave[0](0)
	enter(3, 7, true)
	for _, left := range leave[1:] {
		left(0)
	}
	if len(c.loads) != 0 {
		t.Errorf("%d endpoints and tenants are remembered without a delivery", len(c.loads))
	}
}

func TestDeliveriesThatWaitTryAgainOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		in := Limits(1, 7)
		for range 2 {
			if _, full := c.Enter(in); full != 0 {
				t.Fatal(full)
			}
		}
		for i := range 5 {
			if wait := c.Busy(in); wait != time.Duration(i+1)*betweenTurns {
				t.Errorf("number %d waits %s", i, wait)
			}
		}
	})
}

func TestAnEndpointIsLeftAloneAsLongAsItAsksButNotLongerThanAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		for endpoint, asked := range map[int64]time.Duration{1: time.Minute, 2: 30 * 24 * time.Hour} {
			in := Limits(endpoint, endpoint)
			leave, _ := c.Enter(in)
			leave(asked)
			if rest := c.Busy(in); rest != min(asked, longestRest) {
				t.Errorf("endpoint %d asks for %s and gets %s", endpoint, asked, rest)
			}
		}
	})
}
