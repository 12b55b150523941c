//go:build system

package faults_test

import (
	"context"
	"testing"
	"time"

	"hostpanel/adapters/faults"
	"hostpanel/domain"
)

func TestASlowAnswerEndsWithTheCallersPatience(t *testing.T) {
	o, _ := twoProcesses(t)
	order(t, o, faults.Fault{What: faults.Slow, Delay: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	done := false
	err := o.Around(ctx, createSite, func(faults.Fault) error { done = true; return nil })
	if done || domain.ClassOf(err) != domain.Unknown {
		t.Errorf("done %v, %v", done, err)
	}
}
