package picture_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/picture"
	"drainlab/internal/picture/picturetest"
)

var (
	longText = strings.Repeat("Graceful shutdown, & what is left of it ", 12)
	oneWord  = strings.Repeat("Unterbrechung", 30)
)

func textBytes(t testing.TB) []byte {
	t.Helper()
	return picturetest.Bytes(t, func(w io.Writer) error {
		return picture.TextCard(w, "Two ledgers", "Requests and work", []string{"one", "two"})
	})
}

func TestATextCardHasItsSize(t *testing.T) {
	const most = 150_000 // bytes: what sites still fetch without a thought
	text := textBytes(t)
	if got := picturetest.Decode(t, text).Bounds(); got != image.Rect(0, 0, 1200, 630) || len(text) > most {
		t.Errorf("the text card is %v, %d bytes", got, len(text))
	}
	if !bytes.Equal(text, textBytes(t)) {
		t.Error("two pictures of the same differ")
	}
}

func TestTextsOfATextCardStayInItAndApart(t *testing.T) {
	for _, title := range []string{"", "Two ledgers", longText, oneWord} {
		for _, subtitle := range []string{"", "Requests and work", longText, oneWord} {
			for _, n := range []int{0, 2, 5, 11} {
				lines := slices.Repeat([]string{longText}, n)
				f, set, err := picture.LayOut(func(set *picture.Typesetter) *picture.Figure {
					return picture.TextCardFigure(set, title, subtitle, lines)
				})
				if err != nil {
					t.Fatal(err)
				}
				picturetest.Tidy(t, fmt.Sprintf("text card %.12q %.12q with %d lines", title, subtitle, n), f, set)
				if got := picturetest.Count(f, "line"); got < min(n, 5) {
					t.Errorf("text card %.12q %.12q: %d of %d lines", title, subtitle, got, n)
				}
			}
		}
	}
}

func TestForeignTextsOfATextCardAreDrawn(t *testing.T) {
	for _, title := range []string{"", "\x00\xff a\nb\tc 優雅な停止🙂", strings.Repeat("x", 1<<20)} {
		picturetest.Decode(t, picturetest.Bytes(t, func(w io.Writer) error { return picture.TextCard(w, title, title, []string{title}) }))
	}
}

type fullDisk struct{}

var errFull = errors.New("the disk is full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestErrorsOfTheWriterAreReturned(t *testing.T) {
	if err := picture.TextCard(fullDisk{}, "x", "y", nil); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

func TestForeignTextInTheSVGIsEscaped(t *testing.T) {
	foreign := `<script>"a" & 'b'</script>]]>` + "\x00\x1b\xff"
	f := &picture.Figure{Width: 10, Height: 10}
	f.Add(`a"part<`, picture.Text{Content: foreign, Font: picture.Style{Size: 10}})
	root := picturetest.Parse(t, picturetest.Bytes(t, func(w io.Writer) error { return picture.WriteSVGFigure(w, f, foreign, foreign) }))
	want := `<script>"a" & 'b'</script>]]>` + "\uFFFD\uFFFD\uFFFD"
	for i, name := range []string{"title", "desc", "rect", "text"} {
		e := root.Children[i]
		if e.XMLName.Local != name || len(e.Children) > 0 || name != "rect" && e.Text != want {
			t.Errorf("%s: got %s %q with %d children, want %q", name, e.XMLName.Local, e.Text, len(e.Children), want)
		}
	}
	if got := root.Children[3].Attr("class"); got != `a"part<` {
		t.Errorf("the class is %q", got)
	}
}

func TestTextsAreCutToTheirRoom(t *testing.T) {
	_, set, err := picture.LayOut(func(*picture.Typesetter) *picture.Figure { return nil })
	if err != nil {
		t.Fatal(err)
	}
	font := picture.Style{Size: 20}
	for _, content := range []string{"", "x", "a few words", oneWord, longText, strings.Repeat("é", 99)} {
		for _, limit := range []float64{0, 5, 20, 21, 150, 151.5, 1e6} {
			got := set.Cut(content, font, limit)
			if w := set.Width(got, font); w > limit && got != "" {
				t.Errorf("%.20q in %v pixels: %q takes %v", content, limit, got, w)
			}
			if got != content && got != "" && !strings.HasSuffix(got, "…") {
				t.Errorf("%.20q in %v pixels: %q does not say that it is cut", content, limit, got)
			}
			if set.Width(content, font) <= limit && got != content {
				t.Errorf("%.20q in %v pixels: %q though there is room", content, limit, got)
			}
		}
	}
	words := strings.Fields("one two three four five six seven")
	if got := set.Wrap(words, " ", font, 1e6, 2); !slices.Equal(got, []string{strings.Join(words, " ")}) {
		t.Errorf("with all the room: %q", got)
	}
	limit := set.Width("one two three four", font) + 1
	if got := set.Wrap(words, " ", font, limit, 2); !slices.Equal(got, []string{"one two three four", "five six seven"}) {
		t.Errorf("in two lines: %q", got)
	}
	if got := set.Wrap(words, " ", font, limit/2, 2); len(got) != 2 || !strings.HasSuffix(got[1], "…") {
		t.Errorf("in too little room: %q", got)
	}
	if got, s := set.Shrink("one two three four", picture.Style{Size: 40}, 20, limit); got != "one two three four" || s.Size != 20 {
		t.Errorf("shrunk to %v: %q", s.Size, got)
	}
}
