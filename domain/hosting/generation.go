package hosting

import (
	"fmt"
	"strconv"

	"hostpanel/domain"
)

// A Generation is a resource as one event has made it. Version is that of the
// stream after the event. It is the input of runs that work for a resource.
type Generation struct {
	Kind    string `json:"kind"`
	ID      int64  `json:"id"`
	Version int    `json:"version"`
}

// GenerationOf is the generation of the resource with this stream.
func GenerationOf(stream domain.Stream, version int) Generation {
	ref := RefOf(stream)
	return Generation{Kind: ref.Kind, ID: ref.ID, Version: version}
}

// Ref is the resource.
func (g Generation) Ref() Ref { return Ref{Kind: g.Kind, ID: g.ID} }

// String is the generation in keys: "site-42/3".
func (g Generation) String() string { return fmt.Sprintf("%s/%d", g.Ref().Stream(), g.Version) }

// RefOf is the resource of a stream. The ids of such streams are numbers.
func RefOf(stream domain.Stream) Ref {
	id, _ := strconv.ParseInt(stream.ID, 10, 64)
	return Ref{Kind: stream.Category, ID: id}
}
