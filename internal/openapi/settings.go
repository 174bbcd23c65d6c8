package openapi

import "drainlab/internal/setting"

// Query describes a table's settings as parameters of a query.
func Query[S any](table setting.Table[S]) []Parameter {
	list := make([]Parameter, len(table))
	for i := range table {
		c := &table[i]
		s, meaning := values(c), c.Meaning
		if c.Toggle {
			s = Enum(c.TextOf(setting.Off), c.TextOf(setting.On)).Default(c.TextOf(c.Opening))
			meaning += " 1 is on, 0 is off."
		}
		list[i] = Parameter{Name: c.Name, Description: meaning, Schema: s}
	}
	return list
}

// Settings describes a table's settings as a JSON object in which any may be
// left out.
func Settings[S any](table setting.Table[S], description string) Schema {
	s := Object(description)
	for i := range table {
		s = s.Maybe(table[i].Name, values(&table[i]).Says(table[i].Meaning))
	}
	return s
}

// AllSettings describes an object of the named schema, one of [Settings], in
// which none is left out.
func AllSettings[S any](table setting.Table[S], schema string) Schema {
	s := Ref(schema)
	for i := range table {
		s = s.Requires(table[i].Name)
	}
	return s
}

// values describes what JSON has for a setting.
func values[S any](c *setting.Control[S]) Schema {
	switch {
	case c.Toggle:
		return Boolean().Default(c.Opening == setting.On)
	case c.Words != nil:
		return Enum(c.Words...).Default(c.TextOf(c.Opening))
	}
	s := amounts(c.Min, c.Max, c.Grain)
	switch {
	case c.OrZero:
		s = AnyOf(Const(0), s)
	case c.None:
		s = AnyOf(s, Const(setting.NoBound))
	}
	if c.None && c.Opening == setting.None {
		return s.Default(setting.NoBound)
	}
	return s.Default(number(c.Opening))
}
