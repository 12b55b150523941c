package samplecode_test

import (
	"testing"

	"hostpanel/http/samplecode"
	"hostpanel/http/samplecode/samplecodetest"
)

func TestEveryLanguageHasASample(t *testing.T) {
	for _, s := range samplecode.Of(samplecode.Call{Method: "GET", URL: "https://panel.example/"}) {
		if !samplecodetest.Knows(s.Name) || s.Title == "" || s.Code == "" {
			t.Errorf("%+v", s)
		}
	}
}
