package drain

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"drainlab/internal/course"
	"drainlab/internal/picture/picturetest"
	"drainlab/internal/sim"
)

// blind is the run as somebody has it who knows nothing after t: what is to
// come has not come. What is drawn at t must be the same of it.
func blind(r *sim.Run, t sim.Time) *sim.Run {
	s := r.At(t)
	return &sim.Run{Settings: r.Settings, Workers: s.Workers, Invocations: s.Invocations, Rejections: s.Rejections, Trace: s.Trace}
}

func html(t testing.TB, c course.Component) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func partsHTML(t testing.TB, parts []course.Part) string {
	t.Helper()
	var b strings.Builder
	for _, p := range parts {
		text := html(t, p.Body)
		if !strings.Contains(text, `id="`+p.ID+`"`) {
			t.Errorf("the part %s does not write its element: %.100s", p.ID, text)
		}
		b.WriteString(text)
	}
	return b.String()
}

// wantSame compares what is told with what is told without knowing the rest.
func wantSame(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(0, i-150)
	t.Fatalf("%s tells of what is to come:\n%s\nand without knowing it\n%s", what, got[from:min(len(got), i+150)], want[from:min(len(want), i+150)])
}

func TestTheLivePartsTellNothingOfWhatIsToCome(t *testing.T) {
	r := seeded(t)
	for range 60 {
		whole := sim.Simulate(randomSettings(r))
		at := sim.Time(r.IntN(int(sim.Horizon)))
		f := course.Frame{T: at, Until: at}
		l := New()
		wantSame(t, fmt.Sprintf("%s at %s s", whole.Settings.AppendQuery(nil), at),
			partsHTML(t, run{Run: whole, lesson: l}.Live(f)), partsHTML(t, run{Run: blind(whole, at), lesson: l}.Live(f)))
	}
}

// While the run plays, what goes on is drawn to the next event, and the
// picture is cut before it.
func TestWhatGoesOnWhileItPlaysEndsAtTheNextEvent(t *testing.T) {
	r := seeded(t)
	for range 40 {
		whole := sim.Simulate(randomSettings(r))
		at := sim.Time(r.IntN(int(sim.Horizon)))
		until := whole.NextEvent(at)
		known := blind(whole, until)
		wantSame(t, fmt.Sprintf("%s at %s s", whole.Settings.AppendQuery(nil), at),
			html(t, lanesPart(buildLanes(whole, whole.At(at), until).asPart())), html(t, lanesPart(buildLanes(known, known.At(at), until).asPart())))
	}
}

// In a picture that stands nothing lies right of the instant but the signal and
// the deadline.
func TestNothingIsDrawnRightOfTheInstant(t *testing.T) {
	place := func(percents ...string) (sum float64) {
		for _, p := range percents {
			v, err := strconv.ParseFloat(strings.TrimSuffix(p, "%"), 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += v
		}
		return sum
	}
	r := seeded(t)
	looked := 0
	for range 150 {
		whole := sim.Simulate(randomSettings(r))
		at := sim.Time(r.IntN(int(sim.Horizon) + 1))
		v := buildLanes(whole, whole.At(at), at)
		now := place(x(at)) + 0.002
		beyond := func(what string, percents ...string) {
			looked++
			if got := place(percents...); got > now {
				t.Fatalf("%s at %s s: %s reaches to %.2f %%, the instant is at %.2f %%", whole.Settings.AppendQuery(nil), at, what, got, now)
			}
		}
		for _, b := range v.bands {
			beyond("a worker's state", b.x, b.w)
		}
		for _, b := range v.bars {
			for _, st := range b.stages {
				beyond("a stage", st.x, st.w)
			}
			if b.rest != nil {
				beyond("what was still to be done", b.rest.x, b.rest.w)
			}
			if b.until != "" {
				beyond("until when", b.untilX)
			}
		}
		for _, m := range v.marks {
			beyond("a mark", m.x)
		}
		for _, a := range v.arrivals {
			beyond("an arrival", a.x)
		}
	}
	if looked < 3000 {
		t.Errorf("only %d things are looked at", looked)
	}
}

// otherwise is a run of other settings in the place of the view's.
func otherwise(v *view, other sim.Settings) *view {
	next := *v
	next.compute = func() *sim.Run {
		r := sim.Simulate(other)
		r.Settings = v.settings
		return r
	}
	return &next
}

// Whatever the run comes to: before it is seen a link's own parts are the same.
func TestALinksOwnPartsAnswerNothingBeforeTheEnd(t *testing.T) {
	r := seeded(t)
	for _, query := range []string{
		"predict=required", "predict=required&t=60", "predict=required&grace=10&panel=sweep&t=30", "predict=required&panel=compare&b.grace=20", "predict=required&lock=all&panel=why&hide=controls",
		"predict=required&p.killed=4&p.dies=6,13&t=30&panel=compare&b.slots=2", "predict=required&p.verdict=pass&panel=sweep&t=59.9", "p.killed=2&t=59.9&panel=why", "t=20", "",
	} {
		link := linkOf(t, query)
		want := partsHTML(t, link.View.Run().Own(link))
		for range 5 {
			other := link
			other.View = otherwise(viewIn(link), randomSettings(r))
			wantSame(t, query, partsHTML(t, other.View.Run().Own(other)), want)
		}
	}
	for _, query := range []string{"predict=required&panel=sweep", "predict=required&p.killed=4&t=59.9&panel=sweep"} {
		if text := page(t, query); strings.Contains(text, `class="cell`) || strings.Contains(text, "sweep-here") {
			t.Errorf("%s: the map is drawn, which has the verdict", query)
		}
	}
	if !strings.Contains(page(t, "predict=required&p.killed=4&t=60&panel=sweep"), `class="cell`) {
		t.Error("the map is not drawn at the end either")
	}
	// The same, seen to its end, does depend on the run.
	link := linkOf(t, "predict=required&p.killed=4&t=60")
	other := link
	other.View = otherwise(viewIn(link), sim.Experiments()[5].Settings)
	if partsHTML(t, link.View.Run().Own(link)) == partsHTML(t, other.View.Run().Own(other)) {
		t.Error("nothing is told at the end either: this test sees nothing")
	}
}

// What would answer a question that a link asks is on no sheet, card or picture
// of it.
func TestNothingOfAHeldLinkAnswersItsQuestion(t *testing.T) {
	l := New()
	r := seeded(t)
	for _, query := range []string{"predict=required", "predict=required&t=60&grace=10", "predict=required&p.killed=4&grace=10&replacement=1"} {
		link := linkOf(t, query)
		if !link.Held() {
			t.Fatalf("%s is not held", query)
		}
		// Another end of a run that begins alike.
		ends := viewIn(link).settings
		ends.Grace, ends.Duration, ends.Handler = sim.Time(r.IntN(300)), sim.Time(10+r.IntN(100)), !ends.Handler
		other := link
		other.View = otherwise(viewIn(link), ends)
		sheet := func(link course.Link) string {
			asked, _ := l.Sheet(link, "https://lessons.test")
			return html(t, asked)
		}
		wantSame(t, "the questions' sheet", sheet(link), sheet(other))
		if text := words(sheet(link)); regexp.MustCompile(`\bFAIL\b|\bPASS\b|Killed: |is killed at|exits at|Lost, `).MatchString(text) {
			t.Errorf("the questions' sheet says %s", text)
		}
		wantSame(t, "the text", html(t, l.AboutPage(link)), html(t, l.AboutPage(other)))
		if strings.Contains(html(t, l.AboutPage(link)), "die\nunfinished") || strings.Contains(words(html(t, l.AboutPage(link))), "die unfinished") {
			t.Error("the text tells the opening run's end")
		}
		f, g := link.View.Run().Figure(link.T), other.View.Run().Figure(link.T)
		wantSame(t, "the picture's words", f.Alt, g.Alt)
		for kind, draw := range map[string][2]func(io.Writer) error{"card": {f.Card, g.Card}, "PNG": {f.PNG, g.PNG}, "SVG": {f.SVG, g.SVG}} {
			if !bytes.Equal(picturetest.Bytes(t, draw[0]), picturetest.Bytes(t, draw[1])) {
				t.Errorf("%s: the %s tells of what is to come", query, kind)
			}
		}
	}
}

// Up to t a comparison knows of neither run more than has happened.
func TestAComparisonTellsNothingOfWhatIsToCome(t *testing.T) {
	r := seeded(t)
	for range 60 {
		a := sim.Simulate(randomSettings(r))
		s := a.Settings
		for range 1 + r.IntN(2) {
			table := sim.Table()
			c := &table[r.IntN(len(table))]
			c.Set(&s, c.Stops()[r.IntN(len(c.Stops()))])
		}
		b := sim.Simulate(s)
		at := sim.Time(r.IntN(int(sim.Horizon)))
		told := func(a, b *sim.Run) string {
			c := compare{on: true, at: at.Fixed()}
			c.tell(a, b, at)
			return html(t, compareFragments(c))
		}
		wantSame(t, fmt.Sprintf("%s beside %s at %s s", a.Settings.AppendQuery(nil), s.AppendQuery(nil), at), told(a, b), told(blind(a, at), blind(b, at)))
	}
	// At the end it tells all.
	link := linkOf(t, "b.grace=20&t=60")
	if text := words(html(t, compareFragments(buildCompare(link, viewIn(link))))); !strings.Contains(text, "in run A, at 30 s, request 13 was killed") || !strings.Contains(text, "gate FAIL FAIL") {
		t.Errorf("at the end it says %s", text)
	}
	link = linkOf(t, "b.grace=20&t=29.9")
	if text := words(html(t, compareFragments(buildCompare(link, viewIn(link))))); !strings.Contains(text, "Up to 29.9 s the two runs have the same trace.") || !strings.Contains(text, "gate not yet not yet") {
		t.Errorf("before they part it says %s", text)
	}
}

var space = regexp.MustCompile(`[\s\x{a0}]+`)

// words are what a page says, without its markup.
func words(page string) string {
	return strings.TrimSpace(space.ReplaceAllString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " "), " "))
}
