package drain

import (
	"bytes"
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

	"drainlab/internal/picture"
	"drainlab/internal/picture/picturetest"
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

func layOut(t testing.TB, layout func(*picture.Typesetter) *picture.Figure) (*picture.Figure, *picture.Typesetter) {
	t.Helper()
	f, set, err := picture.LayOut(layout)
	if err != nil {
		t.Fatal(err)
	}
	return f, set
}

func sheetOf(t testing.TB, s sim.Snapshot) *picture.Figure {
	t.Helper()
	f, _ := layOut(t, func(set *picture.Typesetter) *picture.Figure { return sheet(set, s) })
	return f
}

func cardOf(t testing.TB, s sim.Snapshot, title string) *picture.Figure {
	t.Helper()
	f, _ := layOut(t, func(set *picture.Typesetter) *picture.Figure { return card(set, s, title) })
	return f
}

func cardBytes(t testing.TB, s sim.Snapshot, title string) []byte {
	t.Helper()
	return picturetest.Bytes(t, func(w io.Writer) error { return Card(w, s, title) })
}

func pngBytes(t testing.TB, s sim.Snapshot) []byte {
	t.Helper()
	return picturetest.Bytes(t, func(w io.Writer) error { return PNG(w, s) })
}

func svgBytes(t testing.TB, s sim.Snapshot) []byte {
	t.Helper()
	return picturetest.Bytes(t, func(w io.Writer) error { return SVG(w, s) })
}

func TestPicturesHaveTheirSize(t *testing.T) {
	const most = 150_000 // bytes: what sites still fetch without a thought
	for name, s := range map[string]sim.Settings{"the opening run": sim.Opening(), "a run that passes": gateSettings(), "the most lanes": extremeSettings()} {
		t.Run(name, func(t *testing.T) {
			card, sheet := cardBytes(t, at(s, sim.Horizon), "Graceful shutdown"), pngBytes(t, at(s, sim.Horizon))
			if got := picturetest.Decode(t, card).Bounds(); got != image.Rect(0, 0, 1200, 630) {
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
				if f := sheetOf(t, at(s, now)); f.Width != got.Width || f.Height != got.Height {
					t.Errorf("the lanes at %s s are %d × %d, at the end %d × %d", now, f.Width, f.Height, got.Width, got.Height)
				}
			}
		})
	}
}

func TestEqualInputGivesEqualBytes(t *testing.T) {
	s := at(gateSettings(), 47*sim.Second)
	for name, write := range map[string]func(io.Writer) error{
		"card": func(w io.Writer) error { return Card(w, s, "Reach the gate") },
		"png":  func(w io.Writer) error { return PNG(w, s) },
		"svg":  func(w io.Writer) error { return SVG(w, s) },
	} {
		if !bytes.Equal(picturetest.Bytes(t, write), picturetest.Bytes(t, write)) {
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
	for name, f := range map[string]*picture.Figure{"sheet": sheetOf(t, s), "card": cardOf(t, s, "x")} {
		for part, want := range map[string]int{
			"arrival admitted": 7, "arrival away": 13,
			"bar completed prepare": 3, "bar completed model": 3, "bar completed tool": 3, "completed": 3,
			"bar killed prepare": 4, "bar killed model": 1, "bar killed tool": 1, "bar-edge": 4, "killed": 4,
			"bar running prepare": 0,
			"band starting":       1, "band ready": 1, "band draining": 0, "worker-killed": 1, "worker-exited": 0,
			"row": 4, "signal": 1, "forced-stop": 1, "playhead": 1, "tick": 13,
		} {
			if got := picturetest.Count(f, part); got != want {
				t.Errorf("%s: %d of %q, want %d", name, got, part, want)
			}
		}
	}
	var numbers, words []string
	for _, sh := range sheetOf(t, s).Shapes {
		if tx, ok := sh.Form.(picture.Text); ok && sh.Part == "number" {
			numbers = append(numbers, tx.Content)
		} else if ok {
			words = append(words, tx.Content)
		}
	}
	if want := []string{"3", "4", "5", "6", "13", "14"}; !slices.Equal(numbers, want) { // 15 lived for 1 s
		t.Errorf("numbers in bars %v, want %v", numbers, want)
	}
	for _, want := range []string{"FAIL", "7 admitted · 3 kept · 4 lost · 13 of 20 turned away (65 %)", "SIGTERM 30 s", "deadline 30 s", "killed 30 s"} {
		if !slices.Contains(words, want) {
			t.Errorf("the picture does not say %q but %q", want, words)
		}
	}
}

func TestTheOpeningRunsPixels(t *testing.T) {
	c := picture.Colours()
	const left, perSecond = 40 + 130, 1390 / 60.0
	x := func(seconds float64) int { return left + int(seconds*perSecond) }
	const arrivals, row1, row4 = 128 + 40 + 20, 128 + 40 + 40 + 26 + 3 + 6, 128 + 40 + 40 + 26 + 3 + 3*34 + 6
	end, early := picturetest.Decode(t, pngBytes(t, at(sim.Opening(), sim.Horizon))), picturetest.Decode(t, pngBytes(t, at(sim.Opening(), 20*sim.Second)))
	for _, p := range []struct {
		what string
		of   image.Image
		x, y int
		want picture.Colour
	}{
		{"request 3 was admitted", end, x(5), arrivals, c.Ink},
		{"request 1 was turned away: a ring", end, x(1), arrivals, c.Card},
		{"request 3 prepares", end, x(11), row1, c.Prepare},
		{"request 3 is in its model stage", end, x(15), row1, c.Model},
		{"request 3 is in its tool stage", end, x(20), row1, c.Tool},
		{"worker 1 is ready", end, x(20), 128 + 40 + 40 + 13, c.Ready},
		{"at 20 s request 3 is at its tool stage", early, x(19.5), row1, c.Tool},
		{"at 20 s request 6 is at its model stage", early, x(19), row4, c.Model},
		{"at 20 s nothing of request 3 is later", early, x(22), row1, picture.Hex(0xf8f7f2)},
		{"at 20 s request 13 has not come", early, x(25), arrivals, c.Rule},
		{"at 20 s worker 1 is not known to be ready later", early, x(22), 128 + 40 + 40 + 13, c.Card},
		{"the playhead is at 20 s", early, x(20), row4, c.Ink},
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

// known are the parts that tell of the signal and the deadline, which are
// settings.
func known(part string) bool {
	return slices.Contains([]string{"window", "forced-stop", "forced-stop-label", "signal", "signal-label"}, part)
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
		for name, f := range map[string]*picture.Figure{"sheet": sheetOf(t, snap), "card": cardOf(t, snap, "x")} {
			now := 0.0
			for _, sh := range f.Shapes {
				if b, ok := sh.Form.(picture.Box); ok && sh.Part == "playhead" {
					now = b.X + 1
				}
			}
			for _, sh := range f.Shapes {
				_, _, right, _ := picturetest.Extent(sh.Form)
				// The marks of what ends at t stand about it or beside it.
				allowed := 1.0
				switch word, _, _ := strings.Cut(sh.Part, " "); word {
				case "arrival", "killed", "worker-killed", "worker-exited", "worker-failed":
					allowed = 20
				case "end", "end-ground":
					allowed = 140
				}
				if !still(sh.Part) && !known(sh.Part) && right > now+allowed {
					t.Errorf("%+v at %s s: in the %s %q reaches to %.1f, the playhead is at %.1f", s, snap.T, name, sh.Part, right, now)
				}
			}
			if signal, stop := picturetest.Count(f, "signal"), picturetest.Count(f, "forced-stop"); signal != 1 || stop != 1 && snap.T < s.Signal {
				t.Errorf("%+v at %s s: %d signals and %d deadlines are drawn, which are settings", s, snap.T, signal, stop)
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
		for name, f := range map[string]*picture.Figure{"sheet": sheetOf(t, snap), "card": cardOf(t, snap, "x")} {
			running := 0
			for _, inv := range snap.Invocations {
				if inv.Outcome == sim.Running && inv.AdmittedAt < snap.T {
					running++
				}
			}
			for part, want := range map[string]int{
				"arrival admitted": a.Admitted, "arrival away": a.Rejected,
				"bar completed prepare": a.Completed, "completed": a.Completed, "bar completed tool": a.Completed,
				"killed": a.Killed, "bar running prepare": running,
				"row": s.WorkersEver() * s.Slots,
			} {
				if got := picturetest.Count(f, part); got != want {
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
		for name, f := range map[string]*picture.Figure{"sheet": sheetOf(t, snap), "card": cardOf(t, snap, "x")} {
			var rows, bars []picture.Box
			for _, sh := range f.Shapes {
				b, ok := sh.Form.(picture.Box)
				switch {
				case ok && sh.Part == "row":
					rows = append(rows, b)
				case ok && strings.HasPrefix(sh.Part, "bar ") && strings.HasSuffix(sh.Part, " prepare"):
					bars = append(bars, b)
				case ok && strings.HasPrefix(sh.Part, "bar "): // a later stage lengthens the bar
					last := &bars[len(bars)-1]
					if b.Y != last.Y || math.Abs(last.X+last.W+1-b.X) > 1e-9 {
						t.Errorf("%+v at %s s, %s: stages do not meet", s, snap.T, name)
					}
					last.W = b.X + b.W - last.X
				}
			}
			begin, scale := rows[0].X, rows[0].W/float64(sim.Horizon)
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
				if bar.Y < row.Y || bar.Y+bar.H > row.Y+row.H {
					t.Errorf("%+v at %s s, %s: request %d lies at %v–%v, its row at %v–%v", s, snap.T, name, inv.Request, bar.Y, bar.Y+bar.H, row.Y, row.Y+row.H)
				}
				left, right := begin+float64(inv.AdmittedAt)*scale, begin+float64(end)*scale
				if math.Abs(bar.X-left) > 2 || math.Abs(bar.X+bar.W-right) > 2 {
					t.Errorf("%+v at %s s, %s: request %d reaches from %v to %v, want %v to %v", s, snap.T, name, inv.Request, bar.X, bar.X+bar.W, left, right)
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

func TestTextsStayInThePictureAndApart(t *testing.T) {
	look := func(snap sim.Snapshot, title string) {
		what := fmt.Sprintf("%s at %s s", snap.Settings.AppendQuery(nil), snap.T)
		f, set := layOut(t, func(set *picture.Typesetter) *picture.Figure { return sheet(set, snap) })
		picturetest.Tidy(t, "sheet "+what, f, set)
		f, set = layOut(t, func(set *picture.Typesetter) *picture.Figure { return card(set, snap, title) })
		picturetest.Tidy(t, "card "+what, f, set)
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
}

func TestACardNamesTheSettingsThatDiffer(t *testing.T) {
	settings := func(s sim.Settings) string {
		var lines []string
		for _, sh := range cardOf(t, at(s, sim.Horizon), "x").Shapes {
			if sh.Part == "settings" {
				lines = append(lines, sh.Form.(picture.Text).Content)
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
	for _, sh := range f.Shapes {
		if b, ok := sh.Form.(picture.Box); ok && sh.Part == "row" {
			if b.H < 4 {
				t.Fatalf("a row is %v high", b.H)
			}
			bottom = b.Y + b.H
		}
	}
	if bottom < 540 {
		t.Errorf("the lanes end at %v: they do not take the room that there is", bottom)
	}
}

func TestTheSVGStandsAloneAndSaysWhatItShows(t *testing.T) {
	for _, s := range []sim.Snapshot{at(sim.Opening(), sim.Horizon), at(extremeSettings(), sim.Horizon), at(gateSettings(), 47*sim.Second)} {
		root := picturetest.Parse(t, svgBytes(t, s))
		if root.XMLName.Space != "http://www.w3.org/2000/svg" || root.XMLName.Local != "svg" || root.Attr("role") != "img" {
			t.Fatalf("the root is %v with role %q", root.XMLName, root.Attr("role"))
		}
		if want := "0 0 1600 " + root.Attr("height"); root.Attr("viewBox") != want || root.Attr("width") != "1600" {
			t.Errorf("viewBox %q, width %q", root.Attr("viewBox"), root.Attr("width"))
		}
		title, desc := root.Children[0], root.Children[1]
		if title.XMLName.Local != "title" || title.Text != "Worker lanes at "+s.T.String()+" s" {
			t.Errorf("the title is %s %q", title.XMLName.Local, title.Text)
		}
		if desc.XMLName.Local != "desc" || !strings.Contains(desc.Text, summary(s)) {
			t.Errorf("the description is %s %q", desc.XMLName.Local, desc.Text)
		}
		ids := map[string]bool{}
		root.Walk(func(e picturetest.Element) {
			if id := e.Attr("id"); id != "" {
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
	for _, sh := range sheetOf(t, s).Shapes {
		if tx, ok := sh.Form.(picture.Text); ok {
			want = append(want, tx.Content)
		}
	}
	picturetest.Parse(t, svgBytes(t, s)).Walk(func(e picturetest.Element) {
		if e.XMLName.Local == "text" {
			got = append(got, e.Text)
		}
	})
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestForeignTitlesAreDrawn(t *testing.T) {
	s := at(sim.Opening(), sim.Horizon)
	for _, title := range []string{"", "\x00\xff a\nb\tc 優雅な停止🙂", strings.Repeat("x", 1<<20)} {
		picturetest.Decode(t, cardBytes(t, s, title))
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
		"card": Card(fullDisk{}, s, "x"), "png": PNG(fullDisk{}, s), "svg": SVG(fullDisk{}, s),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
