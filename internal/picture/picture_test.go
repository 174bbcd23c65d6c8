package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/sim"
)

// gateSettings is a run that passes the gate.
func gateSettings() sim.Settings {
	s := sim.Opening()
	s.Duration, s.Grace, s.Replacement = 8*sim.Second, 10*sim.Second, true
	return s
}

// extremeSettings has the most lanes there are, and no setting as it opens.
func extremeSettings() sim.Settings {
	return sim.Settings{Workers: 4, Slots: 8, Startup: 135, Interval: 5, Duration: 395, Signal: 255, Grace: 295,
		Replacement: true, FailInit: true, Allowance: 77}
}

func at(s sim.Settings, t sim.Time) sim.Snapshot { return sim.Simulate(s).At(t) }

// randomSettings draws from all that is allowed, the ends more often.
func randomSettings(r *rand.Rand) sim.Settings {
	values := map[string][]string{}
	for _, c := range sim.Controls() {
		amount := sim.Time(r.IntN(2)) * sim.Second
		if !c.Toggle {
			switch r.IntN(6) {
			case 0:
				amount = c.Min
			case 1:
				amount = c.Max
			default:
				amount = c.Min + sim.Time(r.IntN(int((c.Max-c.Min)/c.Grain)+1))*c.Grain
			}
		}
		values[c.Name] = []string{amount.String()}
	}
	s, err := sim.ParseValues(values)
	if err != nil {
		panic(err)
	}
	return s
}

func layOut(t testing.TB, layout func(*typesetter) *figure) (*figure, *typesetter) {
	t.Helper()
	fc, err := newFaces()
	if err != nil {
		t.Fatal(err)
	}
	set := &typesetter{faces: fc}
	f := layout(set)
	if set.err != nil {
		t.Fatal(set.err)
	}
	return f, set
}

func sheetOf(t testing.TB, s sim.Snapshot) *figure {
	t.Helper()
	f, _ := layOut(t, func(set *typesetter) *figure { return sheet(set, s) })
	return f
}

func cardOf(t testing.TB, s sim.Snapshot, title string) *figure {
	t.Helper()
	f, _ := layOut(t, func(set *typesetter) *figure { return card(set, s, title) })
	return f
}

func (f *figure) count(part string) int {
	n := 0
	for _, s := range f.shapes {
		if s.part == part {
			n++
		}
	}
	return n
}

// extent is the room that a form takes.
func extent(fm form) (left, top, right, bottom float64) {
	around := func(points []point, margin float64) (float64, float64, float64, float64) {
		left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
		for _, p := range points {
			left, right = min(left, p.x-margin), max(right, p.x+margin)
			top, bottom = min(top, p.y-margin), max(bottom, p.y+margin)
		}
		return left, top, right, bottom
	}
	switch fm := fm.(type) {
	case box:
		return fm.x, fm.y, fm.x + fm.w, fm.y + fm.h
	case hatch:
		return fm.x, fm.y, fm.x + fm.w, fm.y + fm.h
	case stroke:
		return around(fm.points, fm.width/2)
	case polygon:
		return around(fm.points, 0)
	case text: // the fonts' letters are at most so high and so deep
		return fm.x, fm.y - 0.78*fm.font.size, fm.x + fm.w, fm.y + 0.22*fm.font.size
	}
	panic(fmt.Sprintf("a form %T", fm))
}

func bytesOf(t testing.TB, write func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func cardBytes(t testing.TB, s sim.Snapshot, title string) []byte {
	t.Helper()
	return bytesOf(t, func(w io.Writer) error { return Card(w, s, title) })
}

func pngBytes(t testing.TB, s sim.Snapshot) []byte {
	t.Helper()
	return bytesOf(t, func(w io.Writer) error { return PNG(w, s) })
}

func svgBytes(t testing.TB, s sim.Snapshot) []byte {
	t.Helper()
	return bytesOf(t, func(w io.Writer) error { return SVG(w, s) })
}

func decode(t testing.TB, data []byte) image.Image {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

func TestPicturesHaveTheirSize(t *testing.T) {
	const most = 150_000 // bytes: what sites still fetch without a thought
	for name, s := range map[string]sim.Settings{"the opening run": sim.Opening(), "a run that passes": gateSettings(), "the most lanes": extremeSettings()} {
		t.Run(name, func(t *testing.T) {
			card, sheet := cardBytes(t, at(s, sim.Horizon), "Graceful shutdown"), pngBytes(t, at(s, sim.Horizon))
			if got := decode(t, card).Bounds(); got != image.Rect(0, 0, 1200, 630) {
				t.Errorf("the card is %v", got)
			}
			got, err := png.DecodeConfig(bytes.NewReader(sheet)) // its pixels are another test's
			if err != nil || got.Width != 1600 {
				t.Errorf("the lanes are %d wide, error %v", got.Width, err)
			}
			if len(card) > most || len(sheet) > most {
				t.Errorf("the card has %d bytes and the lanes %d, more than %d", len(card), len(sheet), most)
			}
			for now := sim.Time(0); now < sim.Horizon; now += 5 * sim.Second {
				if f := sheetOf(t, at(s, now)); f.width != got.Width || f.height != got.Height {
					t.Errorf("the lanes at %s s are %d × %d, at the end %d × %d", now, f.width, f.height, got.Width, got.Height)
				}
			}
		})
	}
	text := bytesOf(t, func(w io.Writer) error {
		return TextCard(w, "Two ledgers", "Requests and work", []string{"one", "two"})
	})
	if got := decode(t, text).Bounds(); got != image.Rect(0, 0, 1200, 630) || len(text) > most {
		t.Errorf("the text card is %v, %d bytes", got, len(text))
	}
}

func TestEqualInputGivesEqualBytes(t *testing.T) {
	s := at(gateSettings(), 47*sim.Second)
	for name, write := range map[string]func(io.Writer) error{
		"card":      func(w io.Writer) error { return Card(w, s, "Reach the gate") },
		"png":       func(w io.Writer) error { return PNG(w, s) },
		"svg":       func(w io.Writer) error { return SVG(w, s) },
		"text card": func(w io.Writer) error { return TextCard(w, "Two ledgers", "Requests and work", []string{"one"}) },
	} {
		if !bytes.Equal(bytesOf(t, write), bytesOf(t, write)) {
			t.Errorf("%s: two pictures of the same differ", name)
		}
	}
}

func TestPicturesDifferWhereRunsDiffer(t *testing.T) {
	seen := map[string]string{}
	for name, s := range map[string]sim.Snapshot{
		"the opening run": at(sim.Opening(), sim.Horizon), "the opening run at 20 s": at(sim.Opening(), 20*sim.Second),
		"a run that passes": at(gateSettings(), sim.Horizon), "the most lanes": at(extremeSettings(), sim.Horizon),
	} {
		for kind, data := range map[string][]byte{"card": cardBytes(t, s, "x"), "svg": svgBytes(t, s)} {
			if other := seen[kind+string(data)]; other != "" {
				t.Errorf("%s: %s looks like %s", kind, name, other)
			}
			seen[kind+string(data)] = name
		}
	}
}

func TestTheOpeningRunsShapesAreTheModels(t *testing.T) {
	// docs/model.md: 20 arrive, 7 are admitted, of which 3 complete and 4 are
	// killed with worker 1 at 30 s.
	s := at(sim.Opening(), sim.Horizon)
	for name, f := range map[string]*figure{"sheet": sheetOf(t, s), "card": cardOf(t, s, "x")} {
		for part, want := range map[string]int{
			"arrival admitted": 7, "arrival rejected": 13,
			"bar completed prepare": 3, "bar completed model": 3, "bar completed tool": 3, "completed": 3,
			"bar killed prepare": 4, "bar killed model": 1, "bar killed tool": 1, "bar-hatch": 4, "killed": 4,
			"bar running prepare": 0,
			"band starting":       1, "band ready": 1, "band draining": 0, "worker-killed": 1, "worker-exited": 0,
			"row": 4, "signal": 1, "forced-stop": 1, "playhead": 1, "tick": 13,
		} {
			if got := f.count(part); got != want {
				t.Errorf("%s: %d of %q, want %d", name, got, part, want)
			}
		}
	}
	var numbers, words []string
	for _, sh := range sheetOf(t, s).shapes {
		if tx, ok := sh.form.(text); ok && sh.part == "number" {
			numbers = append(numbers, tx.content)
		} else if ok {
			words = append(words, tx.content)
		}
	}
	if want := []string{"3", "4", "5", "6", "13", "14"}; !slices.Equal(numbers, want) { // 15 lived for 1 s
		t.Errorf("numbers in bars %v, want %v", numbers, want)
	}
	for _, want := range []string{"FAIL", "7 admitted · 3 completed · 4 killed · 13 of 20 rejected (65 %)", "SIGTERM 30 s", "forced stop 30 s", "killed 30 s"} {
		if !slices.Contains(words, want) {
			t.Errorf("the picture does not say %q but %q", want, words)
		}
	}
}

func TestTheOpeningRunsPixels(t *testing.T) {
	c := colours()
	const left, perSecond = 40 + 130, 1390 / 60.0
	x := func(seconds float64) int { return left + int(seconds*perSecond) }
	const arrivals, row1, row4 = 128 + 40 + 20, 128 + 40 + 40 + 26 + 3 + 6, 128 + 40 + 40 + 26 + 3 + 3*34 + 6
	end, early := decode(t, pngBytes(t, at(sim.Opening(), sim.Horizon))), decode(t, pngBytes(t, at(sim.Opening(), 20*sim.Second)))
	for _, p := range []struct {
		what string
		of   image.Image
		x, y int
		want colour
	}{
		{"request 3 was admitted", end, x(5), arrivals, c.ink},
		{"request 1 was rejected", end, x(1), arrivals, c.badFill},
		{"request 3 prepares", end, x(11), row1, c.prepare},
		{"request 3 is in its model stage", end, x(15), row1, c.model},
		{"request 3 is in its tool stage", end, x(20), row1, c.tool},
		{"worker 1 is ready", end, x(20), 128 + 40 + 40 + 13, c.ready},
		{"at 20 s request 3 is at its tool stage", early, x(19.5), row1, c.tool},
		{"at 20 s request 6 is at its model stage", early, x(19), row4, c.model},
		{"at 20 s nothing of request 3 is later", early, x(22), row1, hex(0xf8f7f2)},
		{"at 20 s request 13 has not come", early, x(25), arrivals, c.rule},
		{"at 20 s worker 1 is not known to be ready later", early, x(22), 128 + 40 + 40 + 13, c.card},
		{"the playhead is at 20 s", early, x(20), row4, c.ink},
	} {
		got := color.NRGBAModel.Convert(p.of.At(p.x, p.y)).(color.NRGBA)
		if near := func(a, b uint8) bool { return a-b+2 <= 4 }; !near(got.R, p.want.R) || !near(got.G, p.want.G) || !near(got.B, p.want.B) {
			t.Errorf("%s: the pixel %d, %d is %v, want %v", p.what, p.x, p.y, got, p.want)
		}
	}
}

// still holds the parts that do not depend on what a run has done.
func still(part string) bool {
	word, _, _ := strings.Cut(part, " ")
	return slices.Contains([]string{"row", "grid", "tick", "legend", "panel", "title", "heading", "pill", "verdict", "verdict-mark", "account",
		"settings", "brand", "rule", "name", "state", "slot"}, word)
}

// known are the parts that tell of the forced stop, from the signal on.
func known(part string) bool {
	return slices.Contains([]string{"window", "forced-stop", "forced-stop-label", "signal-label"}, part)
}

func TestNothingOfARunIsDrawnRightOfT(t *testing.T) {
	for _, part := range []string{"bar running tool", "band ready", "end", "playhead", "arrival admitted"} {
		if still(part) || known(part) {
			t.Errorf("%q is not looked at", part)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		s := randomSettings(r)
		snap := at(s, sim.Time(r.IntN(int(sim.Horizon)+1)))
		for name, f := range map[string]*figure{"sheet": sheetOf(t, snap), "card": cardOf(t, snap, "x")} {
			now := 0.0
			for _, sh := range f.shapes {
				if b, ok := sh.form.(box); ok && sh.part == "playhead" {
					now = b.x + 1
				}
			}
			for _, sh := range f.shapes {
				_, _, right, _ := extent(sh.form)
				// The marks of what ends at t stand about it or beside it.
				allowed := 1.0
				switch word, _, _ := strings.Cut(sh.part, " "); word {
				case "arrival", "killed", "worker-killed", "worker-exited", "worker-failed":
					allowed = 20
				case "end", "end-ground":
					allowed = 140
				}
				if !still(sh.part) && !known(sh.part) && right > now+allowed {
					t.Errorf("%+v at %s s: in the %s %q reaches to %.1f, the playhead is at %.1f", s, snap.T, name, sh.part, right, now)
				}
			}
			if got := f.count("forced-stop"); got == 1 && snap.T < s.Signal {
				t.Errorf("%+v at %s s: the forced stop is drawn before the signal", s, snap.T)
			}
		}
	}
}

func TestEveryRequestIsDrawnOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		s := randomSettings(r)
		snap := at(s, sim.Time(r.IntN(int(sim.Horizon)+1)))
		a := snap.Account
		for name, f := range map[string]*figure{"sheet": sheetOf(t, snap), "card": cardOf(t, snap, "x")} {
			running := 0
			for _, inv := range snap.Invocations {
				if inv.Outcome == sim.Running && inv.AdmittedAt < snap.T {
					running++
				}
			}
			for part, want := range map[string]int{
				"arrival admitted": a.Admitted, "arrival rejected": a.Rejected,
				"bar completed prepare": a.Completed, "completed": a.Completed, "bar completed tool": a.Completed,
				"killed": a.Killed, "bar-hatch": a.Killed, "bar running prepare": running,
				"row": s.WorkersEver() * s.Slots,
			} {
				if got := f.count(part); got != want {
					t.Errorf("%+v at %s s: the %s has %d of %q, want %d", s, snap.T, name, got, part, want)
				}
			}
		}
	}
}

func TestBarsStandInTheirSlotsFromAdmissionToEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		s := randomSettings(r)
		snap := at(s, sim.Time(r.IntN(int(sim.Horizon)+1)))
		for name, f := range map[string]*figure{"sheet": sheetOf(t, snap), "card": cardOf(t, snap, "x")} {
			var rows, bars []box
			for _, sh := range f.shapes {
				b, ok := sh.form.(box)
				switch {
				case ok && sh.part == "row":
					rows = append(rows, b)
				case ok && strings.HasPrefix(sh.part, "bar ") && strings.HasSuffix(sh.part, " prepare"):
					bars = append(bars, b)
				case ok && strings.HasPrefix(sh.part, "bar "): // a later stage lengthens the bar
					last := &bars[len(bars)-1]
					if b.y != last.y || math.Abs(last.x+last.w+1-b.x) > 1e-9 {
						t.Errorf("%+v at %s s, %s: stages do not meet", s, snap.T, name)
					}
					last.w = b.x + b.w - last.x
				}
			}
			begin, scale := rows[0].x, rows[0].w/float64(sim.Horizon)
			i := 0
			for _, inv := range snap.Invocations {
				end := inv.EndedAt
				if inv.Outcome == sim.Running {
					if end = snap.T; end == inv.AdmittedAt {
						continue
					}
				}
				bar, row := bars[i], rows[(int(inv.Worker)-1)*s.Slots+int(inv.Slot)-1]
				i++
				if bar.y < row.y || bar.y+bar.h > row.y+row.h {
					t.Errorf("%+v at %s s, %s: request %d lies at %v–%v, its row at %v–%v", s, snap.T, name, inv.Request, bar.y, bar.y+bar.h, row.y, row.y+row.h)
				}
				left, right := begin+float64(inv.AdmittedAt)*scale, begin+float64(end)*scale
				if math.Abs(bar.x-left) > 2 || math.Abs(bar.x+bar.w-right) > 2 {
					t.Errorf("%+v at %s s, %s: request %d reaches from %v to %v, want %v to %v", s, snap.T, name, inv.Request, bar.x, bar.x+bar.w, left, right)
				}
			}
		}
	}
}

// long texts, which no page of ours has.
var (
	longTitle = strings.Repeat("Graceful shutdown, & what is left of it ", 12)
	oneWord   = strings.Repeat("Unterbrechung", 30)
)

// tidy finds texts that leave the picture or cover each other.
func tidy(t *testing.T, what string, f *figure, set *typesetter) {
	t.Helper()
	type placed struct {
		text
		left, top, right, bottom float64
	}
	var texts []placed
	for _, sh := range f.shapes {
		left, top, right, bottom := extent(sh.form)
		if left < 0 || top < 0 || right > float64(f.width) || bottom > float64(f.height) {
			t.Errorf("%s: %q lies at %.1f, %.1f – %.1f, %.1f, outside the %d × %d", what, sh.part, left, top, right, bottom, f.width, f.height)
		}
		tx, ok := sh.form.(text)
		if !ok {
			continue
		}
		if measured := set.width(tx.content, tx.font); math.Abs(measured-tx.w) > 0.01 {
			t.Errorf("%s: %q is %.1f wide, the figure says %.1f", what, tx.content, measured, tx.w)
		}
		const margin = 24
		if left < margin || right > float64(f.width-margin) || top < 0.5*margin || bottom > float64(f.height)-0.5*margin {
			t.Errorf("%s: %q lies at %.1f, %.1f – %.1f, %.1f, in the margin", what, tx.content, left, top, right, bottom)
		}
		if tx.font.size < 9 {
			t.Errorf("%s: %q has a size of %v", what, tx.content, tx.font.size)
		}
		texts = append(texts, placed{tx, left, top, right, bottom})
	}
	for i, a := range texts {
		for _, b := range texts[:i] {
			// Letters seldom fill all of a line: two may touch by a little.
			const slack = 2
			if a.left < b.right && b.left < a.right && a.top < b.bottom-slack && b.top < a.bottom-slack {
				t.Errorf("%s: %q covers %q", what, a.content, b.content)
			}
		}
	}
}

func TestTextsStayInThePictureAndApart(t *testing.T) {
	look := func(snap sim.Snapshot, title string) {
		what := fmt.Sprintf("%s at %s s", snap.Settings.AppendQuery(nil), snap.T)
		f, set := layOut(t, func(set *typesetter) *figure { return sheet(set, snap) })
		tidy(t, "sheet "+what, f, set)
		f, set = layOut(t, func(set *typesetter) *figure { return card(set, snap, title) })
		tidy(t, "card "+what, f, set)
	}
	for _, s := range []sim.Settings{sim.Opening(), gateSettings(), extremeSettings()} {
		for now := sim.Time(0); now <= sim.Horizon; now += 4 * sim.Second {
			look(at(s, now), longTitle)
		}
	}
	r := rand.New(rand.NewPCG(7, 8))
	for range 150 {
		s := randomSettings(r)
		look(at(s, sim.Time(r.IntN(int(sim.Horizon)+1))), oneWord)
		look(at(s, sim.Horizon), "Graceful shutdown")
	}
	for _, title := range []string{"", "Two ledgers", longTitle, oneWord} {
		for _, subtitle := range []string{"", "Requests and work", longTitle, oneWord} {
			for _, n := range []int{0, 2, 5, 11} {
				lines := slices.Repeat([]string{longTitle}, n)
				f, set := layOut(t, func(set *typesetter) *figure { return textCard(set, title, subtitle, lines) })
				tidy(t, fmt.Sprintf("text card %.12q %.12q with %d lines", title, subtitle, n), f, set)
				if got := f.count("line"); got < min(n, 5) {
					t.Errorf("text card %.12q %.12q: %d of %d lines", title, subtitle, got, n)
				}
			}
		}
	}
}

func TestACardNamesTheSettingsThatDiffer(t *testing.T) {
	settings := func(s sim.Settings) string {
		var lines []string
		for _, sh := range cardOf(t, at(s, sim.Horizon), "x").shapes {
			if sh.part == "settings" {
				lines = append(lines, sh.form.(text).content)
			}
		}
		return strings.Join(lines, " | ")
	}
	for _, c := range []struct {
		s    sim.Settings
		want string
	}{
		{sim.Opening(), "the opening settings"},
		{gateSettings(), "duration 8 s · grace 10 s · replacement on"},
		{extremeSettings(), "workers 4 · slots 8 · startup 13.5 s · interval 0.5 s · duration 39.5 s · signal 25.5 s · grace 29.5 s · handler off · replacement on | ready only off · fail init on · allowance 77 %"},
	} {
		if got := settings(c.s); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func TestRowsOfACardAreSeenWithTheMostLanes(t *testing.T) {
	f := cardOf(t, at(extremeSettings(), sim.Horizon), "x")
	var bottom float64
	for _, sh := range f.shapes {
		if b, ok := sh.form.(box); ok && sh.part == "row" {
			if b.h < 4 {
				t.Fatalf("a row is %v high", b.h)
			}
			bottom = b.y + b.h
		}
	}
	if bottom < 540 {
		t.Errorf("the lanes end at %v: they do not take the room that there is", bottom)
	}
}

// element is a parsed SVG.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e element) walk(visit func(element)) {
	visit(e)
	for _, c := range e.Children {
		c.walk(visit)
	}
}

func parse(t *testing.T, data []byte) element {
	t.Helper()
	var e element
	decoder := xml.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&e); err != nil {
		t.Fatal(err)
	}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return e
		}
		if space, ok := token.(xml.CharData); err != nil || !ok || strings.TrimSpace(string(space)) != "" {
			t.Fatalf("after the SVG: %v, %v", token, err)
		}
	}
}

func TestTheSVGStandsAloneAndSaysWhatItShows(t *testing.T) {
	for _, s := range []sim.Snapshot{at(sim.Opening(), sim.Horizon), at(extremeSettings(), sim.Horizon), at(gateSettings(), 47*sim.Second)} {
		root := parse(t, svgBytes(t, s))
		if root.XMLName.Space != "http://www.w3.org/2000/svg" || root.XMLName.Local != "svg" || root.attr("role") != "img" {
			t.Fatalf("the root is %v with role %q", root.XMLName, root.attr("role"))
		}
		if want := "0 0 1600 " + root.attr("height"); root.attr("viewBox") != want || root.attr("width") != "1600" {
			t.Errorf("viewBox %q, width %q", root.attr("viewBox"), root.attr("width"))
		}
		title, desc := root.Children[0], root.Children[1]
		if title.XMLName.Local != "title" || title.Text != "Worker lanes at "+s.T.String()+" s" {
			t.Errorf("the title is %s %q", title.XMLName.Local, title.Text)
		}
		if desc.XMLName.Local != "desc" || !strings.Contains(desc.Text, fmt.Sprintf("%d admitted, %d completed, %d killed", s.Account.Admitted, s.Account.Completed, s.Account.Killed)) {
			t.Errorf("the description is %s %q", desc.XMLName.Local, desc.Text)
		}
		ids := map[string]bool{}
		root.walk(func(e element) {
			if id := e.attr("id"); id != "" {
				if ids[id] {
					t.Errorf("two elements have the id %s", id)
				}
				ids[id] = true
			}
			for _, a := range e.Attrs {
				if a.Name.Local == "href" || a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("%s has %s=%q", e.XMLName.Local, a.Name.Local, a.Value)
				}
				if id, ok := strings.CutPrefix(a.Value, "url(#"); ok && !ids[strings.TrimSuffix(id, ")")] {
					t.Errorf("%s asks for %s, which is not there", e.XMLName.Local, a.Value)
				}
			}
			if slices.Contains([]string{"style", "script", "image", "use", "foreignObject"}, e.XMLName.Local) {
				t.Errorf("there is a %s", e.XMLName.Local)
			}
		})
	}
}

func TestTheSVGHasTheFiguresTexts(t *testing.T) {
	s := at(gateSettings(), sim.Horizon)
	var want, got []string
	for _, sh := range sheetOf(t, s).shapes {
		if tx, ok := sh.form.(text); ok {
			want = append(want, tx.content)
		}
	}
	parse(t, svgBytes(t, s)).walk(func(e element) {
		if e.XMLName.Local == "text" {
			got = append(got, e.Text)
		}
	})
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestForeignTextInTheSVGIsEscaped(t *testing.T) {
	foreign := `<script>"a" & 'b'</script>]]>` + "\x00\x1b\xff"
	f := &figure{width: 10, height: 10}
	f.add(`a"part<`, text{content: foreign, font: style{size: 10}})
	root := parse(t, bytesOf(t, func(w io.Writer) error { return writeSVG(w, f, foreign, foreign) }))
	want := `<script>"a" & 'b'</script>]]>` + "\uFFFD\uFFFD\uFFFD"
	for i, name := range []string{"title", "desc", "rect", "text"} {
		e := root.Children[i]
		if e.XMLName.Local != name || len(e.Children) > 0 || name != "rect" && e.Text != want {
			t.Errorf("%s: got %s %q with %d children, want %q", name, e.XMLName.Local, e.Text, len(e.Children), want)
		}
	}
	if got := root.Children[3].attr("class"); got != `a"part<` {
		t.Errorf("the class is %q", got)
	}
}

func TestForeignTitlesAreDrawn(t *testing.T) {
	s := at(sim.Opening(), sim.Horizon)
	for _, title := range []string{"", "\x00\xff a\nb\tc 優雅な停止🙂", strings.Repeat("x", 1<<20)} {
		decode(t, cardBytes(t, s, title))
		decode(t, bytesOf(t, func(w io.Writer) error { return TextCard(w, title, title, []string{title}) }))
	}
}

func TestWhatIsNoSnapshotIsRefused(t *testing.T) {
	wrong := at(sim.Opening(), sim.Horizon)
	wrong.Settings.Slots = 9
	late := at(sim.Opening(), sim.Horizon)
	late.T++
	for name, s := range map[string]sim.Snapshot{"nothing": {}, "settings out of range": wrong, "a t after the end": late, "no worker": {Settings: sim.Opening()}} {
		for kind, write := range map[string]func(io.Writer, sim.Snapshot) error{
			"card": func(w io.Writer, s sim.Snapshot) error { return Card(w, s, "x") }, "png": PNG, "svg": SVG,
		} {
			var b bytes.Buffer
			if err := write(&b, s); err == nil || b.Len() > 0 {
				t.Errorf("%s, %s: error %v and %d bytes", name, kind, err, b.Len())
			}
		}
	}
	var setting *sim.SettingError
	if err := SVG(io.Discard, wrong); !errors.As(err, &setting) || setting.Setting != "slots" {
		t.Errorf("the error does not name the setting: %v", err)
	}
}

type fullDisk struct{}

var errFull = errors.New("the disk is full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestErrorsOfTheWriterAreReturned(t *testing.T) {
	s := at(sim.Opening(), sim.Horizon)
	for name, err := range map[string]error{
		"card": Card(fullDisk{}, s, "x"), "png": PNG(fullDisk{}, s), "svg": SVG(fullDisk{}, s), "text card": TextCard(fullDisk{}, "x", "y", nil),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTextsAreCutToTheirRoom(t *testing.T) {
	_, set := layOut(t, func(*typesetter) *figure { return nil })
	font := style{size: 20}
	for _, content := range []string{"", "x", "a few words", oneWord, longTitle, strings.Repeat("é", 99)} {
		for _, limit := range []float64{0, 5, 20, 21, 150, 151.5, 1e6} {
			got := set.cut(content, font, limit)
			if w := set.width(got, font); w > limit && got != "" {
				t.Errorf("%.20q in %v pixels: %q takes %v", content, limit, got, w)
			}
			if got != content && got != "" && !strings.HasSuffix(got, "…") {
				t.Errorf("%.20q in %v pixels: %q does not say that it is cut", content, limit, got)
			}
			if set.width(content, font) <= limit && got != content {
				t.Errorf("%.20q in %v pixels: %q though there is room", content, limit, got)
			}
		}
	}
	words := strings.Fields("one two three four five six seven")
	if got := set.wrap(words, " ", font, 1e6, 2); !slices.Equal(got, []string{strings.Join(words, " ")}) {
		t.Errorf("with all the room: %q", got)
	}
	limit := set.width("one two three four", font) + 1
	if got := set.wrap(words, " ", font, limit, 2); !slices.Equal(got, []string{"one two three four", "five six seven"}) {
		t.Errorf("in two lines: %q", got)
	}
	if got := set.wrap(words, " ", font, limit/2, 2); len(got) != 2 || !strings.HasSuffix(got[1], "…") {
		t.Errorf("in too little room: %q", got)
	}
	if got, s := set.shrink("one two three four", style{size: 40}, 20, limit); got != "one two three four" || s.size != 20 {
		t.Errorf("shrunk to %v: %q", s.size, got)
	}
}

func TestStripesLieInTheirRectangle(t *testing.T) {
	for _, h := range []hatch{{x: 10, y: 20, w: 80, h: 15, pitch: 6, line: 1.8}, {x: 3.5, y: 7, w: 2, h: 40, pitch: 6, line: 1.8}, {x: 5, y: 5, w: 43, h: 30.3, pitch: 9, line: 3}} {
		covered := 0.0
		for _, p := range stripes(h) {
			area := 0.0
			for i, a := range p.points {
				if a.x < h.x-1e-9 || a.y < h.y-1e-9 || a.x > h.x+h.w+1e-9 || a.y > h.y+h.h+1e-9 {
					t.Fatalf("%+v: a stripe has the corner %v", h, a)
				}
				b := p.points[(i+1)%len(p.points)]
				area += (a.x*b.y - b.x*a.y) / 2
			}
			if area < 0 { // then it would take away where it meets another
				t.Fatalf("%+v: a stripe is drawn the other way round", h)
			}
			covered += area
		}
		want := 0.0 // counted on a grid
		const step = 0.05
		for x := h.x + step/2; x < h.x+h.w; x += step {
			for y := h.y + step/2; y < h.y+h.h; y += step {
				if across := (x + y) / math.Sqrt2; across-math.Floor(across/h.pitch)*h.pitch < h.line {
					want += step * step
				}
			}
		}
		if math.Abs(covered-want) > 0.5 {
			t.Errorf("%+v: stripes cover %.1f square pixels, want %.1f", h, covered, want)
		}
	}
}

func TestColoursAreKept(t *testing.T) {
	few := image.NewRGBA(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		few.SetRGBA(i%16, i/16, color.RGBA{uint8(i), uint8(3 * i), 7, 255})
	}
	got := indexed(few)
	for i := range 256 {
		if want := few.RGBAAt(i%16, i/16); color.RGBAModel.Convert(got.At(i%16, i/16)) != want {
			t.Fatalf("pixel %d: %v, want %v", i, got.At(i%16, i/16), want)
		}
	}
	// 256 colours twice, and a shade between two of them once.
	many := image.NewRGBA(image.Rect(0, 0, 16, 33))
	for i := range 512 {
		many.SetRGBA(i%16, i/16, color.RGBA{uint8(i % 256), 0, 0, 255})
	}
	for i := range 16 {
		many.SetRGBA(i, 32, color.RGBA{200, 1, 0, 255})
	}
	many.SetRGBA(0, 32, color.RGBA{100, 0, 2, 255})
	got = indexed(many)
	if len(got.Palette) != 256 {
		t.Errorf("%d colours", len(got.Palette))
	}
	if c := color.RGBAModel.Convert(got.At(0, 32)); c != (color.RGBA{100, 0, 0, 255}) {
		t.Errorf("the shade became %v", c)
	}
}
