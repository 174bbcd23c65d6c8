package course_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"drainlab/internal/course"
	"drainlab/internal/course/coursetest"
	"drainlab/internal/setting"
)

// The default keeps a plain `go test` repeatable; another seed tests others.
var seed = flag.Uint64("seed", 1, "seed of the random links")

var counter = coursetest.Counter{}

func values(t *testing.T, query string) url.Values {
	t.Helper()
	v, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// parse reads a link of the lesson that must be one.
func parse(t *testing.T, lesson course.Lesson, query string) course.Link {
	t.Helper()
	l, err := course.ParseLink(lesson, values(t, query))
	if err != nil {
		t.Fatalf("%q: %v", query, err)
	}
	return l
}

// wantRefused wants an error about a parameter, and the words in what is
// allowed.
func wantRefused(t *testing.T, err error, name, got, words string) {
	t.Helper()
	var refused *setting.Error
	if !errors.As(err, &refused) {
		t.Errorf("got error %v, want a *setting.Error about %s", err, name)
	} else if refused.Setting != name || refused.Got != got || !strings.Contains(refused.Allowed, words) {
		t.Errorf("refused with %+v, want %s, got %q, allowed %q", *refused, name, got, words)
	}
}

func TestALinkThatNamesNothingIsTheOpeningOne(t *testing.T) {
	for _, c := range []struct {
		name   string
		lesson coursetest.Counter
		t      setting.Time
	}{
		{"at its beginning", coursetest.Counter{}, 0},
		{"at its end", coursetest.Counter{OpensAtEnd: true}, 600},
	} {
		t.Run(c.name, func(t *testing.T) {
			opening := course.OpenLink(c.lesson)
			for _, l := range []course.Link{opening, parse(t, c.lesson, "")} {
				if l.Lesson != course.Lesson(c.lesson) || l.View.Query() != "" || l.T != c.t || l.Speed != course.Single || l.Panel != "settings" || l.PanelNamed ||
					l.Hide != nil || l.Lock != nil || l.Predict || l.Embedded {
					t.Errorf("it is %+v", l)
				}
				if l.Query() != "" || l.Address() != "/lessons/counter" || l.Public() != "/lessons/counter?model=3" || l.At("share") != "/lessons/counter/share" {
					t.Errorf("it is written %q, %q, %q, %q", l.Query(), l.Address(), l.Public(), l.At("share"))
				}
			}
		})
	}
}

func TestALinkSaysWhatItsQueryNames(t *testing.T) {
	l := parse(t, counter, "lock=by,count&hide=text,controls&predict=required&panel=log&speed=0.5&t=4.50&guess=9&by=2&every=3.0&model=3")
	if l.View.Shared() != "every=3&by=2" || l.View.Query() != "every=3&by=2&guess=9" {
		t.Errorf("the view is %q, shared %q", l.View.Query(), l.View.Shared())
	}
	if l.T != 45 || l.Speed != course.Half || l.Panel != "log" || !l.PanelNamed || !l.Predict {
		t.Errorf("the link is %+v", l)
	}
	if !slices.Equal(l.Hide, []string{"controls", "text"}) || !slices.Equal(l.Lock, []string{"count", "by"}) {
		t.Errorf("hidden are %v, locked %v", l.Hide, l.Lock)
	}
	for _, name := range course.Hideable() {
		if got, want := l.Hides(name), name == "controls" || name == "text"; got != want {
			t.Errorf("it hides %s: %v", name, got)
		}
	}
	for _, s := range counter.Settings() {
		if got, want := l.Locks(s.Name), s.Name != "every"; got != want {
			t.Errorf("it locks %s: %v", s.Name, got)
		}
	}
	const query = "every=3&by=2&guess=9&t=4.5&speed=0.5&panel=log&predict=required&hide=controls,text&lock=count,by"
	if l.Query() != query || l.Address() != "/lessons/counter?"+query || l.Public() != "/lessons/counter?model=3&"+query || l.At("card.png") != "/lessons/counter/card.png?"+query {
		t.Errorf("it is written %s\n%s\n%s\n%s", l.Query(), l.Address(), l.Public(), l.At("card.png"))
	}
}

func TestALinkIsWrittenWithWhatIsNotOpening(t *testing.T) {
	atEnd := coursetest.Counter{OpensAtEnd: true}
	for _, c := range []struct {
		name        string
		lesson      course.Lesson
		query, want string
	}{
		{"opening settings", counter, "count=30&every=2&by=1", ""},
		{"a setting between two opening ones", counter, "count=30&every=2.50&by=1", "every=2.5"},
		{"settings in the contract's order", counter, "by=2&count=3", "count=3&by=2"},
		{"an opening player", counter, "t=0&speed=1&panel=settings", ""},
		{"an instant in its shortest form", counter, "t=60.0", "t=60"},
		{"the model goes without saying", counter, "model=3&by=2", "by=2"},
		{"the end of a run that opens there", atEnd, "t=60", ""},
		{"the end of another run that opens there", atEnd, "every=3&t=90", "every=3"},
		{"the beginning of a run that opens at its end", atEnd, "t=0", "t=0"},
		{"names as checkboxes send them", counter, "hide=text&hide=trace&lock=every&lock=count", "hide=trace,text&lock=count,every"},
		{"all settings locked one by one", counter, "lock=by,every,count", "lock=all"},
		{"all settings locked", counter, "lock=all", "lock=all"},
		{"all settings locked, and one again", counter, "lock=by,all", "lock=all"},
		{"a run that is not seen before the prediction", counter, "predict=required&t=30", "predict=required"},
		{"nor where it opens at its end", atEnd, "predict=required", "t=0&predict=required"},
		{"a run that is seen after the prediction", counter, "predict=required&t=30&guess=30", "guess=30&t=30&predict=required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parse(t, c.lesson, c.query).Query(); got != c.want {
				t.Errorf("%s is written %q, want %q", c.query, got, c.want)
			}
		})
	}
}

const allowedNames = "with commas between, each once"

func TestALinkThatIsNotAllowedIsRefused(t *testing.T) {
	for _, c := range []struct{ query, name, got, words string }{
		{"model=2", "model", "2", "3"},
		{"model=03", "model", "03", "3"},
		{"model=3&model=3", "model", "3, 3", "one value"},
		{"t=60.1", "t", "60.1", "from 0 to 60 s"},
		{"t=60.1&count=20", "t", "60.1", "from 0 to 40 s"},
		{"t=0.1&count=0", "t", "0.1", "from 0 to 0 s"},
		{"t=-1", "t", "-1", "from 0 to 60 s"},
		{"t=4.55", "t", "4.55", "steps of 0.1 s"},
		{"t=1e1", "t", "1e1", "plain decimal"},
		{"t=1&t=2", "t", "1, 2", "one value"},
		{"t=70&predict=required", "t", "70", "from 0 to 60 s"},
		{"speed=3", "speed", "3", "0.5, 1, 2, 4 or 8"},
		{"speed=", "speed", "", "0.5, 1, 2, 4 or 8"},
		{"panel=inspector", "panel", "inspector", "one of settings, log, table"},
		{"panel=", "panel", "", "one of settings, log, table"},
		{"hide=verdict", "hide", "verdict", "controls, trace, results, inspector, text, " + allowedNames},
		{"hide=", "hide", "", allowedNames},
		{"hide=text,text", "hide", "text,text", allowedNames},
		{"hide=text&hide=text", "hide", "text,text", allowedNames},
		{"hide=text,", "hide", "text,", allowedNames},
		{"lock=guess", "lock", "guess", "count, every, by, all, " + allowedNames},
		{"lock=all,all", "lock", "all,all", allowedNames},
		{"lock=", "lock", "", allowedNames},
		{"predict=1", "predict", "1", "required"},
		{"predict=required&predict=required", "predict", "required, required", "one value"},
		{"by=201", "by", "201", "1 to 200"},
		{"by=2&by=3", "by", "2, 3", "one value"},
		{"guess=0", "guess", "0", "from 1"},
		{"milk=1", "milk", "1", "count, every, by"},
	} {
		t.Run(c.query, func(t *testing.T) {
			_, err := course.ParseLink(counter, values(t, c.query))
			wantRefused(t, err, c.name, c.got, c.words)
		})
	}
	_, err := course.ParseLink(coursetest.Counter{Silent: true, Number: 4}, values(t, "predict=required"))
	wantRefused(t, err, "predict", "required", "nothing in lesson 4")
}

func TestALinkWaitsAndHoldsBackUntilItIsPredictedAndSeen(t *testing.T) {
	for _, c := range []struct {
		name, query       string
		waits, seen, held bool
	}{
		{"open, at the beginning", "", false, false, false},
		{"open, on the way", "t=30", false, false, false},
		{"open, at the end", "t=60", false, true, false},
		{"to be predicted", "predict=required", true, false, true},
		{"to be predicted, at the end", "predict=required&t=60", true, false, true},
		{"predicted, at the beginning", "predict=required&guess=9", false, false, true},
		{"predicted, on the way", "predict=required&guess=9&t=59.9", false, false, true},
		{"predicted, at the end", "predict=required&guess=9&t=60", false, true, false},
		{"guessed freely, on the way", "guess=9&t=30", false, false, false},
		{"to be predicted, of a run that takes no time", "predict=required&count=0", true, false, true},
		{"predicted, of a run that takes no time", "predict=required&count=0&guess=9", false, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := parse(t, counter, c.query)
			if l.Waits() != c.waits || l.Seen() != c.seen || l.Held() != c.held {
				t.Errorf("waits %v, seen %v, held back %v; want %v, %v, %v", l.Waits(), l.Seen(), l.Held(), c.waits, c.seen, c.held)
			}
			if l.Waits() && l.T != 0 {
				t.Errorf("it waits at %v s", l.T)
			}
		})
	}
}

func TestALinkWithAnotherViewStandsWithinItsRun(t *testing.T) {
	for _, c := range []struct{ query, change, want string }{
		{"t=30", "every=3", "every=3&t=30"},
		{"t=30", "every=1", "every=1&t=30"},
		{"t=50", "every=1", "every=1&t=30"},
		{"t=60", "every=1", "every=1&t=30"},
		{"t=60", "every=3", "every=3&t=90"},
		{"t=30&speed=2&panel=log&predict=required&guess=9&lock=by", "by=2", "by=2&t=30&speed=2&panel=log&predict=required&lock=by"},
	} {
		l := parse(t, counter, c.query)
		view, err := l.View.Change(values(t, c.change))
		if err != nil {
			t.Fatal(err)
		}
		if got := l.With(view).Query(); got != c.want {
			t.Errorf("%s with %s is %s, want %s", c.query, c.change, got, c.want)
		}
		if got := parse(t, counter, c.query).Query(); l.Query() != got {
			t.Errorf("the link itself became %s, was %s", l.Query(), got)
		}
	}
}

func TestAFramesLinkNamesItsPanel(t *testing.T) {
	for query, want := range map[string]string{"": "/embed/lessons/counter", "panel=settings": "/embed/lessons/counter?panel=settings", "panel=log": "/embed/lessons/counter?panel=log"} {
		l := parse(t, counter, query)
		l.Embedded = true
		if got := l.Address(); got != want {
			t.Errorf("%q is at %s, want %s", query, got, want)
		}
	}
}

// randomLink is the query of any link, in no order and with opening values in it.
func randomLink(r *rand.Rand) string {
	parts := strings.Split(coursetest.RandomQuery(r), "&")
	pick := func(name string, from ...string) {
		if r.IntN(2) > 0 {
			parts = append(parts, name+"="+from[r.IntN(len(from))])
		}
	}
	some := func(from []string) string {
		from = slices.Clone(from)
		r.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
		return strings.Join(from[:1+r.IntN(len(from))], ",")
	}
	pick("t", "0", "0.0", "0.1", "3", "17.50")
	pick("speed", "0.5", "1", "2", "4", "8")
	pick("panel", "settings", "log", "table")
	pick("predict", "required")
	pick("guess", "1", "77")
	pick("model", "3")
	pick("hide", some(course.Hideable()))
	pick("lock", some([]string{"count", "every", "by", "all"}))
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts, "&")
}

func TestALinkReadsAsItIsWritten(t *testing.T) {
	t.Logf("seed %d (-seed)", *seed)
	r := rand.New(rand.NewPCG(*seed, 0))
	taken := 0
	for range 5000 {
		lesson := coursetest.Counter{OpensAtEnd: r.IntN(2) > 0}
		query := randomLink(r)
		l, err := course.ParseLink(lesson, values(t, query))
		if err != nil { // a run may end before the instant
			wantRefused(t, err, "t", values(t, query).Get("t"), "from 0 to")
			continue
		}
		taken++
		if err := comesBack(lesson, l); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	if taken < 4000 {
		t.Errorf("only %d links were taken", taken)
	}
}

// comesBack reports where a link, written and read again, says something else.
func comesBack(lesson course.Lesson, l course.Link) error {
	for _, written := range []string{l.Query(), strings.TrimPrefix(l.Public(), l.Path()+"?")} {
		values, err := url.ParseQuery(written)
		if err != nil {
			return err
		}
		again, err := course.ParseLink(lesson, values)
		if err != nil {
			return fmt.Errorf("written %s: %w", written, err)
		}
		want := l
		want.PanelNamed = l.Panel != lesson.Tabs()[0].ID // a page's link is silent on the first
		if got, want := fmt.Sprintf("%+v", again), fmt.Sprintf("%+v", want); got != want {
			return fmt.Errorf("written %s\ngot  %s\nwant %s", written, got, want)
		}
		if again.Query() != l.Query() {
			return fmt.Errorf("written %s, and then %s", l.Query(), again.Query())
		}
	}
	if l.T < 0 || l.T > l.View.Run().End() || l.Waits() && l.T != 0 {
		return fmt.Errorf("it stands at %v s of %v", l.T, l.View.Run().End())
	}
	return nil
}

func FuzzParseLink(f *testing.F) {
	for _, query := range []string{"", "count=3&t=6", "t=60.0&speed=0.5&panel=log", "predict=required&guess=3&hide=text,trace&lock=all", "hide=text&hide=text", "lock=",
		"model=3&by=%32", "count=0&t=0", "every=0.1&count=300&t=30", "panel=settings", "t=1&t=1", "guess=01", "=&=", "t=.5"} {
		f.Add(query, false)
		f.Add(query, true)
	}
	f.Fuzz(func(t *testing.T, query string, atEnd bool) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		lesson := coursetest.Counter{OpensAtEnd: atEnd}
		l, err := course.ParseLink(lesson, values)
		if err == nil {
			err = comesBack(lesson, l)
		} else if errors.As(err, new(*setting.Error)) {
			err = nil
		}
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
	})
}

func TestAnInstantIsReadWithinItsRun(t *testing.T) {
	for text, want := range map[string]setting.Time{"0": 0, "60": 600, "60.0": 600, "4.5": 45, "59.9": 599} {
		if got, err := course.ParseT(text, 600); err != nil || got != want {
			t.Errorf("t %q reads as %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "60.1", "61", "4.55", "1e1", "x", "4.", ".5", "99999999999"} {
		_, err := course.ParseT(text, 600)
		wantRefused(t, err, "t", text, "from 0 to 60 s")
	}
}

func TestWhoSawTheWholeRunSeesTheWholeOfTheNext(t *testing.T) {
	for _, c := range []struct{ t, was, is, want setting.Time }{
		{0, 600, 900, 0}, {300, 600, 900, 300}, {300, 600, 300, 300}, {300, 600, 200, 200}, {600, 600, 900, 900}, {600, 600, 300, 300}, {600, 600, 600, 600}, {300, 600, 0, 0},
	} {
		if got := course.Keep(c.t, c.was, c.is); got != c.want {
			t.Errorf("at %v of %v s, then of %v s: %v, want %v", c.t, c.was, c.is, got, c.want)
		}
	}
}

func TestTakeTakesOneValueOut(t *testing.T) {
	query := url.Values{"a": {"1"}, "b": {"2", "3"}, "c": {}}
	got := ""
	read := func(text string) error { got += text; return nil }
	if err := course.Take(query, "a", read); err != nil || got != "1" {
		t.Errorf("a reads as %q, %v", got, err)
	}
	if err := course.Take(query, "missing", read); err != nil || got != "1" {
		t.Errorf("what is missing reads as %q, %v", got, err)
	}
	wantRefused(t, course.Take(query, "b", read), "b", "2, 3", "one value")
	wantRefused(t, course.Take(query, "c", read), "c", "", "one value")
	if wrong := errors.New("wrong"); !errors.Is(course.Take(url.Values{"d": {""}}, "d", func(string) error { return wrong }), wrong) {
		t.Error("the reader's error is lost")
	}
	if len(query) != 0 || got != "1" {
		t.Errorf("%v is left, and %q was read", query, got)
	}
}
