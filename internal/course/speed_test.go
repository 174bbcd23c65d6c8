package course_test

import (
	"slices"
	"testing"

	"drainlab/internal/course"
)

func TestSpeedsReadAsTheyPrint(t *testing.T) {
	want := []string{"0.5", "1", "2", "4", "8"}
	var got []string
	for _, s := range course.Speeds() {
		got = append(got, s.String())
		if parsed, err := course.ParseSpeed(s.String()); err != nil || parsed != s {
			t.Errorf("%v reads as %v, %v", s, parsed, err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the speeds are %v, want %v", got, want)
	}
}

func TestASpeedThatIsNotAllowedIsRefused(t *testing.T) {
	for _, text := range []string{"", "0", "3", "16", "1.0", "-1", "1 ", "½", ".5"} {
		_, err := course.ParseSpeed(text)
		wantRefused(t, err, "speed", text, "0.5, 1, 2, 4 or 8")
	}
}
