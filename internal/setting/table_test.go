package setting_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"drainlab/internal/setting"
)

// tea is what one can set for a pot of tea: a control of every kind.
type tea struct {
	Cups  int
	Steep setting.Time
	Cool  setting.Time // or no bound
	Lid   bool
	Leaf  uint8
	Sugar grams // 0, or from 2 g on
}

// grams is a number of another type than those of package setting.
type grams int

func (g *grams) Amount() setting.Time     { return setting.Time(*g) * setting.Whole }
func (g *grams) SetAmount(v setting.Time) { *g = grams(v / setting.Whole) }

var pot = setting.Table[tea]{
	{Name: "cups", Label: "Cups", Min: setting.Whole, Max: 6 * setting.Whole, Step: setting.Whole, Grain: setting.Whole, Opening: 2 * setting.Whole,
		Field: func(t *tea) any { return &t.Cups }},
	{Name: "steep", Label: "Steeps for", Unit: "s", Min: 3, Max: 120, Step: 5, Grain: setting.Tenth, Opening: 45,
		Field: func(t *tea) any { return &t.Steep }},
	{Name: "cool", Label: "Cools for", Unit: "s", None: true, Max: 30, Step: 5, Grain: setting.Tenth, Opening: setting.None,
		Field: func(t *tea) any { return &t.Cool }},
	{Name: "lid", Label: "Lid on", Toggle: true, Opening: setting.On,
		Field: func(t *tea) any { return &t.Lid }},
	{Name: "leaf", Label: "Leaf", Words: []string{"green", "black", "none"}, Opening: 1,
		Field: func(t *tea) any { return &t.Leaf }},
	{Name: "sugar", Label: "Sugar (0: none)", Unit: "g", OrZero: true, Min: 2 * setting.Whole, Max: 8 * setting.Whole, Step: setting.Whole, Grain: setting.Whole,
		Field: func(t *tea) any { return &t.Sugar }},
}

const openingQuery = "cups=2&steep=4.5&cool=none&lid=1&leaf=black&sugar=0"

func brewed() tea { return tea{Cups: 2, Steep: 45, Cool: setting.None, Lid: true, Leaf: 1} }

func TestWhatIsLeftOutOpens(t *testing.T) {
	if got := pot.Opening(); got != brewed() {
		t.Errorf("Opening() = %+v, want %+v", got, brewed())
	}
	if got, err := pot.Parse(nil); err != nil || got != brewed() {
		t.Errorf("nothing gives %+v, %v", got, err)
	}
	if got, err := pot.ParseJSON([]byte("{}")); err != nil || got != brewed() {
		t.Errorf("{} gives %+v, %v", got, err)
	}
	if err := pot.Validate(brewed()); err != nil {
		t.Error(err)
	}
}

func TestSettingsAreReadAndWritten(t *testing.T) {
	for _, c := range []struct {
		query string // what is read
		whole string // what is written
		json  string
		want  tea
	}{
		{"", openingQuery, `{"cups":2,"steep":4.5,"cool":"none","lid":true,"leaf":"black","sugar":0}`, brewed()},
		{"cups=6&steep=12&cool=3&lid=0&leaf=green&sugar=8", "cups=6&steep=12&cool=3&lid=0&leaf=green&sugar=8",
			`{"cups":6,"steep":12,"cool":3,"lid":false,"leaf":"green","sugar":8}`, tea{Cups: 6, Steep: 120, Cool: 30, Sugar: 8}},
		{"cups=01.0&steep=0.30&cool=0&leaf=none&sugar=2", "cups=1&steep=0.3&cool=0&lid=1&leaf=none&sugar=2",
			`{"cups":1,"steep":0.3,"cool":0,"lid":true,"leaf":"none","sugar":2}`, tea{Cups: 1, Steep: 3, Lid: true, Leaf: 2, Sugar: 2}},
		{"cool=none&lid=0", "cups=2&steep=4.5&cool=none&lid=0&leaf=black&sugar=0",
			`{"cups":2,"steep":4.5,"cool":"none","lid":false,"leaf":"black","sugar":0}`, tea{Cups: 2, Steep: 45, Cool: setting.None, Leaf: 1}},
	} {
		values, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pot.Parse(values)
		if err != nil || got != c.want {
			t.Errorf("%q gives %+v, %v, want %+v", c.query, got, err, c.want)
		}
		if query := string(pot.AppendQuery([]byte("/?"), got)); query != "/?"+c.whole {
			t.Errorf("%q is written %s, want /?%s", c.query, query, c.whole)
		}
		text := pot.AppendJSON([]byte("["), got)
		if string(text) != "["+c.json {
			t.Errorf("%q is written %s, want [%s", c.query, text, c.json)
		}
		if again, err := pot.ParseJSON(text[1:]); err != nil || again != c.want {
			t.Errorf("%s gives %+v, %v, want %+v", text[1:], again, err, c.want)
		}
	}
}

func TestAChangeKeepsTheRestAndARefusedOneAll(t *testing.T) {
	s := tea{Cups: 4, Steep: 77, Cool: 5, Leaf: 2, Sugar: 3}
	if err := pot.Change(&s, url.Values{"lid": {"1"}, "steep": {"8"}}); err != nil {
		t.Fatal(err)
	}
	want := tea{Cups: 4, Steep: 80, Cool: 5, Lid: true, Leaf: 2, Sugar: 3}
	if s != want {
		t.Errorf("changed to %+v, want %+v", s, want)
	}
	for _, values := range []url.Values{{"cups": {"1"}, "leaf": {"red"}}, {"cups": {"1"}, "milk": {"1"}}, {"cups": {"1", "2"}}, {"cups": {}}} {
		if err := pot.Change(&s, values); err == nil || s != want {
			t.Errorf("%v: %v, and left %+v", values, err, s)
		}
	}
	if err := pot.Change(&s, url.Values{}); err != nil || s != want {
		t.Errorf("no change: %v, %+v", err, s)
	}
}

const (
	allowedCups  = "a whole number from 1 to 6"
	allowedSteep = "a plain decimal number from 0.3 to 12 s in steps of 0.1 s"
	allowedCool  = "a plain decimal number from 0 to 3 s in steps of 0.1 s, or none"
	allowedLid   = "1 (on) or 0 (off)"
	allowedLeaf  = "one of green, black, none"
	allowedSugar = "a whole number from 2 to 8 g, or 0 for none"
	unknown      = "no setting of this name; there are cups, steep, cool, lid, leaf, sugar"
)

func TestWhatIsNotAllowedIsRefused(t *testing.T) {
	for _, c := range []struct{ query, setting, label, got, allowed string }{
		{"cups=0", "cups", "Cups", "0", allowedCups},
		{"cups=7", "cups", "Cups", "7", allowedCups},
		{"cups=1.5", "cups", "Cups", "1.5", allowedCups},
		{"cups=none", "cups", "Cups", "none", allowedCups},
		{"steep=0.2", "steep", "Steeps for", "0.2", allowedSteep},
		{"steep=12.1", "steep", "Steeps for", "12.1", allowedSteep},
		{"steep=4.55", "steep", "Steeps for", "4.55", allowedSteep},
		{"steep=0", "steep", "Steeps for", "0", allowedSteep},
		{"steep=none", "steep", "Steeps for", "none", allowedSteep},
		{"steep=1e0", "steep", "Steeps for", "1e0", allowedSteep},
		{"steep=", "steep", "Steeps for", "", allowedSteep},
		{"cool=-0.1", "cool", "Cools for", "-0.1", allowedCool},
		{"cool=3.1", "cool", "Cools for", "3.1", allowedCool},
		{"cool=never", "cool", "Cools for", "never", allowedCool},
		{"cool=None", "cool", "Cools for", "None", allowedCool},
		{"lid=2", "lid", "Lid on", "2", allowedLid},
		{"lid=on", "lid", "Lid on", "on", allowedLid},
		{"lid=00", "lid", "Lid on", "00", allowedLid},
		{"lid=", "lid", "Lid on", "", allowedLid},
		{"leaf=Green", "leaf", "Leaf", "Green", allowedLeaf},
		{"leaf=1", "leaf", "Leaf", "1", allowedLeaf},
		{"leaf=", "leaf", "Leaf", "", allowedLeaf},
		{"sugar=1", "sugar", "Sugar (0: none)", "1", allowedSugar},
		{"sugar=9", "sugar", "Sugar (0: none)", "9", allowedSugar},
		{"cups=1&cups=1", "cups", "Cups", "1, 1", "one value"},
		{"milk=1", "milk", "", "1", unknown},
		{"milk=1&cups=9", "cups", "Cups", "9", allowedCups},
		{"milk=1&cups=1&honey=2&honey=3", "honey", "", "2, 3", unknown},
		{"leaf=red&cups=9", "cups", "Cups", "9", allowedCups},
	} {
		values, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		_, err = pot.Parse(values)
		wantError(t, c.query, err, setting.Error{Setting: c.setting, Label: c.label, Got: c.got, Allowed: c.allowed})
	}
}

func TestJSONThatIsNotAllowedIsRefused(t *testing.T) {
	const onOff = "true or false"
	for _, c := range []struct{ text, setting, label, got, allowed string }{
		{`{"cups":7}`, "cups", "Cups", "7", allowedCups},
		{`{"cups":1.5}`, "cups", "Cups", "1.5", allowedCups},
		{`{"cups":"2"}`, "cups", "Cups", `the text "2"`, allowedCups},
		{`{"cups":true}`, "cups", "Cups", "true", allowedCups},
		{`{"cups":null}`, "cups", "Cups", "null", allowedCups},
		{`{"cups":[2]}`, "cups", "Cups", "an object or a list", allowedCups},
		{`{"steep":1e0}`, "steep", "Steeps for", "1e0", allowedSteep},
		{`{"steep":"none"}`, "steep", "Steeps for", `the text "none"`, allowedSteep},
		{`{"cool":"nothing"}`, "cool", "Cools for", `the text "nothing"`, allowedCool},
		{`{"cool":-0.1}`, "cool", "Cools for", "-0.1", allowedCool},
		{`{"lid":1}`, "lid", "Lid on", "1", onOff},
		{`{"lid":"1"}`, "lid", "Lid on", `the text "1"`, onOff},
		{`{"leaf":1}`, "leaf", "Leaf", "1", allowedLeaf},
		{`{"leaf":"red"}`, "leaf", "Leaf", "red", allowedLeaf},
		{`{"leaf":{}}`, "leaf", "Leaf", "an object or a list", allowedLeaf},
		{`{"sugar":1}`, "sugar", "Sugar (0: none)", "1", allowedSugar},
		{`{"cups":1,"cups":1}`, "cups", "Cups", "1 a second time", "one value"},
		{`{"lid":true,"cups":1,"lid":true}`, "lid", "Lid on", "true a second time", "one value"},
		{`{"cool":"none","cool":"none"}`, "cool", "Cools for", "none a second time", "one value"},
		{`{"leaf":"none","leaf":"black"}`, "leaf", "Leaf", "black a second time", "one value"},
		{`{"milk":1}`, "milk", "", "1", unknown},
	} {
		_, err := pot.ParseJSON([]byte(c.text))
		wantError(t, c.text, err, setting.Error{Setting: c.setting, Label: c.label, Got: c.got, Allowed: c.allowed})
	}
	for _, text := range []string{"", "{", "[]", "null", "2", `{"cups"`, `{"cups":1`, `{"cups":1,}`, `{"cups":1}{}`, `{"cups":1}]`, `{"sugar":01}`, "{\"cups\":\x00}"} {
		s, err := pot.ParseJSON([]byte(text))
		if err == nil || err.Error() == "" || errors.As(err, new(*setting.Error)) {
			t.Errorf("%q gives %+v, %v, want an error about the JSON", text, s, err)
		}
	}
}

func wantError(t *testing.T, what string, err error, want setting.Error) {
	t.Helper()
	var got *setting.Error
	if !errors.As(err, &got) || *got != want {
		t.Errorf("%s: %v (%#v), want %#v", what, err, got, want)
		return
	}
	rest := fmt.Sprintf(": got %q; allowed: %s", want.Got, want.Allowed)
	if err.Error() != fmt.Sprintf("%q", want.Setting)+rest {
		t.Errorf("%s: %s", what, err)
	}
	person := want.Label
	if person == "" {
		person = fmt.Sprintf("%q", want.Setting)
	}
	if got.Sentence() != person+rest {
		t.Errorf("%s, to a person: %s", what, got.Sentence())
	}
}

func TestValidateNamesTheFirstOutOfRange(t *testing.T) {
	for name, spoil := range map[string]func(*tea){
		"cups":  func(s *tea) { s.Cups, s.Lid, s.Leaf = 7, false, 9 },
		"steep": func(s *tea) { s.Steep, s.Sugar = 2, 1 },
		"cool":  func(s *tea) { s.Cool, s.Leaf = 31, 3 },
		"leaf":  func(s *tea) { s.Leaf = 3 },
		"sugar": func(s *tea) { s.Sugar = 1 },
	} {
		s := brewed()
		spoil(&s)
		var got *setting.Error
		if err := pot.Validate(s); !errors.As(err, &got) || got.Setting != name || got.Got == "" {
			t.Errorf("%+v: %v, want an error about %s", s, err, name)
		}
	}
	for _, cups := range []int{-1 << 40, -1, 0, 7, 1<<31/10 + 1, 429496730, 1 << 40} { // in tenths some of them are in range, were they to wrap
		s := brewed()
		s.Cups = cups
		if pot.Validate(s) == nil {
			t.Errorf("%d cups are in range", cups)
		}
	}
}

// randomTea is any allowed tea.
func randomTea(rng *rand.Rand) tea {
	var s tea
	for i := range pot {
		amounts := every(&pot[i])
		pot[i].Set(&s, amounts[rng.IntN(len(amounts))])
	}
	return s
}

func TestEverythingComesBack(t *testing.T) {
	const seed = 1
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 1_000 {
		s := randomTea(rng)
		if err := comesBack(s); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func comesBack(s tea) error {
	if err := pot.Validate(s); err != nil {
		return err
	}
	query := string(pot.AppendQuery(nil, s))
	values, err := url.ParseQuery(query)
	if err != nil {
		return err
	}
	if got, err := pot.Parse(values); err != nil || got != s {
		return fmt.Errorf("query %s of %+v comes back as %+v, %v", query, s, got, err)
	}
	var changed tea
	if err := pot.Change(&changed, values); err != nil || changed != s {
		return fmt.Errorf("query %s changes to %+v, %v, want %+v", query, changed, err, s)
	}
	text := pot.AppendJSON(nil, s)
	if got, err := pot.ParseJSON(text); err != nil || got != s {
		return fmt.Errorf("JSON %s of %+v comes back as %+v, %v", text, s, got, err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return fmt.Errorf("JSON %s: %w", text, err)
	}
	cool := any(float64(s.Cool) / 10)
	if s.Cool == setting.None {
		cool = "none"
	}
	if want := map[string]any{"cups": float64(s.Cups), "steep": float64(s.Steep) / 10, "cool": cool, "lid": s.Lid,
		"leaf": []string{"green", "black", "none"}[s.Leaf], "sugar": float64(s.Sugar)}; !reflect.DeepEqual(object, want) {
		return fmt.Errorf("JSON %s reads as %v, want %v", text, object, want)
	}
	for i := range pot {
		c := &pot[i]
		again := brewed()
		if err := c.Parse(&again, c.Text(s)); err != nil || c.Amount(again) != c.Amount(s) || c.TextOf(c.Amount(s)) != c.Text(s) {
			return fmt.Errorf("%s: %s comes back as %s, %v", c.Name, c.Text(s), c.Text(again), err)
		}
	}
	return nil
}

func TestOneControlParses(t *testing.T) {
	c, ok := pot.Find("cool")
	if !ok || c.Label != "Cools for" {
		t.Fatalf("Find gives %q, %v", c.Label, ok)
	}
	s := brewed()
	if err := c.Parse(&s, "2.5"); err != nil || s.Cool != 25 {
		t.Errorf("2.5 gives %+v, %v", s, err)
	}
	if err := c.Parse(&s, "3.5"); err == nil || s.Cool != 25 {
		t.Errorf("3.5 gives %+v, %v", s, err)
	}
	for _, name := range []string{"", "Cool", "cool ", "milk"} {
		if c, ok := pot.Find(name); ok || c.Name != "" {
			t.Errorf("Find(%q) gives %q", name, c.Name)
		}
	}
}

func TestQuoteKeepsForeignTextShortAndOnOneLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `""`},
		{"a\nb\x1b\"", `"a\nb\x1b\""`},
		{strings.Repeat("x", 80), `"` + strings.Repeat("x", 80) + `"`},
		{strings.Repeat("x", 81), `"` + strings.Repeat("x", 80) + `"… (81 bytes)`},
		{strings.Repeat("x", 79) + "éé", `"` + strings.Repeat("x", 79) + `"… (83 bytes)`},
		{strings.Repeat("\xa9", 100), `""… (100 bytes)`},
	} {
		if got := setting.Quote(c.text); got != c.want {
			t.Errorf("Quote(%q) = %s, want %s", c.text, got, c.want)
		}
	}
}

func FuzzParseQuery(f *testing.F) {
	for _, query := range []string{"", openingQuery, "cups=7", "cool=none&steep=none", "lid=01", "leaf=none&leaf=none", "sugar=1", "milk=%ff", "cups=01.0", "=", "steep=4.50"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		s, err := pot.Parse(values)
		if err == nil {
			err = comesBack(s)
		} else if errors.As(err, new(*setting.Error)) {
			err = nil
		}
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
	})
}

func FuzzParseJSON(f *testing.F) {
	for _, text := range []string{"", "{}", `{"cups":2,"steep":4.5,"cool":"none","lid":true,"leaf":"black","sugar":0}`, `{"lid":1}`, `{"cool":"x"}`,
		`{"cups":1,"cups":2}`, `{"leaf":"none"}`, `{"cups":{"a":[`, `{"cups":1}{}`, `{"milk":null}`, `[{"cups":1}]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := pot.ParseJSON(data)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a text")
			}
			return
		}
		if err := comesBack(s); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(data) {
			t.Fatalf("%q is taken and is not JSON", data)
		}
	})
}
