package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"drainlab/internal/setting"
)

// Schema is a JSON schema. Its methods return another one with one keyword
// more; the empty Schema takes everything.
type Schema struct{ keywords object }

// MarshalJSON writes the keywords in the order in which they were added.
func (s Schema) MarshalJSON() ([]byte, error) { return s.keywords.MarshalJSON() }

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// with returns the object with a member, at its old place if it is there.
func (o object) with(name string, value any) object {
	o = slices.Clone(o)
	if i := o.find(name); i >= 0 {
		o[i].value = value
		return o
	}
	return append(o, member{name, value})
}

func (o object) find(name string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.name == name })
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		b.Write(append(append(name, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (s Schema) with(keyword string, value any) Schema {
	return Schema{s.keywords.with(keyword, value)}
}

// list is the keyword's value, a list, or nil.
func list[T any](s Schema, keyword string) []T {
	if i := s.keywords.find(keyword); i >= 0 {
		return s.keywords[i].value.([]T)
	}
	return nil
}

// Type takes all values of a type: "string", "null" and so on.
func Type(name string) Schema { return Schema{}.with("type", name) }

// Text takes text.
func Text() Schema { return Type("string") }

// Boolean takes true and false.
func Boolean() Schema { return Type("boolean") }

// Number takes numbers.
func Number() Schema { return Type("number") }

// Integer takes whole numbers.
func Integer() Schema { return Type("integer") }

// From takes whole numbers from min on.
func From(min int) Schema { return Integer().with("minimum", min) }

// Whole takes whole numbers from min to max.
func Whole(min, max int) Schema { return From(min).with("maximum", max) }

// Tenths takes seconds from min to max in whole tenths.
func Tenths(min, max setting.Time) Schema { return amounts(min, max, setting.Tenth) }

// amounts takes numbers from min to max in steps of grain.
func amounts(min, max, grain setting.Time) Schema {
	if grain == setting.Whole {
		return Whole(int(min/grain), int(max/grain))
	}
	return Number().with("minimum", number(min)).with("maximum", number(max)).MultipleOf(grain.String())
}

// number writes an amount as it is, and not as a float would.
func number(v setting.Time) json.Number { return json.Number(v.String()) }

// Enum takes one of these words or numbers.
func Enum[T string | int](values ...T) Schema {
	if _, text := any(values).([]string); text {
		return Text().with("enum", values)
	}
	return Integer().with("enum", values)
}

// Words takes one of the names of these values.
func Words[T fmt.Stringer](values ...T) Schema {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = v.String()
	}
	return Enum(words...)
}

// Const takes one value.
func Const(value any) Schema { return Schema{}.with("const", value) }

// Ref takes what the document's schema of that name takes.
func Ref(name string) Schema { return Schema{}.with("$ref", schemaPath+name) }

const schemaPath = "#/components/schemas/"

// AnyOf takes what at least one of the schemas takes.
func AnyOf(schemas ...Schema) Schema { return Schema{}.with("anyOf", schemas) }

// OneOf takes what exactly one of the schemas takes.
func OneOf(schemas ...Schema) Schema { return Schema{}.OneOf(schemas...) }

// OneOf takes of s what exactly one of the schemas takes too.
func (s Schema) OneOf(schemas ...Schema) Schema { return s.with("oneOf", schemas) }

// If takes of s what then takes where cond holds, and else what otherwise does.
func (s Schema) If(cond, then, otherwise Schema) Schema {
	return s.with("if", cond).with("then", then).with("else", otherwise)
}

// List takes lists of items.
func List(items Schema) Schema { return Type("array").with("items", items) }

// AtLeast bounds a list's length.
func (s Schema) AtLeast(items int) Schema { return s.with("minItems", items) }

// AtMost bounds a list's length.
func (s Schema) AtMost(items int) Schema { return s.with("maxItems", items) }

// Long bounds a text's length in characters; max 0: there is no bound.
func (s Schema) Long(min, max int) Schema {
	if min > 0 {
		s = s.with("minLength", min)
	}
	if max > 0 {
		s = s.with("maxLength", max)
	}
	return s
}

// MultipleOf takes multiples of a decimal number.
func (s Schema) MultipleOf(decimal string) Schema {
	return s.with("multipleOf", json.Number(decimal))
}

// Says gives the schema a description.
func (s Schema) Says(text string) Schema { return s.with("description", text) }

// Default is the value of what is left out.
func (s Schema) Default(value any) Schema { return s.with("default", value) }

// OrNull takes null too. It is for schemas of one type.
func (s Schema) OrNull() Schema {
	i := s.keywords.find("type")
	return s.with("type", []string{s.keywords[i].value.(string), "null"})
}

// Object takes objects that have the members which Has and Maybe name, and no
// others.
func Object(description string) Schema {
	return Type("object").Says(description).with("additionalProperties", false)
}

// Has adds a member that must be there.
func (s Schema) Has(name string, member Schema) Schema {
	return s.Maybe(name, member).Requires(name)
}

// Maybe adds a member that may be left out.
func (s Schema) Maybe(name string, member Schema) Schema { return s.property(name, member) }

// Where takes of all objects those in which the member, if it is there, is so.
func Where(name string, member Schema) Schema { return Schema{}.Where(name, member) }

// Where adds a condition on a member that may be left out.
func (s Schema) Where(name string, member Schema) Schema { return s.property(name, member) }

// Without refuses members.
func (s Schema) Without(names ...string) Schema {
	for _, name := range names {
		s = s.property(name, false)
	}
	return s
}

func (s Schema) property(name string, value any) Schema {
	var properties object
	if i := s.keywords.find("properties"); i >= 0 {
		properties = s.keywords[i].value.(object)
	}
	return s.with("properties", properties.with(name, value))
}

// Counts adds members that must be there and are counts.
func (s Schema) Counts(count Schema, names ...string) Schema {
	for _, name := range names {
		s = s.Has(name, count)
	}
	return s
}

// Requires demands members.
func (s Schema) Requires(names ...string) Schema {
	return s.with("required", slices.Concat(list[string](s, "required"), names))
}

// Together demands that of these members all or none are there.
func (s Schema) Together(names ...string) Schema {
	var needs object
	for i, name := range names {
		needs = needs.with(name, slices.Delete(slices.Clone(names), i, i+1))
	}
	return s.with("dependentRequired", needs)
}
