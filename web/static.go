package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/andybalholm/brotli"

	"drainlab/web/answer"
	"drainlab/web/wire"
)

//go:embed static/*.js static/*.svg static/style/*.css
var staticFiles embed.FS

// styleLayers are the parts of the style in their order: a later one wins over
// an earlier one, whatever their selectors. The lessons' own parts share the
// layer "lesson", and none is in style.css.
var styleLayers = []string{"tokens", "base", "shell", "strip", "controls", "play", "parts", "pages", "lesson", "embed", "print", "modes"}

// assets are the static files, each under a name that holds a hash of its
// content, so that a browser may keep it for good.
type assets struct {
	byURL map[string]asset
	urls  map[string]string // of a file's plain name
}

type asset struct {
	contentType           string
	plain, zipped, brotli []byte
}

// loadAssets reads the static files and joins the style's parts into style.css.
// A lesson's own rules, by its id, are a file of their own: a page loads those
// of the lessons that it shows.
func loadAssets(lessonStyles map[string]string) (assets, error) {
	a := assets{byURL: map[string]asset{}, urls: map[string]string{}}
	entries, err := staticFiles.ReadDir("static")
	if err != nil {
		return a, err
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := staticFiles.ReadFile("static/" + e.Name())
		if err != nil {
			return a, err
		}
		a.add(e.Name(), data)
	}
	style, err := joinStyle()
	if err != nil {
		return a, err
	}
	a.add("style.css", style)
	for id, rules := range lessonStyles {
		a.add(id+".css", inLayer(nil, "lesson", rules))
	}
	return a, nil
}

func (a assets) add(name string, data []byte) {
	ext := path.Ext(name)
	contentType := mime.TypeByExtension(ext)
	if ext == ".js" {
		contentType = "text/javascript; charset=utf-8"
	}
	sum := sha256.Sum256(data)
	url := fmt.Sprintf("/static/%s.%s%s", strings.TrimSuffix(name, ext), hex.EncodeToString(sum[:6]), ext)
	a.byURL[url] = asset{contentType, data, zip(data), squeeze(data)}
	a.urls[name] = url
}

// joinStyle makes one style sheet of all parts, each in its layer. It names the
// lessons' layer too, so that their rules have its place wherever they stand.
func joinStyle() ([]byte, error) {
	b := fmt.Appendf(nil, "@layer %s;\n", strings.Join(styleLayers, ", "))
	// A custom property's type holds for the whole page, in whatever layer it stands.
	b = append(b, "@property --t { syntax: \"<number>\"; inherits: false; initial-value: 0; }\n"...)
	for _, layer := range styleLayers {
		if layer == "lesson" {
			continue
		}
		data, err := staticFiles.ReadFile("static/style/" + layer + ".css")
		if err != nil {
			return nil, err
		}
		b = inLayer(b, layer, string(data))
	}
	return b, nil
}

// inLayer appends rules to a style sheet, in a layer.
func inLayer(b []byte, layer, rules string) []byte {
	return fmt.Appendf(b, "@layer %s {\n%s}\n", layer, withoutComments(rules))
}

// withoutComments takes out what only we read: comments and indentation.
func withoutComments(css string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(css, "/*")
		b.WriteString(before)
		if !found {
			break
		}
		_, css, _ = strings.Cut(rest, "*/")
	}
	var lines strings.Builder
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimSpace(line); line != "" {
			lines.WriteString(line + "\n")
		}
	}
	return lines.String()
}

func zip(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is a constant of the package
	}
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// squeeze packs for browsers that take brotli, a seventh smaller than gzip.
func squeeze(data []byte) []byte {
	var b bytes.Buffer
	w := brotli.NewWriterLevel(&b, 9) // the best takes a second of the start
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func (a assets) serve(w http.ResponseWriter, r *http.Request) error {
	f, ok := a.byURL[r.URL.Path]
	if !ok {
		return &answer.Error{Status: http.StatusNotFound, Sentence: "There is no such file. Load the page again: it names the present ones."}
	}
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Access-Control-Allow-Origin", "*") // module scripts in sandboxed frames
	h.Add("Vary", "Accept-Encoding")
	data := f.plain
	switch {
	case wire.Accepts(r, "br"):
		h.Set("Content-Encoding", "br")
		data = f.brotli
	case wire.Accepts(r, "gzip"):
		h.Set("Content-Encoding", "gzip")
		data = f.zipped
	}
	h.Set("Content-Length", fmt.Sprint(len(data)))
	if r.Method != http.MethodHead {
		w.Write(data)
	}
	return nil
}
