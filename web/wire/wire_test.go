package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"drainlab/internal/session"
)

// readEvent reads the one event in data as the HTML standard has a browser do
// it, from an oracle of its own: its kind, and its data's lines.
func readEvent(t *testing.T, data []byte) (kind string, lines []string) {
	t.Helper()
	if bytes.ContainsRune(data, '\r') { // which would end a line too
		t.Fatalf("a carriage return in %q", data)
	}
	body, end, found := strings.Cut(string(data), "\n\n")
	if !found || strings.Trim(end, "\n") != "" {
		t.Fatalf("not one event: %q", data)
	}
	for line := range strings.SplitSeq(body, "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			kind = value
		case "data":
			lines = append(lines, value)
		default:
			t.Fatalf("the field %q in %q", name, data)
		}
	}
	return kind, lines
}

// Whatever stands in a fragment, it is one event and comes out as it went in,
// but for carriage returns, which HTML reads from their escape.
func FuzzStreamInput(f *testing.F) {
	for _, seed := range []string{"<p>a</p>", "a\rb", "a\r\n\r\nevent: x", "\n\ndata: selector #x", "", " ", "\u2028", "<pre>\n\n</pre>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, html string) {
		data, err := PatchElements(html)
		if err != nil {
			t.Fatal(err)
		}
		if html == "" {
			return
		}
		kind, got := readEvent(t, data)
		if kind != "datastar-patch-elements" {
			t.Fatalf("%q became %q", html, data)
		}
		var lines []string
		for _, line := range got {
			rest, ok := strings.CutPrefix(line, "elements ")
			if !ok {
				t.Fatalf("%q became %q", html, data)
			}
			lines = append(lines, rest)
		}
		if got, want := strings.Join(lines, "\n"), strings.ReplaceAll(html, "\r", "&#13;"); got != want {
			t.Fatalf("%q came out as %q", want, got)
		}
	})
}

func FuzzSignals(f *testing.F) {
	for _, seed := range []string{"", "grace=10", "a\r\nb", "\n\ndata: x", "\u2028<script>", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		data, err := PatchSignals(map[string]string{"query": query})
		if err != nil {
			t.Fatal(err)
		}
		kind, lines := readEvent(t, data)
		if kind != "datastar-patch-signals" || len(lines) != 1 {
			t.Fatalf("%q became %q", query, data)
		}
		var got map[string]string
		if err := json.Unmarshal([]byte(strings.TrimPrefix(lines[0], "signals ")), &got); err != nil || len(got) != 1 || utf8.ValidString(query) && got["query"] != query {
			t.Fatalf("%q came out as %q, %v", query, lines[0], err)
		}
	})
}

// timeless is a response that takes deadlines and has none.
type timeless struct{ *httptest.ResponseRecorder }

func (timeless) SetWriteDeadline(time.Time) error { return nil }

func TestPackedPiecesMayFollowEachOtherInAnySelection(t *testing.T) {
	var packer Packer
	var pieces []session.Piece
	for _, text := range []string{"one ", strings.Repeat("two ", 5000), "three ", ""} {
		p := session.Piece{Plain: []byte(text)}
		packer.Pack(&p)
		pieces = append(pieces, p)
	}
	for _, order := range [][]int{{0, 1, 2, 3}, {2, 1}, {1, 1, 1}, {3}, {}} {
		var want string
		w := timeless{httptest.NewRecorder()}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", "gzip")
		s := Open(w, r, &packer)
		for _, i := range order {
			want += string(pieces[i].Plain)
			if err := s.Send(pieces[i]); err != nil {
				t.Fatal(err)
			}
		}
		s.Close()
		unzipped, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(unzipped) // checks the sum and the length
		if err != nil || string(got) != want {
			t.Errorf("%v: %d bytes came out of %d, %v", order, len(got), len(want), err)
		}
	}
}

func TestGzipIsForThoseWhoTakeIt(t *testing.T) {
	for accept, want := range map[string]bool{"": false, "identity": false, "gzip": true, "GZIP": true, "br, gzip;q=0.5": true, "gzip ; q=0.001": true, "gzip;q=0": false, "gzip;q=0.0": false, "gzip;q=x": false, "xgzip": false, "*": false} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", accept)
		if Accepts(r, "gzip") != want {
			t.Errorf("%q: %t", accept, !want)
		}
	}
}
