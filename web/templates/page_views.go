package templates

import (
	"net/url"
	"strings"

	"drainlab/internal/course"
)

// Page is what every page has around its own content.
type Page struct {
	Title       string
	Description string
	Assets      Assets
	Lessons     []LessonLink
	// Refresh makes a page without script load itself again after so many
	// seconds; 0: never.
	Refresh int
	Card    Card
}

// Card is what other sites are told of a page; addresses are absolute. The
// zero Card tells nothing.
type Card struct {
	URL, Description, Image, Alt string
	JSON, XML                    string // oEmbed
}

// Assets are the URLs of the static files. Client is empty where the bundle
// was not built; the page then works by forms and links.
type Assets struct {
	CSS                 []string // in the order in which they hold
	Client, Theme, Icon string
}

// LessonLink is one lesson in the course's navigation.
type LessonLink struct {
	Number  int
	Name    string
	Href    string
	Summary string
	Here    bool
}

// here is the number of the lesson that the page belongs to, 0 for none.
func (p Page) here() int {
	for _, l := range p.Lessons {
		if l.Here {
			return l.Number
		}
	}
	return 0
}

// Problem is an error page: what is wrong, and a way on.
type Problem struct {
	Page
	Status   int
	Heading  string
	Sentence string
	LinkText string
	Href     string
	Framed   bool // shown in a host's frame, which Href does not leave
}

// About is the page that says exactly what a lesson is.
type About struct {
	Page
	Back    string // to the lesson
	Heading string
	Body    course.Component
}

// Fact is a name and what it is.
type Fact struct{ Name, Value string }

// Download is a file made of the values on the page.
type Download struct{ Name, Href string }

// Option is an entry of a select, or one of some choices.
type Option struct {
	Value, Name string
	Chosen      bool
}

// OptionGroup is entries of a select that belong together; one without a name
// stands by itself.
type OptionGroup struct {
	Name    string
	Options []Option
}

// Carried is a part of the page's query that a form takes along.
type Carried struct{ Name, Value string }

// Carry splits a canonical query into the fields of a form, in its order.
func Carry(query string) []Carried {
	var list []Carried
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name == "" {
			continue
		}
		list = append(list, Carried{Name: unescape(name), Value: unescape(value)})
	}
	return list
}

// unescape reads a piece of a query; what is no query's stays as it is.
func unescape(text string) string {
	plain, err := url.QueryUnescape(text)
	if err != nil {
		return text
	}
	return plain
}
