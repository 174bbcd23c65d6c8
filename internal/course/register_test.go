package course_test

import (
	"testing"

	"drainlab/internal/course"
	"drainlab/internal/course/coursetest"
)

func TestTheCourseIsItsLessonsInTheirOrder(t *testing.T) {
	first, second := coursetest.Counter{ID: "b"}, coursetest.Counter{ID: "a", Number: 2}
	reg := course.NewRegister(first, second)
	if all := reg.All(); len(all) != 2 || all[0] != course.Lesson(first) || all[1] != course.Lesson(second) {
		t.Errorf("the lessons are %+v", all)
	}
	for id, want := range map[string]course.Lesson{"b": first, "a": second} {
		if got, ok := reg.Find(id); !ok || got != want {
			t.Errorf("lesson %s is %+v, %v", id, got, ok)
		}
	}
	for _, id := range []string{"", "c", "A"} {
		if got, ok := reg.Find(id); ok || got != nil {
			t.Errorf("lesson %q is %+v", id, got)
		}
	}
}

// bare is a lesson without tabs.
type bare struct{ coursetest.Counter }

func (bare) Tabs() []course.Tab { return nil }

// nameless is a lesson without an id.
type nameless struct{ coursetest.Counter }

func (nameless) About() course.About { return course.About{Number: 1} }

func TestAFaultyListOfLessonsPanics(t *testing.T) {
	for name, lessons := range map[string][]course.Lesson{
		"one id twice":         {coursetest.Counter{}, coursetest.Counter{Number: 2}},
		"one number twice":     {coursetest.Counter{ID: "a"}, coursetest.Counter{ID: "b"}},
		"a number left out":    {coursetest.Counter{ID: "a"}, coursetest.Counter{ID: "b", Number: 3}},
		"another order":        {coursetest.Counter{ID: "b", Number: 2}, coursetest.Counter{ID: "a"}},
		"a lesson without tab": {bare{}},
		"a lesson without id":  {nameless{}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was taken")
				}
			}()
			course.NewRegister(lessons...)
		})
	}
}
