package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var browser struct {
	once   sync.Once
	ctx    context.Context
	cancel func()
	err    error
}

// openBrowser starts the one Chromium that all tests share; each test has a
// browser context of its own in it.
func openBrowser() (context.Context, error) {
	browser.once.Do(func() {
		path, err := exec.LookPath("chromium")
		if err != nil {
			browser.err = fmt.Errorf("browser tests need Chromium, which make test installs: %w", err)
			return
		}
		options := append([]chromedp.ExecAllocatorOption{}, chromedp.ExecPath(path), chromedp.Flag("headless", true),
			chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true),
			chromedp.Flag("no-first-run", true), chromedp.Flag("disable-background-networking", true),
			chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
			chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-dev-shm-usage", true))
		allocator, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocator)
		browser.ctx = ctx
		browser.cancel = func() { cancel(); cancelAllocator() }
		browser.err = chromedp.Do(ctx, chromedp.Navigate("about:blank"))
	})
	return browser.ctx, browser.err
}

func closeBrowser() {
	if browser.cancel != nil {
		browser.cancel()
	}
}

// tab is one page in a browser context of its own.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string
	// expected are parts of console messages that the test provokes.
	expected []string
}

// stepLimit bounds each thing that a test waits for.
const stepLimit = time.Minute

// newTab opens a tab. The test fails on any console error, exception or
// violation of the content security policy in it, but for messages that
// contain one of expected.
func newTab(t *testing.T, expected ...string) *tab {
	t.Helper()
	parent, err := openBrowser()
	if err != nil {
		t.Fatal(err)
	}
	b := &tab{t: t, expected: expected}
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.listen))
	b.ctx = ctx
	// The tab lives as long as the context of its first action.
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range b.problems {
			t.Errorf("in the browser: %s", p)
		}
	})
	b.size(1440, 1000)
	return b
}

// listen notes what the page's console shows as wrong.
func (b *tab) listen(ev any) {
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		text := ev.ExceptionDetails.Text
		if o := ev.ExceptionDetails.Exception; o != nil {
			text += " " + o.Description
		}
		b.note("exception: " + text)
	case *runtime.EventConsoleAPICalled:
		switch ev.Type {
		case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert:
			var words []string
			for _, a := range ev.Args {
				words = append(words, string(a.Value)+a.Description)
			}
			b.note("console: " + strings.Join(words, " "))
		}
	case *cdplog.EventEntryAdded:
		if ev.Entry.Level == cdplog.EntryLevelError || ev.Entry.Level == cdplog.EntryLevelWarning {
			b.note("log: " + ev.Entry.Text + " " + ev.Entry.URL)
		}
	}
}

func (b *tab) note(problem string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.expected {
		if strings.Contains(problem, e) {
			return
		}
	}
	b.problems = append(b.problems, problem)
}

func (b *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stepLimit)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("browser: %v", err)
	}
}

// call runs one command of the DevTools protocol.
func call[P, R any](b *tab, cmd cdp.Command[P, R], params P) R {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stepLimit)
	defer cancel()
	result, err := chromedp.Call(ctx, cmd, params)
	if err != nil {
		b.t.Fatalf("browser: %v", err)
	}
	return result
}

// open loads a page.
func (b *tab) open(url string) {
	b.t.Helper()
	b.run(chromedp.Navigate(url))
}

// eval evaluates an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stepLimit)
	defer cancel()
	result, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("evaluating %s: %v", expression, err)
	}
	return result
}

// wait waits until the expression is true. It looks from outside, so that it
// works in pages without script and across navigations.
func (b *tab) wait(expression string) {
	b.t.Helper()
	look := fmt.Sprintf(`(() => { try { return Boolean(%s); } catch { return false; } })()`, expression)
	ctx, cancel := context.WithTimeout(b.ctx, stepLimit)
	defer cancel()
	again := time.NewTicker(15 * time.Millisecond)
	defer again.Stop()
	var last error
	for ctx.Err() == nil {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](look))
		if is {
			return
		}
		last = err
		select {
		case <-again.C:
		case <-ctx.Done():
		}
	}
	b.t.Fatalf("waited in vain for %s (%v); the page: %s", expression, last,
		eval[string](b, `location.href + " | " + (document.body.innerText.slice(0, 500))`))
}

// text is what a person reads in the element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// size sets the window's width and height in CSS pixels.
func (b *tab) size(width, height int64) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 700})
}

// media sets the system's colours and motion, in the words of CSS.
func (b *tab) media(features ...*emulation.MediaFeature) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}

// picture takes the whole page as a PNG.
func (b *tab) picture() []byte {
	b.t.Helper()
	size := call(b, page.GetLayoutMetrics, cdp.Empty{}).CSSContentSize
	beyond := true
	shot := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &beyond,
		Clip: &page.Viewport{Width: size.Width, Height: size.Height, Scale: 1}})
	return shot.Data
}

// goBack and goForward move in the tab's history as the browser's buttons do.
// chromedp's own actions wait for a page load, which such a step is not.
func goBack(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: "history.back()"})
	return err
}

func goForward(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: "history.forward()"})
	return err
}
