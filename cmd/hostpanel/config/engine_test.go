package config

import (
	"strings"
	"testing"

	"hostpanel/adapters/engine/ispconfig"
)

func engineSettings(change func(*Settings)) Settings {
	s := Settings{
		Engine: "ispconfig", ISPConfigURL: "https://engine.example.com:8080", ISPConfigUsername: "hostpanel",
		ISPConfigPassword: "canary-1", ISPConfigServerID: "1",
	}
	change(&s)
	return s
}

func TestAMistakeAboutTheEngineNamesItsSetting(t *testing.T) {
	for setting, change := range map[string][]func(*Settings){
		"ISPCONFIG_URL": {
			func(s *Settings) { s.ISPConfigURL = "" },
			func(s *Settings) { s.ISPConfigURL = "engine.example.com" },
			func(s *Settings) { s.ISPConfigURL = "http://engine.example.com:8080" }, // the password would travel in clear text
			func(s *Settings) { s.ISPConfigURL = "https://me:canary-1@engine.example.com" },
		},
		"ISPCONFIG_USERNAME": {func(s *Settings) { s.ISPConfigUsername = "" }},
		"ISPCONFIG_PASSWORD": {func(s *Settings) { s.ISPConfigPassword = "" }},
		"ISPCONFIG_SERVER_ID": {
			func(s *Settings) { s.ISPConfigServerID = "" },
			func(s *Settings) { s.ISPConfigServerID = "0" },
			func(s *Settings) { s.ISPConfigServerID = "one" },
			func(s *Settings) { s.ISPConfigServerID = "web=1,dns=2,mail=3" },
			func(s *Settings) { s.ISPConfigServerID = "web=1,web=1,database=1,dns=2,mail=3" },
			func(s *Settings) { s.ISPConfigServerID = "web=1,database=1,dns=2,mail=-3" },
		},
		"ISPCONFIG_SITE_ADDRESSES": {func(s *Settings) { s.ISPConfigSites = "192.0.2.7" }},
		"ISPCONFIG_STORAGE_SHARE": {
			func(s *Settings) { s.ISPConfigStorage = "half" },
			func(s *Settings) { s.ISPConfigStorage = "0" },
			func(s *Settings) { s.ISPConfigStorage = "101" },
		},
	} {
		for _, c := range change {
			_, err := New(engineSettings(c), false)
			if err == nil || !strings.Contains(err.Error(), setting) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%v should speak of %s, and tell no password", err, setting)
			}
		}
	}
	if _, err := New(engineSettings(func(*Settings) {}), true); err == nil {
		t.Error("a demo on a real engine was accepted")
	}
}

func TestServersAreOneOrOneForEachRole(t *testing.T) {
	for text, want := range map[string]ispconfig.Servers{
		"7":                              {Web: 7, Database: 7, DNS: 7, Mail: 7},
		"web=1, database=2,dns=3,mail=4": {Web: 1, Database: 2, DNS: 3, Mail: 4},
	} {
		c, err := New(engineSettings(func(s *Settings) { s.ISPConfigServerID = text }), false)
		if err != nil || c.ISPConfig.Servers != want {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
}

func TestTheShareOfStorageIsTheWholeUnlessItIsSet(t *testing.T) {
	for text, want := range map[string]int64{"": 100, "whole": 100, "30": 30, "100": 100} {
		c, err := New(engineSettings(func(s *Settings) { s.ISPConfigStorage = text }), false)
		if err != nil || c.ISPConfig.StorageShare != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
