package drain

import (
	"drainlab/internal/course"
)

// AboutPage says exactly what runs, what it leaves out, where it is from, and
// what to take from it.
func (l *Lesson) AboutPage(link course.Link) course.Component {
	v := link.View.(*view)
	return aboutPage(l.story, string(v.settings.AppendQuery(nil)), link.Held())
}
