// Package pages serves the files that pages consist of.
package pages

import "hostpanel/http/caller"

// Deps are what the files of pages are made from.
type Deps struct{ Callers *caller.Callers }

type handlers struct{ Deps }
