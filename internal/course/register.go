package course

import "fmt"

// Register is the course: its lessons in their order.
type Register struct{ lessons []Lesson }

// NewRegister returns the course of these lessons. It panics where two have
// one id, or a number is not the lesson's place: that is a fault of the list.
func NewRegister(lessons ...Lesson) *Register {
	seen := map[string]bool{}
	for i, l := range lessons {
		a := l.About()
		if seen[a.ID] || a.Number != i+1 || a.ID == "" || len(l.Tabs()) == 0 {
			panic(fmt.Sprintf("lesson %d of the course: id %q, number %d, %d tabs", i+1, a.ID, a.Number, len(l.Tabs())))
		}
		seen[a.ID] = true
	}
	return &Register{lessons: lessons}
}

// All are the lessons in their order.
func (r *Register) All() []Lesson { return r.lessons }

// Find returns the lesson with that id.
func (r *Register) Find(id string) (Lesson, bool) {
	for _, l := range r.lessons {
		if l.About().ID == id {
			return l, true
		}
	}
	return nil, false
}
