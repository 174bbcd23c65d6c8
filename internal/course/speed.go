package course

import (
	"fmt"

	"drainlab/internal/setting"
)

// Speed is how fast simulated time passes, in halves of real time.
type Speed uint8

// The speeds of the player.
const (
	Half   Speed = 1
	Single Speed = 2
	Double Speed = 4
	Four   Speed = 8
	Eight  Speed = 16
)

// Speeds lists the player's speeds, slowest first.
func Speeds() []Speed { return []Speed{Half, Single, Double, Four, Eight} }

// String prints the factor as a URL has it: "0.5", "1", "2", "4", "8".
func (s Speed) String() string {
	if s == Half {
		return "0.5"
	}
	return fmt.Sprint(uint8(s) / 2)
}

// ParseSpeed reads what String prints. The error is a *[setting.Error].
func ParseSpeed(text string) (Speed, error) {
	for _, s := range Speeds() {
		if s.String() == text {
			return s, nil
		}
	}
	return 0, &setting.Error{Setting: "speed", Got: text, Allowed: "0.5, 1, 2, 4 or 8"}
}
