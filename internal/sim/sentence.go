package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// What the sentences of explanations, comparisons and judgements share.

// secs writes an instant or a span: "4.5 s".
func secs(t Time) string { return t.String() + " s" }

// listed joins parts as a sentence does: "a", "a and b", "a, b and c".
func listed(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// leastRow is how many numbers in a row are written as "13 to 16": three are
// as short one by one.
const leastRow = 4

// RequestNumbers writes request numbers, which ascend: "6, 13 and 14", "6 and 13 to 20".
func RequestNumbers(requests []int) string {
	var parts []string
	for i := 0; i < len(requests); {
		end := i + 1
		for end < len(requests) && requests[end] == requests[end-1]+1 {
			end++
		}
		if end-i >= leastRow {
			parts = append(parts, fmt.Sprintf("%d to %d", requests[i], requests[end-1]))
			i = end
			continue
		}
		for ; i < end; i++ {
			parts = append(parts, strconv.Itoa(requests[i]))
		}
	}
	return listed(parts)
}

// theRequests names requests within a sentence: "request 6", "requests 6 and 13".
func theRequests(requests []int) string {
	return form(len(requests), "request ", "requests ") + RequestNumbers(requests)
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// form is the word's form for a count.
func form(count int, one, more string) string {
	if count == 1 {
		return one
	}
	return more
}

// span writes the first and the last of some times: "15 s", "15 s to 19 s".
func span(times []Time) string {
	low, high := times[0], times[len(times)-1]
	if low == high {
		return secs(low)
	}
	return secs(low) + " to " + secs(high)
}

// when says at what instants, which ascend, something came: "at 13 s", "at 1 s
// and 3 s", "between 13 s and 23 s".
func when(times []Time) string {
	low, high := times[0], times[len(times)-1]
	switch len(times) {
	case 1:
		return "at " + secs(low)
	case 2:
		return "at " + secs(low) + " and " + secs(high)
	}
	return "between " + secs(low) + " and " + secs(high)
}

// phrase tells the event without its instant: "request 6 was killed in its tool stage".
func (e *Event) phrase() string {
	worker, request := fmt.Sprintf("worker %d ", e.Worker), fmt.Sprintf("request %d ", e.Request)
	switch e.Kind {
	case WorkerStarted:
		return worker + "began to boot"
	case WorkerReady:
		return worker + "became ready"
	case WorkerFailed:
		return worker + "failed to initialize"
	case WorkerSignaled:
		return worker + "got SIGTERM"
	case WorkerDrained:
		return worker + "began to drain"
	case WorkerExited:
		return worker + "exited"
	case WorkerKilled:
		return worker + "was killed"
	case RequestAdmitted:
		return fmt.Sprintf("%swas admitted by worker %d in slot %d", request, e.Worker, e.Slot)
	case RequestRejected:
		return request + "was rejected because " + e.because()
	case InvocationStage:
		return fmt.Sprintf("%sbegan its %v stage", request, e.Stage)
	case InvocationCompleted:
		return request + "completed"
	case InvocationKilled:
		return fmt.Sprintf("%swas killed in its %v stage", request, e.Stage)
	}
	panic("sim: an event of no kind")
}

func (e *Event) because() string {
	switch e.Reason {
	case NoReadyWorker:
		return "no worker was ready"
	case WorkerStarting:
		return fmt.Sprintf("worker %d was still booting", e.Worker)
	case WorkerDraining:
		return fmt.Sprintf("worker %d was draining", e.Worker)
	case SlotsFull:
		return fmt.Sprintf("all slots of worker %d were taken", e.Worker)
	case NoReason:
	}
	panic("sim: a rejection without a reason")
}
