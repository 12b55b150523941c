package route

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// matchVersion compares the version of the object with the one that the
// caller has seen.
func (x *exchange) matchVersion(version string) error {
	wanted := x.r.Header.Values("If-Match")
	if len(wanted) == 0 || x.r.Method == http.MethodGet || x.r.Method == http.MethodHead {
		return nil
	}
	tag := `"` + version + `"`
	if anyTag(wanted, tag, strongly) {
		x.call.exact = !anyTag(wanted, "*", func(_, _ string) bool { return false })
		return nil
	}
	x.w.Header().Set("ETag", tag)
	return stale
}

func anyTag(lists []string, tag string, equal func(a, b string) bool) bool {
	for _, list := range lists {
		for one := range strings.SplitSeq(list, ",") {
			if one = strings.TrimSpace(one); one == "*" || equal(one, tag) {
				return true
			}
		}
	}
	return false
}

func weakly(a, b string) bool   { return strings.TrimPrefix(a, "W/") == strings.TrimPrefix(b, "W/") }
func strongly(a, b string) bool { return a == b && !strings.HasPrefix(a, "W/") }

// hashTag is an ETag made from what is sent. Those of lists are weak.
func hashTag(body []byte, weak bool) string {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	if weak {
		return "W/" + tag
	}
	return tag
}
