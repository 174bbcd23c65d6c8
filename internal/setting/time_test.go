package setting_test

import (
	"regexp"
	"strings"
	"testing"

	"drainlab/internal/setting"
)

func TestTimePrintsInSeconds(t *testing.T) {
	for _, c := range []struct {
		time          setting.Time
		short, always string
	}{
		{0, "0", "0.0"}, {1, "0.1", "0.1"}, {10, "1", "1.0"}, {45, "4.5", "4.5"}, {36000, "3600", "3600.0"}, {-5, "-0.5", "-0.5"}, {-40, "-4", "-4.0"},
	} {
		if c.time.String() != c.short || c.time.Fixed() != c.always || string(c.time.Append([]byte("t="))) != "t="+c.short {
			t.Errorf("%d tenths print as %s and %s, want %s and %s", int(c.time), c.time, c.time.Fixed(), c.short, c.always)
		}
	}
	if got := setting.Never.String(); got != "never" {
		t.Errorf("Never prints as %s", got)
	}
}

func TestPlainNumbersAlone(t *testing.T) {
	for text, want := range map[string]setting.Time{"0": 0, "4": 40, "4.0": 40, "4.5": 45, "4.500": 45, "0.1": 1, "007": 70, "1000000": 10_000_000} {
		if got, err := setting.ParseTime(text); err != nil || got != want {
			t.Errorf("%q gives %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", ".5", "5.", "4.05", "4.501", "1e1", "0x4", "NaN", "Inf", "-1", "-0", "+1", " 4", "4 ", "1_0", "4,5", "1.2.3", "٤", "4\n",
		"1000001", "4294967296", "429496729.6", "99999999999999999999"} {
		if got, err := setting.ParseTime(text); err == nil || err.Error() == "" {
			t.Errorf("%q gives %v, %v", text, got, err)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"0", "4.50", "007", "1000001", "4294967296", "", ".5", "5.", "4.05", "1e1", "-1", "٤", "4\x00"} {
		f.Add(text)
	}
	plain := regexp.MustCompile(`^[0-9]+(\.[0-9]0*)?$`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := setting.ParseTime(text)
		whole, _, _ := strings.Cut(strings.TrimLeft(text, "0"), ".")
		if wanted := plain.MatchString(text); err == nil && !wanted || err != nil && wanted && len(whole) <= 6 {
			t.Fatalf("%q gives %v, %v", text, got, err)
		}
		if err != nil {
			return
		}
		for _, again := range []string{got.String(), got.Fixed()} {
			if back, err := setting.ParseTime(again); got < 0 || err != nil || back != got {
				t.Fatalf("%q gives %v, which comes back from %s as %v, %v", text, got, again, back, err)
			}
		}
	})
}
