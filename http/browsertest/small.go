//go:build pages

package browsertest

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Small writes what is seen of the page without scrolling to a file, as a WebP picture
// that is small enough for a document.
func (p *Page) Small(file string) {
	p.t.Helper()
	quality := int64(85)
	p.write(file, func(ctx context.Context, tab *chromedp.Target) ([]byte, error) {
		taken, err := cdp.Call(
			ctx, tab, page.CaptureScreenshot,
			page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp, Quality: &quality},
		)
		if err != nil {
			return nil, err
		}
		return taken.Data, nil
	})
}
