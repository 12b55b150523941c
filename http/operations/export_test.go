package operations

import (
	"hostpanel/domain/operations"
)

// Timeline returns the texts of a timeline.
func Timeline(d operations.OrderDetail) (texts []string) {
	for _, h := range timeline(d) {
		texts = append(texts, h.text)
	}
	return texts
}
