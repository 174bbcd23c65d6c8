package ledgers

import (
	"fmt"
	"strings"

	"drainlab/internal/fixture"
)

// status says what the page shows, or what the server is doing.
type status struct {
	Run  string // id of a run that is under way, which the page follows
	Note string // where the run is from; empty while it is under way
	Text string // what the server is doing; empty when it is done
}

func (s shown) status() status {
	v := status{Text: s.run.Problem}
	switch {
	case s.run.State == runQueued:
		v.Run, v.Text = s.run.ID, fmt.Sprintf("Waiting: place %d in the queue.", s.run.Place)
	case s.run.State == runRunning:
		v.Run, v.Text = s.run.ID, "A real process is running: it "+phaseNow(s.run)+"."
	case s.run.Problem == "":
		v.Note = s.origin()
	}
	return v
}

// origin says where the run that is shown is from.
func (s shown) origin() string {
	switch {
	case s.source == brought:
		return s.note
	case s.source == fromHere && s.latest:
		return "The last run of these settings on this server, of " + s.when() + "."
	case s.source == fromHere:
		return "A real server did this on " + s.when() + ": started, loaded, drained, signalled."
	case s.gone:
		return "The run of this link is not kept any more. This is the recorded run of the reference settings, of " + s.lesson.recorded.on + "."
	}
	return "A recorded run of the reference settings, of " + s.lesson.recorded.on + "."
}

func (s shown) when() string { return s.run.Finished.UTC().Format("2 January 2006 15:04") + " UTC" }

// start is the button that starts a run, and what the next run has that the
// shown one has not.
type start struct {
	Again   bool
	Changed string
}

func (s shown) start(v view) start {
	b := start{Again: s.source == fromHere}
	if s.source == brought {
		return b
	}
	var changes []string
	table := fixture.Table()
	for i := range table {
		c := &table[i]
		if now, then := c.Amount(v.settings), c.Amount(s.run.Settings); now != then {
			changes = append(changes, strings.ToLower(strings.TrimPrefix(c.Label, "… "))+" "+c.Say(now))
		}
	}
	const most = 2
	if len(changes) > most {
		changes = append(changes[:most], fmt.Sprintf("%d more", len(changes)-most))
	}
	b.Changed = strings.Join(changes, ", ")
	return b
}
