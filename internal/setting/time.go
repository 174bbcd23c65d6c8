package setting

import (
	"errors"
	"math"
	"strconv"
)

// Time is a point or a span of simulated time in whole tenths of a second.
// It is never a float and never a time.Duration: a run knows no wall clock.
type Time int32

const (
	// Second is one simulated second.
	Second Time = 10
	// Never stands for an instant that has not come. JSON writes it as null.
	Never Time = math.MinInt32
)

// String prints t in seconds in its shortest form: "4", "4.5"; Never prints "never".
func (t Time) String() string {
	if t == Never {
		return "never"
	}
	return string(t.Append(make([]byte, 0, 8)))
}

// Fixed prints t in seconds with one decimal always: "4.0", "4.5".
func (t Time) Fixed() string {
	b := t.Append(make([]byte, 0, 8))
	if t%Second == 0 {
		b = append(b, '.', '0')
	}
	return string(b)
}

// Append appends t in its shortest form, and Never as a number that no setting has.
func (t Time) Append(b []byte) []byte {
	if t < 0 {
		b = append(b, '-')
		t = -t
	}
	b = strconv.AppendInt(b, int64(t/Second), 10)
	if f := t % Second; f != 0 {
		b = append(b, '.', byte('0'+f))
	}
	return b
}

var (
	errNotPlain = errors.New("not a plain decimal number")
	errTooFine  = errors.New("finer than 0.1")
	errTooBig   = errors.New("too large")
)

// ParseTime reads seconds in plain decimal notation ("30", "4.5", "4.50").
// No sign, exponent, hexadecimal, space or empty part is taken, and nothing
// finer than a tenth.
func ParseTime(s string) (Time, error) {
	var t Time
	digits := func(i int) int {
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i
	}
	whole := digits(0)
	if whole == 0 {
		return 0, errNotPlain
	}
	frac := ""
	if whole < len(s) {
		if s[whole] != '.' || whole+1 == len(s) || digits(whole+1) != len(s) {
			return 0, errNotPlain
		}
		frac = s[whole+1:]
	}
	for i := range whole {
		t = t*10 + Time(s[i]-'0')
		if t > 1_000_000 {
			return 0, errTooBig
		}
	}
	t *= Second
	for i := range frac {
		switch {
		case i == 0:
			t += Time(frac[i] - '0')
		case frac[i] != '0':
			return 0, errTooFine
		}
	}
	return t, nil
}
