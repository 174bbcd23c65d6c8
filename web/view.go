package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"drainlab/internal/session"
	"drainlab/internal/sim"
)

// view is what a link to the lesson says. Its query has the settings under
// their own names, and beside them t, speed, worker and model.
type view struct {
	session.View
	Worker int  // chosen in the inspector, from 1
	Axes   axes // of the sweep
}

// parseView reads a link's query. Whatever it does not name has its opening
// value; whatever it names wrongly is a *[sim.SettingError].
func parseView(query url.Values) (view, error) {
	v := view{View: session.View{Speed: session.Single}, Worker: 1, Axes: drainAxes}
	err := takeParam(query, "t", func(text string) (err error) { v.T, err = session.ParseT(text); return })
	if err != nil {
		return v, err
	}
	err = takeParam(query, "speed", func(text string) (err error) { v.Speed, err = session.ParseSpeed(text); return })
	if err != nil {
		return v, err
	}
	if err := takeParam(query, "model", checkModel); err != nil {
		return v, err
	}
	worker := ""
	if err := takeParam(query, "worker", func(text string) error { worker = text; return nil }); err != nil {
		return v, err
	}
	if v.Axes, err = takeAxes(query, sim.Table(), drainAxes); err != nil {
		return v, err
	}
	if v.Settings, err = sim.ParseValues(query); err != nil {
		return v, err
	}
	v.Worker, err = parseWorker(worker, v.Settings)
	return v, err
}

// parseWorker reads the number of a worker that a run of s boots; the first
// where text is empty.
func parseWorker(text string, s sim.Settings) (int, error) {
	if text == "" {
		return 1, nil
	}
	last := workersEver(s)
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > last || strconv.Itoa(n) != text {
		return 0, &sim.SettingError{Setting: "worker", Got: text, Allowed: fmt.Sprintf("a whole number from 1 to %d with these settings", last)}
	}
	return n, nil
}

// workersEver counts the workers that a run boots, the replacement included.
func workersEver(s sim.Settings) int {
	if s.Replacement {
		return s.Workers + 1
	}
	return s.Workers
}

func checkModel(text string) error {
	if text != strconv.Itoa(sim.Model) {
		return &sim.SettingError{Setting: "model", Got: text, Allowed: strconv.Itoa(sim.Model)}
	}
	return nil
}

// takeParam hands the one value of a query's parameter to parse and takes the
// parameter out of the query.
func takeParam(query url.Values, name string, parse func(string) error) error {
	given, ok := query[name]
	if !ok {
		return nil
	}
	delete(query, name)
	if len(given) != 1 {
		return &sim.SettingError{Setting: name, Got: strings.Join(given, ", "), Allowed: "one value"}
	}
	return parse(given[0])
}

// canonical is the view as a query: all settings, t and speed, and the worker
// where it is not the first. Equal views give equal text.
func (v view) canonical() string {
	b := v.Settings.AppendQuery(make([]byte, 0, 256))
	b = append(b, "&t="...)
	b = append(b, v.T.String()...)
	b = append(b, "&speed="...)
	b = append(b, v.Speed.String()...)
	if v.Worker > 1 {
		b = append(b, "&worker="...)
		b = strconv.AppendInt(b, int64(v.Worker), 10)
	}
	return v.Axes.appendTo(string(b), drainAxes)
}

// parseQuery reads a raw query strictly: a malformed escape or a semicolon is
// an error and not a parameter lost.
func parseQuery(raw string) (url.Values, error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil, &requestError{status: 400, sentence: fmt.Sprintf("The link's query cannot be read: got %s; allowed: name=value pairs joined by &.", sim.Quote(raw))}
	}
	return query, nil
}
