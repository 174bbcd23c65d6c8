package web

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"drainlab/internal/clocks"
	"drainlab/internal/fixture"
	"drainlab/internal/picture"
	"drainlab/internal/setting"
)

const (
	ledgersPath  = "/lessons/ledgers"
	ledgersTitle = "Two ledgers"
)

// The size in pixels of a frame where the host names no maximum. A lesson takes
// any width; the height holds all of lesson 2 at this one, about.
const (
	frameWidth         = 960
	ledgersFrameHeight = 4200
)

// embedding is the answer to who asks how to show a lesson, as oEmbed 1.0 has
// it. A thumbnail's three members are there together, or none is.
type embedding struct {
	XMLName         xml.Name `json:"-" xml:"oembed"`
	Version         string   `json:"version" xml:"version"`
	Type            string   `json:"type" xml:"type"`
	Title           string   `json:"title" xml:"title"`
	ProviderName    string   `json:"provider_name" xml:"provider_name"`
	ProviderURL     string   `json:"provider_url" xml:"provider_url"`
	CacheAge        int      `json:"cache_age" xml:"cache_age"` // s
	ThumbnailURL    string   `json:"thumbnail_url,omitempty" xml:"thumbnail_url,omitempty"`
	ThumbnailWidth  int      `json:"thumbnail_width,omitempty" xml:"thumbnail_width,omitempty"`
	ThumbnailHeight int      `json:"thumbnail_height,omitempty" xml:"thumbnail_height,omitempty"`
	HTML            string   `json:"html" xml:"html"`
	Width           int      `json:"width" xml:"width"`   // px
	Height          int      `json:"height" xml:"height"` // px
}

// oembedCacheAge is for how many seconds a host may keep an answer, as apiCache
// has it.
const oembedCacheAge = 86400

// oembed tells a host how to show the lesson of a URL. Parameters that it does
// not know are a host's own and mean nothing here.
func (s *Server) oembed(w http.ResponseWriter, r *http.Request) error {
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	format, link := "json", ""
	var maxWidth, maxHeight int
	for _, param := range []struct {
		name string
		read func(string) error
	}{
		{"format", func(text string) error {
			if text != "json" && text != "xml" {
				return &requestError{status: http.StatusNotImplemented, sentence: fmt.Sprintf(`"format": got %s; there are json and xml.`, setting.Quote(text))}
			}
			format = text
			return nil
		}},
		{"url", func(text string) error { link = text; return nil }},
		{"maxwidth", func(text string) (err error) { maxWidth, err = parsePixels("maxwidth", text); return err }},
		{"maxheight", func(text string) (err error) { maxHeight, err = parsePixels("maxheight", text); return err }},
	} {
		if err := takeParam(query, param.name, param.read); err != nil {
			return err
		}
	}
	if link == "" {
		return &setting.Error{Setting: "url", Got: "nothing", Allowed: "the full address of a lesson"}
	}
	base := s.base(r)
	l, err := findLesson(base, link)
	if err != nil {
		return err
	}
	e := describe(base, l, maxWidth, maxHeight)
	w.Header().Set("Cache-Control", apiCache)
	if format == "json" {
		writeJSON(w, http.StatusOK, e)
		return nil
	}
	data, err := xml.Marshal(e)
	if err != nil {
		return fmt.Errorf("encoding as XML: %w", err)
	}
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?>\n%s\n", data)
	return nil
}

// parsePixels reads a maximum: digits, and not zero.
func parsePixels(name, text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 {
		return 0, &setting.Error{Setting: name, Got: text, Allowed: "a whole number of pixels, 1 or more"}
	}
	return int(n), nil
}

// describe describes the lesson's frame, inside the maxima that are not 0.
func describe(base string, l embeddable, maxWidth, maxHeight int) embedding {
	within := func(n, most int) bool { return most == 0 || n <= most }
	e := embedding{Version: "1.0", Type: "rich", Title: l.title, ProviderName: "Drainlab", ProviderURL: base + "/", CacheAge: oembedCacheAge,
		Width: min(frameWidth, cmp.Or(maxWidth, frameWidth)), Height: min(l.height, cmp.Or(maxHeight, l.height))}
	e.HTML = snippet(base+l.frame, "Drainlab: "+l.title, e.Height)
	if maxWidth != 0 { // the snippet is as wide as what is around it
		e.HTML = strings.Replace(e.HTML, `style="border:0"`, fmt.Sprintf(`style="border:0; max-width:%dpx"`, e.Width), 1)
	}
	if within(picture.CardWidth, maxWidth) && within(picture.CardHeight, maxHeight) {
		e.ThumbnailURL, e.ThumbnailWidth, e.ThumbnailHeight = base+l.card, picture.CardWidth, picture.CardHeight
	}
	return e
}

// embeddable is a lesson's view that a host can show.
type embeddable struct {
	title       string
	frame, card string // paths with their queries
	height      int    // of a frame that holds all of it, about, in pixels
}

// findLesson returns the lesson at a link under base: its page or its frame,
// over http or https, with any view. Hosts add fragments of their own.
func findLesson(base, link string) (embeddable, error) {
	const addresses = "/lessons/drain, /lessons/ledgers and /lessons/clocks can be embedded."
	none := func(why string) (embeddable, error) {
		return embeddable{}, &requestError{status: http.StatusNotFound, sentence: fmt.Sprintf("There is no lesson at %s: %s", setting.Quote(link), why)}
	}
	bare, _, _ := strings.Cut(link, "#")
	u, err := url.Parse(bare)
	if err != nil {
		return none("that is no URL.")
	}
	here, err := url.Parse(base)
	if err != nil {
		return none("that is no URL of this server.")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.User != nil || hostOf(u) != hostOf(here) {
		return none("this server is " + base + ". Of its addresses " + addresses)
	}
	var l embeddable
	query, err := parseQuery(u.RawQuery)
	if err != nil {
		return none(err.Error())
	}
	switch strings.TrimPrefix(u.EscapedPath(), "/embed") {
	case drainPath:
		l, err = embedDrain(query)
	case clocksPath:
		l, err = embedClocks(query)
	case ledgersPath:
		l, err = embedLedgers(query)
	default:
		return none("of this server's addresses " + addresses)
	}
	if err != nil {
		return none(err.Error())
	}
	return l, nil
}

// hostOf is a URL's host in lower case, without a port that its scheme implies.
func hostOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; port != "" {
		host = strings.TrimSuffix(host, port)
	}
	return host
}

func embedDrain(query url.Values) (embeddable, error) {
	v, err := parseView(query)
	if err != nil {
		return embeddable{}, err
	}
	link := shared{view: v, atT: true}.link(true)
	_, named, _ := strings.Cut(link, "?")
	return embeddable{title: drainTitle, frame: link, card: drainPath + "/card.png?" + named, height: v.frameHeight()}, nil
}

func embedClocks(query url.Values) (embeddable, error) {
	v, err := parseClocksView(query)
	if err != nil {
		return embeddable{}, err
	}
	named := fmt.Sprintf("?model=%d&%s", clocks.Model, v.canonical())
	return embeddable{title: clocksTitle, frame: "/embed" + clocksPath + named, card: clocksPath + "/card.png" + named, height: v.frameHeight()}, nil
}

// embedLedgers knows no view but the settings of the next run.
func embedLedgers(query url.Values) (embeddable, error) {
	settings, err := fixture.ParseValues(query)
	if err != nil {
		return embeddable{}, err
	}
	l := embeddable{title: ledgersTitle, frame: "/embed" + ledgersPath, card: ledgersPath + "/card.png", height: ledgersFrameHeight}
	if settings != fixture.Reference() {
		l.frame += "?" + string(fixture.Table().AppendQuery(nil, settings))
	}
	return l, nil
}
