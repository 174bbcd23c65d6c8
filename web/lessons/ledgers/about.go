package ledgers

import (
	"fmt"
	"time"

	"drainlab/internal/course"
	"drainlab/internal/fixture"
)

// claims are figures of the recorded reference run and the fixture's measures
// that the prose quotes.
type claims struct {
	Admitted, Completed, Cancelled, Rejected, Unfinished int
	Heartbeat, Hold                                      string // seconds
	Date                                                 string
	Short, Chunk                                         string // seconds
	BlockStatus, LateStatus                              int
}

func (r recorded) claims() claims {
	res := r.run.Result
	q := res.Report.Requests
	return claims{
		Admitted: int(q.Admitted), Completed: int(q.Completed), Cancelled: int(q.Cancelled), Rejected: int(q.Rejected),
		Unfinished: int(res.Report.UnfinishedAtCleanup), Heartbeat: fmt.Sprintf("%.2f", res.HeartbeatAfter.Seconds()),
		Hold: fmt.Sprint(time.Duration(r.run.Settings.CleanupHold).Seconds()), Date: r.on,
		Short: fmt.Sprint(fixture.ShortTakes.Seconds()), Chunk: fmt.Sprint(fixture.ChunkEvery.Seconds()),
		BlockStatus: client(res, "block").Status, LateStatus: client(res, "late").Status,
	}
}

// AboutPage says what the fixture does, what a run of it shows, and what to
// decide from what one sees.
func (l *Lesson) AboutPage(course.Link) course.Component { return about(l.recorded.claims()) }
