package route

import (
	"slices"
	"strconv"
	"strings"
)

const indentMax = 8

// negotiate checks that the caller takes JSON, which is all that the API
// speaks but for its streams. Pages, files and raw bodies have their own ways.
func (x *exchange) negotiate() error {
	if x.endpoint.first.Show != nil || x.endpoint.first.Converse != nil {
		return nil
	}
	accepted, speaks, format := x.r.Header.Values("Accept"), "application/json", "json"
	if x.endpoint.first.Follow != nil {
		speaks, format = eventStream, ""
	}
	if !accepts(accepted, speaks) {
		return notAcceptable
	}
	if f := x.call.Param("format"); f != "" && f != format {
		return unknownPath
	}
	x.indent = indentOf(accepted)
	return nil
}

// accepts tells whether a media type may be sent.
func accepts(headers []string, mediaType string) bool { return liking(headers, mediaType) > 0 }

// Preferred is the media type that the caller likes best of those offered, by the header
// Accept. Of equals it is the first. None is refused with 406.
func (c Call) Preferred(offered ...string) (string, error) {
	best, chosen := 0.0, ""
	for _, one := range offered {
		if liked := liking(c.Header.Values("Accept"), one); liked > best {
			best, chosen = liked, one
		}
	}
	if chosen == "" {
		return "", notAcceptable
	}
	return chosen, nil
}

// liking is the weight that the header gives to a media type, by the range that names it
// best. Nothing said is anything.
func liking(headers []string, mediaType string) (weight float64) {
	list := strings.TrimSpace(strings.Join(headers, ","))
	if list == "" {
		return 1
	}
	group, _, _ := strings.Cut(mediaType, "/")
	ranges, nearest := []string{"*/*", group + "/*", mediaType}, -1
	for item := range strings.SplitSeq(list, ",") {
		media, parameters, _ := strings.Cut(item, ";")
		near := slices.Index(ranges, strings.ToLower(strings.TrimSpace(media)))
		if near > nearest {
			nearest, weight = near, weightOf(parameters)
		}
	}
	return weight
}

// weightOf reads the q of the parameters of a media type; 1, if there is none.
func weightOf(parameters string) float64 {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if q, err := strconv.ParseFloat(value, 64); strings.EqualFold(name, "q") && err == nil {
			return q
		}
	}
	return 1
}

// indentOf reads "application/json; indent=2".
func indentOf(headers []string) int {
	for _, header := range headers {
		for item := range strings.SplitSeq(header, ",") {
			media, parameters, _ := strings.Cut(item, ";")
			if !strings.EqualFold(strings.TrimSpace(media), "application/json") {
				continue
			}
			for parameter := range strings.SplitSeq(parameters, ";") {
				name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
				if n, err := strconv.Atoi(value); strings.EqualFold(name, "indent") && err == nil {
					return min(max(n, 0), indentMax)
				}
			}
		}
	}
	return 0
}
