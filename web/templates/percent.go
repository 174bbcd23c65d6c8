package templates

import (
	"bytes"
	"strconv"
)

// Percent is part/whole with at most three decimals, as SVG has a place or a
// size: "12.5%". Both are whole numbers; of a whole of 0 it is "0%".
func Percent(part, whole int) string {
	if whole == 0 {
		return "0%"
	}
	v := (part*100_000*2 + whole) / (2 * whole)
	b := strconv.AppendInt(make([]byte, 0, 8), int64(v/1000), 10)
	if rest := v % 1000; rest != 0 {
		b = append(b, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
		b = bytes.TrimRight(b, "0")
	}
	return string(append(b, '%'))
}
