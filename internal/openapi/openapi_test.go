package openapi_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"drainlab/internal/openapi"
	"drainlab/internal/setting"
)

// lamp is a table's settings, one of each kind.
type lamp struct {
	On     bool
	Colour uint8
	Bulbs  int
	Fade   setting.Time
	Sleep  setting.Time
	Blink  setting.Time
}

var lamps = setting.Table[lamp]{
	{Name: "on", Meaning: "It shines.", Toggle: true, Opening: setting.On, Field: func(l *lamp) any { return &l.On }},
	{Name: "colour", Meaning: "Of its light.", Words: []string{"red", "green"}, Opening: 1, Field: func(l *lamp) any { return &l.Colour }},
	{Name: "bulbs", Meaning: "How many it has.", Min: 10, Max: 80, Grain: setting.Whole, Opening: 40, Field: func(l *lamp) any { return &l.Bulbs }},
	{Name: "fade", Meaning: "Seconds until it is dark.", Min: 5, Max: 100, Grain: setting.Tenth, Opening: 15, Field: func(l *lamp) any { return &l.Fade }},
	{Name: "sleep", Meaning: "Seconds after which it goes off.", Max: 36000, Grain: setting.Tenth, None: true, Opening: setting.None, Field: func(l *lamp) any { return &l.Sleep }},
	{Name: "blink", Meaning: "Seconds between two.", Min: 2, Max: 20, Grain: setting.Tenth, OrZero: true, Field: func(l *lamp) any { return &l.Blink }},
}

func TestSchemasAreWritten(t *testing.T) {
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"a parameter of each kind of setting": {openapi.Query(lamps), `[
			{"name":"on","in":"query","description":"It shines. 1 is on, 0 is off.","schema":{"type":"string","enum":["0","1"],"default":"1"}},
			{"name":"colour","in":"query","description":"Of its light.","schema":{"type":"string","enum":["red","green"],"default":"green"}},
			{"name":"bulbs","in":"query","description":"How many it has.","schema":{"type":"integer","minimum":1,"maximum":8,"default":4}},
			{"name":"fade","in":"query","description":"Seconds until it is dark.","schema":{"type":"number","minimum":0.5,"maximum":10,"multipleOf":0.1,"default":1.5}},
			{"name":"sleep","in":"query","description":"Seconds after which it goes off.","schema":{"anyOf":[{"type":"number","minimum":0,"maximum":3600,"multipleOf":0.1},{"const":"none"}],"default":"none"}},
			{"name":"blink","in":"query","description":"Seconds between two.","schema":{"anyOf":[{"const":0},{"type":"number","minimum":0.2,"maximum":2,"multipleOf":0.1}],"default":0}}]`},
		"settings in JSON": {openapi.Settings(lamps[:2], "A lamp."), `{"type":"object","description":"A lamp.","additionalProperties":false,"properties":{
			"on":{"type":"boolean","default":true,"description":"It shines."},"colour":{"type":"string","enum":["red","green"],"default":"green","description":"Of its light."}}}`},
		"all settings":       {openapi.AllSettings(lamps[:2], "Lamp"), `{"$ref":"#/components/schemas/Lamp","required":["on","colour"]}`},
		"a path's parameter": {openapi.Parameter{Name: "id", Description: "Of it.", InPath: true, Schema: openapi.Text()}, `{"name":"id","in":"path","description":"Of it.","schema":{"type":"string"},"required":true}`},
		"an object": {openapi.Object("It.").Has("a", openapi.From(1)).Maybe("b", openapi.Number().OrNull()).Counts(openapi.From(0), "c", "d"),
			`{"type":"object","description":"It.","additionalProperties":false,"properties":{"a":{"type":"integer","minimum":1},"b":{"type":["number","null"]},
			"c":{"type":"integer","minimum":0},"d":{"type":"integer","minimum":0}},"required":["a","c","d"]}`},
		"a condition": {openapi.Schema{}.If(openapi.Where("a", openapi.Const("x")), openapi.Where("b", openapi.Schema{}.AtLeast(1)), openapi.Schema{}.Without("b", "c").Requires("d")),
			`{"if":{"properties":{"a":{"const":"x"}}},"then":{"properties":{"b":{"minItems":1}}},"else":{"properties":{"b":false,"c":false},"required":["d"]}}`},
		"members that go together": {openapi.Schema{}.Together("a", "b", "c"), `{"dependentRequired":{"a":["b","c"],"b":["a","c"],"c":["a","b"]}}`},
		"a list":                   {openapi.List(openapi.Words(setting.Time(5), setting.Time(20))).AtMost(3), `{"type":"array","items":{"type":"string","enum":["0.5","2"]},"maxItems":3}`},
		"a number":                 {openapi.Enum(1, 2), `{"type":"integer","enum":[1,2]}`},
		"a text of some length":    {openapi.Text().Long(1, 9), `{"type":"string","minLength":1,"maxLength":9}`},
		"below zero":               {openapi.Tenths(-35999, 5).MultipleOf("0.01"), `{"type":"number","minimum":-3599.9,"maximum":0.5,"multipleOf":0.01}`},
		"one of":                   {openapi.OneOf(openapi.Ref("A"), openapi.Boolean()), `{"oneOf":[{"$ref":"#/components/schemas/A"},{"type":"boolean"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(c.value)
			if err != nil {
				t.Fatal(err)
			}
			var want bytes.Buffer
			if err := json.Compact(&want, []byte(c.want)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want.Bytes()) {
				t.Errorf("got  %s\nwant %s", got, want.Bytes())
			}
		})
	}
}

// A schema that is used twice is not changed by either use.
func TestASchemaIsAValue(t *testing.T) {
	base := openapi.Object("It.").Has("a", openapi.Text())
	one, two := base.Has("b", openapi.Text()), base.Has("c", openapi.Text()).Says("Other.")
	for name, c := range map[string]struct {
		schema openapi.Schema
		want   string
	}{
		"base": {base, `"required":["a"]`}, "one": {one, `"required":["a","b"]`}, "two": {two, `"required":["a","c"]`},
	} {
		got, err := json.Marshal(c.schema)
		if err != nil || !strings.Contains(string(got), c.want) || strings.Contains(string(got), "Other.") != (name == "two") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// lampPart is a lesson's part with one operation, which names two schemas.
func lampPart(id, path string) openapi.Part {
	var p openapi.Part
	p.Post(path, openapi.Operation{ID: id, Tag: "lamps", Summary: "Light it", BodyOptional: true,
		Body: []openapi.Content{openapi.JSON(openapi.Ref("Lamp"))},
		Answers: []openapi.Answer{
			{Status: 200, Description: "Lit.", Headers: []openapi.Header{{Name: "Location", Description: "Of it."}}, Content: []openapi.Content{openapi.Lines(openapi.Ref("Lamp")), openapi.CSV("A row.")}},
			{Status: 503, Description: "Dark.", Content: []openapi.Content{openapi.Plain()}},
		}})
	return p
}

func TestPartsMakeOneDocument(t *testing.T) {
	first, second := lampPart("light", "/lamps"), lampPart("relight", "/lamps/{id}")
	first.Schema("Lamp", openapi.Settings(lamps, "A lamp."))
	first.Get("/lamps", openapi.Operation{ID: "look", Summary: "See it", Description: "Slowly.", Parameters: openapi.Query(lamps[:1])})
	data, err := openapi.Document{Title: "Lamps", Version: "1", Tags: []openapi.Tag{{Name: "lamps", Description: "All."}}, Parts: []openapi.Part{first, second}}.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		OpenAPI string
		Info    struct{ Title string }
		Paths   map[string]map[string]struct {
			OperationID string
			RequestBody *struct{ Required bool }
			Responses   map[string]struct {
				Headers map[string]any
				Content map[string]any
			}
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	light := doc.Paths["/lamps"]["post"]
	if doc.OpenAPI != "3.1.0" || doc.Info.Title != "Lamps" || len(doc.Paths) != 2 || len(doc.Components.Schemas) != 1 ||
		light.OperationID != "light" || doc.Paths["/lamps"]["get"].OperationID != "look" || doc.Paths["/lamps/{id}"]["post"].OperationID != "relight" {
		t.Errorf("%s", data)
	}
	if lit := light.Responses["200"]; light.RequestBody == nil || light.RequestBody.Required || len(light.Responses) != 2 || lit.Headers["Location"] == nil ||
		lit.Content["application/x-ndjson"] == nil || lit.Content["text/csv"] == nil {
		t.Errorf("%s", data)
	}
	if doc.Paths["/lamps"]["get"].RequestBody != nil {
		t.Error("an operation without a body has one")
	}
}

func TestADocumentThatContradictsItselfIsRefused(t *testing.T) {
	with := func(schemas ...string) openapi.Part {
		p := lampPart("light", "/lamps")
		for _, name := range schemas {
			p.Schema(name, openapi.Text())
		}
		return p
	}
	for name, c := range map[string]struct {
		parts []openapi.Part
		want  string // "": it is taken
	}{
		"it is whole":                      {[]openapi.Part{with("Lamp")}, ""},
		"a schema is missing":              {[]openapi.Part{with()}, `not there: ["Lamp"]`},
		"a schema is of no use":            {[]openapi.Part{with("Lamp", "Torch")}, `nothing refers to: ["Torch"]`},
		"two schemas have one name":        {[]openapi.Part{with("Lamp", "Lamp")}, "two schemas are called Lamp"},
		"two parts give one schema":        {[]openapi.Part{with("Lamp"), func() (p openapi.Part) { p.Schema("Lamp", openapi.Text()); return p }()}, "two schemas are called Lamp"},
		"two operations have one id":       {[]openapi.Part{with("Lamp"), lampPart("light", "/other")}, "two operations are called light"},
		"two operations are at one method": {[]openapi.Part{with("Lamp"), lampPart("relight", "/lamps")}, "two operations are post /lamps"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openapi.Document{Parts: c.parts}.JSON()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
