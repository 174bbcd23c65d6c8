package drill

import (
	"time"
)

// Plan is what a run does.
type Plan struct {
	// Command starts the server. It prints its address, host:port on loopback,
	// as its first line.
	Command []string
	// Env is added to the environment; LedgerVariable names the one that gets
	// the record's path, StartVariable the one that gets the instant that the
	// record counts from, TokenVariable the one that gets the run's token.
	Env                                          []string
	LedgerVariable, StartVariable, TokenVariable string
	// Token guards the server's management route.
	Token string
	// EndMarker is the last line of a whole stream.
	EndMarker string
	// SecondSignal is sent so long after the first; 0: none.
	SecondSignal time.Duration
	// ClientLeaves makes the stream's client disconnect before the drain.
	ClientLeaves bool
	// Limit bounds the whole run; the process group is killed when it is up.
	Limit time.Duration
	// Observe gets each event as soon as it is known, the server's own and
	// those of the clients. It is called from several goroutines, one at a time.
	Observe func(Event)
}
