package main

import (
	"log/slog"

	"drainlab/internal/course"
	"drainlab/web/lessons/clocks"
	"drainlab/web/lessons/drain"
	"drainlab/web/lessons/ledgers"
)

// lessons is the course: a lesson is one line here, and one folder.
func lessons(log *slog.Logger) ([]course.Lesson, error) {
	ledgersLesson, err := ledgers.New(driller{}, log)
	if err != nil {
		return nil, err
	}
	return []course.Lesson{
		drain.New(),
		ledgersLesson,
		clocks.New(),
	}, nil
}
