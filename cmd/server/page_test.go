package main

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// lesson is a tab with a lesson's page in it.
type lesson struct{ *tab }

func openLesson(t *testing.T, url string, expected ...string) lesson {
	t.Helper()
	b := lesson{newTab(t, expected...)}
	b.open(url)
	b.connected()
	return b
}

// connected waits until the page's script has begun and, where the lesson has
// a stream, has brought a frame.
func (b lesson) connected() {
	b.t.Helper()
	b.wait(`document.querySelector("#lesson.started") && document.querySelector("#connection").textContent === ""`)
}

// at waits until the player stands at t.
func (b lesson) at(t string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector("#now").innerText === %q`, t))
}

// named is the element with this role and accessible name; there must be one.
func (b lesson) named(role, name string) string {
	b.t.Helper()
	script := fmt.Sprintf(`(() => {
		const roles = {button: "button", slider: "input[type=range], [role=slider]", spinbutton: "input[type=number]", switch: "[role=switch]", radio: "input[type=radio]", tab: "[role=tab]", link: "a[href]"};
		const all = [...document.querySelectorAll(roles[%q])].filter(el => {
			if (el.checkVisibility && !el.checkVisibility() && el.type !== "radio") return false;
			const label = el.getAttribute("aria-label") ?? (el.labels?.length ? el.labels[0].innerText : [...el.childNodes].filter(n => n.nodeType === 3 || n.getAttribute("aria-hidden") !== "true").map(n => n.textContent).join(""));
			return label.trim() === %q;
		});
		if (all.length !== 1) throw new Error(all.length + " elements");
		return "#" + CSS.escape(all[0].id);
	})()`, role, name)
	return eval[string](b.tab, script)
}

// press presses the button with this name.
func (b lesson) press(name string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS(b.named("button", name)), chromedp.NodeVisible))
}

// tabOpen opens a tab of the panel.
func (b lesson) tabOpen(id string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS("#tab-link-"+id), chromedp.NodeVisible))
	b.wait(fmt.Sprintf(`document.querySelector("#tab-%s").checkVisibility()`, id))
}

// keys sends keys to the element, which gets the focus.
func (b lesson) keys(selector, keys string) {
	b.t.Helper()
	b.run(chromedp.Focus(chromedp.CSS(selector)), chromedp.KeyEvent(keys))
}

// query is the address bar's query.
func (b lesson) query() url.Values {
	b.t.Helper()
	q, err := url.ParseQuery(strings.TrimPrefix(eval[string](b.tab, "location.search"), "?"))
	if err != nil {
		b.t.Fatal(err)
	}
	return q
}

// replace types a value over what a field holds.
func (b lesson) replace(selector, text string) {
	b.t.Helper()
	eval[bool](b.tab, fmt.Sprintf(`(() => { const el = document.querySelector(%q); el.focus(); el.select(); return true; })()`, selector))
	b.run(chromedp.KeyEvent(text))
}

// choose picks an option of a select, as a person does.
func (b lesson) choose(selector, value string) {
	b.t.Helper()
	eval[bool](b.tab, fmt.Sprintf(`(() => {
		const el = document.querySelector(%q);
		el.value = %q;
		el.dispatchEvent(new Event("input", {bubbles: true}));
		el.dispatchEvent(new Event("change", {bubbles: true}));
		return true;
	})()`, selector, value))
}

// addressed waits until the address names this value of a setting, or with ""
// does not name the setting, which is then at its opening value.
func (b lesson) addressed(name, value string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`(new URLSearchParams(location.search).get(%q) ?? "") === %q`, name, value))
}

// click clicks what is there and seen.
func (b lesson) click(selector string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// mouse sends one event of the mouse's left button.
func (b lesson) mouse(kind input.DispatchMouseEventType, x, y float64) {
	b.t.Helper()
	if kind == input.DispatchMouseEventTypeMouseMoved {
		b.run(chromedp.MouseEvent(kind, x, y, chromedp.ButtonLeft))
		return
	}
	b.run(chromedp.MouseEvent(kind, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
}

// middle is the middle of what a person sees of an element, in the viewport.
func (b lesson) middle(selector string) (x, y float64) {
	b.t.Helper()
	at := eval[[]float64](b.tab, fmt.Sprintf(`(() => {
		const el = [...document.querySelectorAll(%q)].find(el => el.getBoundingClientRect().width > 0); // of a pill's two places the one that is seen
		el.scrollIntoView({block: "center", behavior: "instant"});
		const r = el.getBoundingClientRect();
		return [r.left + r.width/2, r.top + r.height/2];
	})()`, selector))
	return at[0], at[1]
}

// thumb is the place of a slider's thumb at a value, in the viewport.
func (b lesson) thumb(selector, value string) (x, y float64) {
	b.t.Helper()
	at := eval[[]float64](b.tab, fmt.Sprintf(`(() => {
		const el = document.querySelector(%q);
		el.scrollIntoView({block: "center", behavior: "instant"});
		const r = el.getBoundingClientRect(), thumb = 16;
		const share = (%s - el.min) / (el.max - el.min);
		return [r.left + thumb/2 + share * (r.width - thumb), r.top + r.height/2];
	})()`, selector, value))
	return at[0], at[1]
}
