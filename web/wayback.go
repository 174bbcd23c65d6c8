package web

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"drainlab/internal/course"
	"drainlab/internal/setting"
	"drainlab/web/answer"
)

// backTo is an error of values that were refused, with a way back that loses
// nothing but what was refused: to the link, with of the values all that it
// can have. Other errors stay as they are.
func backTo(err error, link course.Link, values url.Values) error {
	var wrong *setting.Error
	if !errors.As(err, &wrong) {
		return err
	}
	names, first := slices.Sorted(maps.Keys(values)), link
	for again := true; again; { // one value may need another one first
		again = false
		for _, name := range names {
			next, ok := withValue(link, name, values[name])
			if ok && next.Query() != link.Query() && locked(first, next) == nil {
				link, again = next, true
			}
		}
	}
	return &answer.WayBack{Err: err, Text: fmt.Sprintf("Back to lesson %d with all other values", link.Lesson.About().Number), Href: link.Address()}
}

// withValue is the link with one value of its query set, if it takes it.
func withValue(link course.Link, name string, given []string) (course.Link, bool) {
	query, err := url.ParseQuery(link.Query())
	if link.Locks(name) {
		return link, false
	}
	if err != nil {
		return link, false // our own: it can be read
	}
	query[name] = given
	next, err := course.ParseLink(link.Lesson, query)
	next.Embedded = link.Embedded
	return next, err == nil
}

// locked refuses a change of what the link's author has locked, whatever
// command makes it. A form may have a locked setting, at the value that it has.
func locked(link, next course.Link) error {
	for _, info := range link.Lesson.Settings() {
		now, then := link.View.Text(info.Name), next.View.Text(info.Name)
		if link.Locks(info.Name) && now != then {
			return &setting.Error{Setting: info.Name, Label: info.Label, Got: then, Allowed: "only " + now + ": this link locks it"}
		}
	}
	return nil
}
