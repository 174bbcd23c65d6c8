package web

import (
	"errors"
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
	// Pinned is run A of a comparison, nil where there is none. The run that
	// plays is then run B.
	Pinned     *sim.Settings
	Prediction sim.Prediction // of the run that plays
	Embedded   bool           // shown in a host's frame
	presentation
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
	if err := takeParam(query, "model", checkModel(sim.Model)); err != nil {
		return v, err
	}
	worker := ""
	if err := takeParam(query, "worker", func(text string) error { worker = text; return nil }); err != nil {
		return v, err
	}
	if v.Axes, err = takeAxes(query, sim.Table(), drainAxes); err != nil {
		return v, err
	}
	if v.presentation, err = takePresentation(query, names(sim.Table())); err != nil {
		return v, err
	}
	predicted, other := takePrefixed(query, "p."), takePrefixed(query, "b.")
	if v.Settings, err = sim.ParseValues(query); err != nil {
		return v, err
	}
	if len(other) > 0 {
		pinned := v.Settings
		v.Pinned = &pinned
		if err := v.Settings.Change(withoutPrefix(other, "b.")); err != nil {
			return v, prefixed(err, "b.")
		}
	}
	if v.Prediction, err = sim.ParsePrediction(v.Settings, predicted); err != nil {
		return v, err
	}
	if v.waits() {
		v.T = 0 // the run is seen from its beginning, once the prediction stands
	}
	v.Worker, err = parseWorker(worker, v.Settings)
	return v, err
}

// takePrefixed takes the parameters whose names begin so out of a query.
func takePrefixed(query url.Values, prefix string) url.Values {
	taken := url.Values{}
	for name, values := range query {
		if strings.HasPrefix(name, prefix) {
			taken[name] = values
			delete(query, name)
		}
	}
	return taken
}

func withoutPrefix(query url.Values, prefix string) url.Values {
	bare := url.Values{}
	for name, values := range query {
		bare[strings.TrimPrefix(name, prefix)] = values
	}
	return bare
}

// prefixed names the setting of an error as the link has it.
func prefixed(err error, prefix string) error {
	var e *sim.SettingError
	if !errors.As(err, &e) {
		return err
	}
	named := *e
	named.Setting = prefix + e.Setting
	return &named
}

// parseWorker reads the number of a worker that a run of s boots; the first
// where text is empty.
func parseWorker(text string, s sim.Settings) (int, error) {
	if text == "" {
		return 1, nil
	}
	last := s.WorkersEver()
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > last || strconv.Itoa(n) != text {
		return 0, &sim.SettingError{Setting: "worker", Got: text, Allowed: fmt.Sprintf("a whole number from 1 to %d with these settings", last)}
	}
	return n, nil
}

// waits reports whether the player is locked until a prediction is committed.
func (v view) waits() bool { return v.Predict && !v.Prediction.Said() }

// checkModel takes the number of the model that a link was made with.
func checkModel(model int) func(string) error {
	return func(text string) error {
		if text != strconv.Itoa(model) {
			return &sim.SettingError{Setting: "model", Got: text, Allowed: strconv.Itoa(model)}
		}
		return nil
	}
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

// canonical is the view as a query: the settings, those of run B of a
// comparison with the prefix "b.", t and speed, and whatever else is not as
// usual. Equal views give equal text.
func (v view) canonical() string {
	b := v.settingsQuery(make([]byte, 0, 512))
	b = append(b, "&t="...)
	b = append(b, v.T.String()...)
	b = append(b, "&speed="...)
	b = append(b, v.Speed.String()...)
	if v.Worker > 1 {
		b = append(b, "&worker="...)
		b = strconv.AppendInt(b, int64(v.Worker), 10)
	}
	if v.Prediction.Said() {
		b = v.Prediction.AppendQuery(append(b, '&'))
	}
	return v.presentation.appendTo(v.Axes.appendTo(string(b), drainAxes), names(sim.Table()))
}

// settingsQuery is the settings' part of the canonical query.
func (v view) settingsQuery(b []byte) []byte {
	if v.Pinned == nil {
		return v.Settings.AppendQuery(b)
	}
	b = v.Pinned.AppendQuery(b)
	for part := range strings.SplitSeq(string(v.Settings.AppendQuery(nil)), "&") {
		b = append(b, "&b."...)
		b = append(b, part...)
	}
	return b
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
