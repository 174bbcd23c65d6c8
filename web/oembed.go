package web

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"drainlab/internal/course"
	"drainlab/internal/picture"
	"drainlab/internal/setting"
	"drainlab/web/answer"
)

// frameWidth is that of a frame in pixels where the host names no maximum. A
// lesson takes any.
const frameWidth = 960

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

// oembedCacheAge is for how many seconds a host may keep an answer, as answer.Cache
// has it.
const oembedCacheAge = 86400

// oembed tells a host how to show the lesson of a URL. Parameters that it does
// not know are a host's own and mean nothing here.
func (s *Server) oembed(w http.ResponseWriter, r *http.Request) error {
	query, err := answer.Query(r.URL.RawQuery)
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
				return &answer.Error{Status: http.StatusNotImplemented, Sentence: fmt.Sprintf(`"format": got %s; there are json and xml.`, setting.Quote(text))}
			}
			format = text
			return nil
		}},
		{"url", func(text string) error { link = text; return nil }},
		{"maxwidth", func(text string) (err error) { maxWidth, err = parsePixels("maxwidth", text); return err }},
		{"maxheight", func(text string) (err error) { maxHeight, err = parsePixels("maxheight", text); return err }},
	} {
		if err := course.Take(query, param.name, param.read); err != nil {
			return err
		}
	}
	if link == "" {
		return &setting.Error{Setting: "url", Got: "nothing", Allowed: "the full address of a lesson"}
	}
	base := s.base(r)
	found, err := s.findLink(base, link)
	if err != nil {
		return err
	}
	e := describe(base, found, maxWidth, maxHeight)
	w.Header().Set("Cache-Control", answer.Cache)
	if format == "json" {
		answer.JSON(w, http.StatusOK, e)
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

// describe describes the link's frame, inside the maxima that are not 0.
func describe(base string, link course.Link, maxWidth, maxHeight int) embedding {
	within := func(n, most int) bool { return most == 0 || n <= most }
	link.Embedded = true
	title := link.Lesson.About().Title
	width := min(frameWidth, cmp.Or(maxWidth, frameWidth))
	height := heightOf(link, width)
	e := embedding{Version: "1.0", Type: "rich", Title: title, ProviderName: "Drainlab", ProviderURL: base + "/", CacheAge: oembedCacheAge,
		Width: width, Height: min(height, cmp.Or(maxHeight, height))}
	e.HTML = snippet(base+link.Public(), frameTitle(link.Lesson), e.Height)
	if maxWidth != 0 { // the snippet is as wide as what is around it
		e.HTML = strings.Replace(e.HTML, `style="border:0"`, fmt.Sprintf(`style="border:0; max-width:%dpx"`, e.Width), 1)
	}
	if within(picture.CardWidth, maxWidth) && within(picture.CardHeight, maxHeight) {
		link.Embedded = false
		e.ThumbnailURL, e.ThumbnailWidth, e.ThumbnailHeight = base+link.At("card.png"), picture.CardWidth, picture.CardHeight
	}
	return e
}

// findLink returns what the address under base links to: a lesson's page or
// its frame, over http or https, with any view. Hosts add fragments of their
// own.
func (s *Server) findLink(base, address string) (course.Link, error) {
	var paths []string
	for _, l := range s.lessons.All() {
		paths = append(paths, l.About().Path())
	}
	addresses := strings.Join(paths, ", ") + " can be embedded."
	none := func(why string) (course.Link, error) {
		return course.Link{}, &answer.Error{Status: http.StatusNotFound, Sentence: fmt.Sprintf("There is no lesson at %s: %s", setting.Quote(address), why)}
	}
	bare, _, _ := strings.Cut(address, "#")
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
	query, err := answer.Query(u.RawQuery)
	if err != nil {
		return none(err.Error())
	}
	for _, l := range s.lessons.All() {
		if strings.TrimPrefix(u.EscapedPath(), "/embed") != l.About().Path() {
			continue
		}
		link, err := course.ParseLink(l, query)
		if err != nil {
			return none(err.Error())
		}
		return link, nil
	}
	return none("of this server's addresses " + addresses)
}

// hostOf is a URL's host in lower case, without a port that its scheme implies.
func hostOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; port != "" {
		host = strings.TrimSuffix(host, port)
	}
	return host
}
