package web

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"

	"rsc.io/qr"

	"drainlab/internal/clocks"
	"drainlab/internal/session"
	"drainlab/internal/setting"
	"drainlab/internal/sim"
	"drainlab/web/templates"
)

// base is the scheme and host under which the world reaches the server.
func (s *Server) base(r *http.Request) string {
	if s.site.PublicURL != "" {
		return s.site.PublicURL
	}
	scheme := "http"
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// shared is what a link or a frame of lesson 1 is made of: the view, and
// whether it opens at the view's time or at the beginning.
type shared struct {
	view view
	atT  bool
}

// readShared reads a view with the share dialog's options.
func readShared(r *http.Request) (shared, error) {
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return shared{}, err
	}
	var sh shared
	err = takeParam(query, "at", func(text string) error {
		if text != "1" {
			return &setting.Error{Setting: "at", Got: text, Allowed: "1, or left out"}
		}
		sh.atT = true
		return nil
	})
	if err != nil {
		return sh, err
	}
	require := false // apart: a view that asks for a prediction has no time to open at
	if query.Get("predict") == "required" && len(query["predict"]) == 1 {
		require = true
		delete(query, "predict")
	}
	sh.view, err = parseView(query)
	sh.view.Predict = require
	if sh.view.Predict { // whoever opens it makes a prediction of their own
		sh.view.Prediction = sim.Prediction{}
	}
	return sh, err
}

// link is the view that is shared, for good: it names its model.
func (sh shared) link(framed bool) string {
	v := sh.view
	v.Embedded = framed
	if !sh.atT || v.waits() {
		v.T, v.Speed, v.Worker = 0, session.Single, 1
	}
	return v.path() + "?model=" + fmt.Sprint(sim.Model) + "&" + v.canonical()
}

// frameHeight is about the height of a frame that holds the whole lesson at
// the width of a page's text. What is said grows while a run plays; a host that
// reads the frame's messages makes the frame fit.
func (v view) frameHeight() int {
	run := sim.Simulate(v.Settings)
	lanes := buildLanes(run, run.At(0), 0)
	h := 660 + lanes.Height // heading, player, gate; as measured at a width of 800 px
	for part, height := range map[string]int{"controls": 2500, "trace": 300, "results": 450, "inspector": 380, "text": 1800} {
		if !v.hides(part) {
			h += height
		}
	}
	return h
}

// snippet is the frame's code for a page's HTML.
func snippet(src, title string, height int) string {
	return fmt.Sprintf(`<iframe src="%s" title="%s" width="100%%" height="%d" style="border:0" loading="lazy" allow="fullscreen; clipboard-write"></iframe>`,
		html.EscapeString(src), html.EscapeString(title), height)
}

const drainTitle = "Graceful shutdown: stop admitting, then drain"

// sharePage offers links, frames and files of a view: a page of its own, or
// the content of the dialog.
func (s *Server) sharePage(w http.ResponseWriter, r *http.Request) error {
	sh, err := readShared(r)
	if err != nil {
		return err
	}
	s.renderShare(w, r, s.buildShare(r, sh))
	return nil
}

// renderShare answers with the content of the dialog, or with a page of it.
func (s *Server) renderShare(w http.ResponseWriter, r *http.Request, v templates.Share) {
	if forClient(w, r) {
		s.render(w, r, http.StatusOK, templates.ShareFragment(v))
		return
	}
	v.Page = s.page("Share or embed", "A link, a frame, a QR code or a file of exactly this view.")
	s.render(w, r, http.StatusOK, templates.SharePage(v))
}

func (s *Server) buildShare(r *http.Request, sh shared) templates.Share {
	base := s.base(r)
	plain := sh.view // what the form carries beside its options
	plain.presentation = presentation{}
	v := templates.Share{Action: drainPath + "/share", Carry: carried(plain.canonical()), At: sh.atT, T: sh.view.T.String(), Require: sh.view.Predict,
		Back: sh.view.link()}
	v.Hide = sh.view.hideOptions(hideNames)
	for _, c := range sim.Controls() {
		v.Lock = append(v.Lock, templates.Option{Value: c.Name, Name: c.Label, Chosen: sh.view.locks(c.Name)})
	}
	v.Link = base + sh.link(false)
	v.Snippet = snippet(base+sh.link(true), "Drainlab: "+drainTitle, sh.view.frameHeight())
	query := sh.link(false)
	query = query[strings.IndexByte(query, '?')+1:]
	v.QR = drainPath + "/qr.svg?" + query
	v.Handout = drainPath + "/handout?" + query
	settings := string(sh.view.Settings.AppendQuery(nil))
	v.Files = []templates.Download{
		{Name: "JSON", Href: "/api/v1/run?" + settings}, {Name: "CSV", Href: "/api/v1/run?" + settings + "&format=csv"},
		{Name: "Lanes as PNG", Href: drainPath + "/lanes.png?" + sh.view.canonical()}, {Name: "Lanes as SVG", Href: drainPath + "/lanes.svg?" + sh.view.canonical()},
	}
	return v
}

// clocksSharePage is the same of lesson 3.
func (s *Server) clocksSharePage(w http.ResponseWriter, r *http.Request) error {
	v, err := readClocksView(r)
	if err != nil {
		return err
	}
	base := s.base(r)
	plain := v
	plain.presentation = presentation{}
	named := "?model=" + fmt.Sprint(clocks.Model) + "&" + v.canonical()
	share := templates.Share{Action: clocksPath + "/share", Carry: carried(plain.canonical()), Back: clocksPath + "?" + v.canonical(), Link: base + clocksPath + named,
		Snippet: snippet(base+"/embed"+clocksPath+named, "Drainlab: "+clocksTitle, v.frameHeight()), QR: clocksPath + "/qr.svg" + named}
	share.Hide = v.hideOptions(clocksHideNames)
	for _, c := range clocks.Table() {
		share.Lock = append(share.Lock, templates.Option{Value: c.Name, Name: shortName(c), Chosen: v.locks(c.Name)})
	}
	share.Files = []templates.Download{{Name: "JSON", Href: "/api/v1/clocks?" + string(v.Settings.AppendQuery(nil))}}
	for _, file := range []string{"matrix.md", "matrix.csv", "matrix.json"} {
		share.Files = append(share.Files, templates.Download{Name: "Timeout-ownership " + file, Href: clocksPath + "/files/" + file + "?" + plain.canonical()})
	}
	s.renderShare(w, r, share)
	return nil
}

var clocksHideNames = map[string]string{"controls": "settings and map", "trace": "what happens, in order", "results": "requests, and what would fix it",
	"inspector": "ownership matrix and platforms", "text": "introduction, cases and lesson text"}

var hideNames = map[string]string{"controls": "settings and guided steps", "trace": "trace of decisions", "results": "results and explanation",
	"inspector": "worker inspector", "text": "introduction and lesson text"}

// qrCode draws the link of a view of lesson 1 as a QR code.
func (s *Server) qrCode(w http.ResponseWriter, r *http.Request) error {
	v, err := readView(r)
	if err != nil {
		return err
	}
	return writeQR(w, s.base(r)+v.path()+"?model="+fmt.Sprint(sim.Model)+"&"+v.canonical())
}

// clocksQRCode is the same of lesson 3.
func (s *Server) clocksQRCode(w http.ResponseWriter, r *http.Request) error {
	v, err := readClocksView(r)
	if err != nil {
		return err
	}
	return writeQR(w, s.base(r)+clocksPath+"?model="+fmt.Sprint(clocks.Model)+"&"+v.canonical())
}

func writeQR(w http.ResponseWriter, link string) error {
	code, err := qr.Encode(link, qr.L)
	if err != nil {
		return fmt.Errorf("encoding a link as a QR code: %w", err)
	}
	const quiet = 4 // modules around it
	size := code.Size + 2*quiet
	b := fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges" role="img"><title>QR code of the link</title><rect width="%d" height="%d" fill="#fff"/><path fill="#000" d="`, size, size, size, size)
	for y := range code.Size {
		for x := 0; x < code.Size; {
			if !code.Black(x, y) {
				x++
				continue
			}
			start := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			b = fmt.Appendf(b, "M%d %dh%dv1h-%dz", start+quiet, y+quiet, x-start, x-start)
		}
	}
	b = append(b, `"/></svg>`...)
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", apiCache)
	w.Write(b)
	return nil
}

// handoutPage is a run on paper: questions, and their answers on the next page.
func (s *Server) handoutPage(w http.ResponseWriter, r *http.Request) error {
	v, err := readView(r)
	if err != nil {
		return err
	}
	run := sim.Simulate(v.Settings)
	whole := run.At(sim.Horizon)
	blank := buildLanes(run, run.At(0), 0)
	lanes := buildLanes(run, whole, sim.Horizon)
	h := templates.Handout{Page: s.page("Handout: "+drainTitle, "Questions on one run, and the answers on the next page."), Link: s.base(r) + shared{view: v}.link(false),
		Blank: blank, Lanes: lanes, Account: buildAccount(whole), Gate: buildGate(whole), Killed: storyRun(run).KilledList, Back: v.link()}
	h.Killed = cmp.Or(h.Killed, "none")
	h.Gone = goneText(run)
	for _, c := range sim.Controls() {
		h.Settings = append(h.Settings, templates.Fact{Name: c.Label, Value: c.Say(c.Amount(v.Settings))})
	}
	h.Arrivals, h.Run = whole.Account.Arrivals, runText(run)
	e := run.Explain()
	h.Why = e.Sentences()
	for _, f := range sim.Fixes(v.Settings) {
		if f.Found {
			h.Fixes = append(h.Fixes, f.Sentence)
		}
	}
	if whole.Gate().Verdict == sim.Fail && len(h.Fixes) == 0 {
		h.Fixes = []string{"No single change of one setting passes."}
		for _, f := range buildExplain(v, run, true).Pairs {
			h.Fixes = append(h.Fixes, f.Sentence)
		}
	}
	s.render(w, r, http.StatusOK, templates.HandoutPage(h))
	return nil
}

// goneText says when worker 1 is gone, and why then.
func goneText(run *sim.Run) string {
	w := run.Workers[0]
	switch w.State {
	case sim.Killed:
		var owned []string
		for _, inv := range run.Invocations {
			if inv.Worker == 1 && inv.Outcome == sim.KilledInvocation {
				owned = append(owned, fmt.Sprint(inv.Request))
			}
		}
		why := "its handler is off, so that it never began to leave"
		if len(owned) > 0 {
			why = "it still owned " + map[bool]string{true: "request ", false: "requests "}[len(owned) == 1] + sentenceList(owned)
		}
		return fmt.Sprintf("Worker 1 is killed at %s s, when the grace of %s s ends: %s.", w.ExitAt, run.Settings.Grace, why)
	case sim.Exited:
		return fmt.Sprintf("Worker 1 exits at %s s, as soon as it owns nothing any more.", w.ExitAt)
	case sim.Failed:
		return fmt.Sprintf("Worker 1's boot fails at %s s; it takes no signal.", w.FailedAt)
	case sim.Starting, sim.Ready, sim.Draining:
	}
	return fmt.Sprintf("Worker 1 is still %s at 60 s.", w.State)
}

// drainCard is what other sites are told of a view of lesson 1.
func (s *Server) drainCard(r *http.Request, v view) templates.Card {
	base := s.base(r)
	link := shared{view: v, atT: true}
	public := base + link.link(false)
	t := v.cardTime()
	a := sim.Simulate(v.Settings).At(t).Account
	c := templates.Card{URL: public, Image: base + drainPath + "/card.png?" + v.canonical(),
		Description: "Which accepted requests survive a SIGTERM? Change one setting, predict what dies, press play.",
		Alt:         fmt.Sprintf("Worker lanes at %s s: %d of %d requests admitted, %d completed, %d killed.", t, a.Admitted, a.Arrivals, a.Completed, a.Killed)}
	return withOEmbed(c, base, public)
}

// withOEmbed adds the addresses at which the page can be asked for as oEmbed.
func withOEmbed(c templates.Card, base, public string) templates.Card {
	c.JSON = base + "/oembed?format=json&url=" + url.QueryEscape(public)
	c.XML = base + "/oembed?format=xml&url=" + url.QueryEscape(public)
	return c
}
