package browsertest

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// A browser is the Chromium of a test binary, with which it dies.
type browser struct {
	mu  sync.Mutex
	ctx context.Context //nolint:containedctx // chromedp keeps the browser in it
	err error
}

var shared browser

// Main runs the tests of a package, and closes the browser afterwards.
func Main(m *testing.M) {
	code := m.Run()
	Close()
	os.Exit(code)
}

// Close closes the browser.
func Close() { shared.close() }

// open starts the browser for the first test that asks.
func (b *browser) open(program string) (context.Context, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx == nil {
		b.ctx, b.err = start(program)
	}
	return b.ctx, b.err
}

func start(program string) (context.Context, error) {
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(program), chromedp.Flag("lang", "en"), chromedp.Flag("disable-gpu", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocated, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocated)
	return ctx, chromedp.Do(ctx)
}

func (b *browser) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx != nil {
		_ = chromedp.Cancel(b.ctx) // a temporary folder may be left
	}
}
