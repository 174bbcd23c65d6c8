// Package openapi makes the description of an HTTP API, a document in OpenAPI
// 3.1, of values that say what an operation takes and answers. Settings come
// from their tables, so that no name, range or opening value is written again.
//
// It must not know which operations there are.
package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Document is a whole description.
type Document struct {
	Title, Version, Summary, Description string
	License                              License
	Tags                                 []Tag
	Parts                                []Part
}

// License is the API's license.
type License struct {
	Name       string `json:"name"`
	Identifier string `json:"identifier"` // of SPDX
}

// Tag is a group of operations.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Part is what one lesson adds to the document: operations, and the schemas
// that they and other parts refer to.
type Part struct {
	operations []operation
	schemas    object
}

type operation struct {
	path, method string
	Operation
}

// Operation is one method of one address.
type Operation struct {
	ID, Tag, Summary, Description string
	Parameters                    []Parameter
	Body                          []Content // none: it takes none
	BodyOptional                  bool
	Answers                       []Answer
}

// Parameter is a parameter of the query, or of the path.
type Parameter struct {
	Name, Description string
	InPath            bool
	Schema            Schema
}

// Answer is what comes with one status.
type Answer struct {
	Status      int
	Description string
	Headers     []Header
	Content     []Content
}

// Header is one that an answer has.
type Header struct{ Name, Description string }

// Content is a body's media type and its schema; where that is one of lines,
// the schema of one.
type Content struct {
	mediaType string
	schema    Schema
}

// JSON is a body of one JSON value.
func JSON(s Schema) Content { return Content{"application/json", s} }

// Lines is a body of one JSON value a line.
func Lines(s Schema) Content { return Content{"application/x-ndjson", s} }

// CSV is a table, which the text describes.
func CSV(description string) Content { return Content{"text/csv", Text().Says(description)} }

// Plain is plain text.
func Plain() Content { return Content{"text/plain", Text()} }

// Get adds an operation.
func (p *Part) Get(path string, o Operation) {
	p.operations = append(p.operations, operation{path, "get", o})
}

// Post adds an operation.
func (p *Part) Post(path string, o Operation) {
	p.operations = append(p.operations, operation{path, "post", o})
}

// Schema adds a schema to which [Ref] refers.
func (p *Part) Schema(name string, s Schema) { p.schemas = append(p.schemas, member{name, s}) }

// JSON writes the document. An error says what in it contradicts itself: a
// name given twice, or a reference to a schema that is not there.
func (d Document) JSON() ([]byte, error) {
	paths, err := d.paths()
	schemas, twice := d.schemas()
	data, broken := json.MarshalIndent(object{
		{"openapi", "3.1.0"},
		{"info", object{{"title", d.Title}, {"version", d.Version}, {"summary", d.Summary}, {"description", d.Description}, {"license", d.License}}},
		{"servers", []object{{{"url", "/"}}}},
		{"tags", d.Tags},
		{"paths", paths},
		{"components", object{{"schemas", schemas}}},
	}, "", "  ")
	return append(data, '\n'), errors.Join(err, twice, broken, references(data, schemas))
}

// paths are the operations of all parts by address and method.
func (d Document) paths() (paths object, err error) {
	ids := map[string]bool{}
	for _, part := range d.Parts {
		for _, o := range part.operations {
			if ids[o.ID] {
				err = errors.Join(err, fmt.Errorf("two operations are called %s", o.ID))
			}
			ids[o.ID] = true
			var methods object
			if i := paths.find(o.path); i >= 0 {
				methods = paths[i].value.(object)
			}
			if methods.find(o.method) >= 0 {
				err = errors.Join(err, fmt.Errorf("two operations are %s %s", o.method, o.path))
			}
			paths = paths.with(o.path, methods.with(o.method, o.json()))
		}
	}
	return paths, err
}

// schemas are those of all parts.
func (d Document) schemas() (schemas object, err error) {
	for _, part := range d.Parts {
		for _, s := range part.schemas {
			if schemas.find(s.name) >= 0 {
				err = errors.Join(err, fmt.Errorf("two schemas are called %s", s.name))
			}
			schemas = schemas.with(s.name, s.value)
		}
	}
	return schemas, err
}

// references returns an error where a reference has no schema, or a schema no
// reference.
func references(document []byte, schemas object) error {
	const mark = `"$ref": "` + schemaPath
	missing, unused := map[string]bool{}, map[string]bool{}
	for _, s := range schemas {
		unused[s.name] = true
	}
	for _, part := range bytes.Split(document, []byte(mark))[1:] {
		name, _, _ := strings.Cut(string(part), `"`)
		if schemas.find(name) < 0 {
			missing[name] = true
		}
		delete(unused, name)
	}
	if len(missing)+len(unused) == 0 {
		return nil
	}
	return fmt.Errorf("schemas that are not there: %q; that nothing refers to: %q", slices.Sorted(maps.Keys(missing)), slices.Sorted(maps.Keys(unused)))
}

func (o Operation) json() object {
	out := object{{"operationId", o.ID}}
	if o.Tag != "" {
		out = out.with("tags", []string{o.Tag})
	}
	out = out.with("summary", o.Summary)
	if o.Description != "" {
		out = out.with("description", o.Description)
	}
	if o.Parameters != nil {
		out = out.with("parameters", o.Parameters)
	}
	if o.Body != nil {
		out = out.with("requestBody", object{{"required", !o.BodyOptional}, {"content", contents(o.Body)}})
	}
	var answers object
	for _, a := range o.Answers {
		answers = append(answers, member{strconv.Itoa(a.Status), a.json()})
	}
	return out.with("responses", answers)
}

// MarshalJSON writes the parameter.
func (p Parameter) MarshalJSON() ([]byte, error) {
	out := object{{"name", p.Name}, {"in", "query"}, {"description", p.Description}, {"schema", p.Schema}}
	if p.InPath {
		out = out.with("in", "path").with("required", true)
	}
	return out.MarshalJSON()
}

func (a Answer) json() object {
	out := object{{"description", a.Description}}
	var headers object
	for _, h := range a.Headers {
		headers = append(headers, member{h.Name, object{{"description", h.Description}, {"schema", Text()}}})
	}
	if headers != nil {
		out = out.with("headers", headers)
	}
	return out.with("content", contents(a.Content))
}

func contents(list []Content) object {
	var out object
	for _, c := range list {
		out = append(out, member{c.mediaType, object{{"schema", c.schema}}})
	}
	return out
}
