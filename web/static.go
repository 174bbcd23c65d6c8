package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed static
var staticFiles embed.FS

// assets are the static files, each under a name that holds a hash of its
// content, so that a browser may keep it for good.
type assets struct {
	byURL map[string]asset
	urls  map[string]string // of a file's plain name
}

type asset struct {
	contentType   string
	plain, zipped []byte
}

func loadAssets() (assets, error) {
	a := assets{byURL: map[string]asset{}, urls: map[string]string{}}
	err := fs.WalkDir(staticFiles, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := staticFiles.ReadFile(name)
		if err != nil {
			return err
		}
		ext := path.Ext(name)
		contentType := mime.TypeByExtension(ext)
		if ext == ".js" {
			contentType = "text/javascript; charset=utf-8"
		}
		sum := sha256.Sum256(data)
		base := strings.TrimSuffix(path.Base(name), ext)
		url := fmt.Sprintf("/static/%s.%s%s", base, hex.EncodeToString(sum[:6]), ext)
		a.byURL[url] = asset{contentType, data, zip(data)}
		a.urls[path.Base(name)] = url
		return nil
	})
	return a, err
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

func (a assets) serve(w http.ResponseWriter, r *http.Request) error {
	f, ok := a.byURL[r.URL.Path]
	if !ok {
		return &requestError{status: http.StatusNotFound, sentence: "There is no such file. Load the page again: it names the present ones."}
	}
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Access-Control-Allow-Origin", "*") // module scripts in sandboxed frames
	h.Add("Vary", "Accept-Encoding")
	data := f.plain
	if acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		data = f.zipped
	}
	h.Set("Content-Length", fmt.Sprint(len(data)))
	if r.Method != http.MethodHead {
		w.Write(data)
	}
	return nil
}

// acceptsGzip reports whether the client takes gzip: named, and not with a
// quality of 0.
func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		q, weighed := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(params), " ", ""), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !weighed || err == nil && weight > 0
	}
	return false
}
