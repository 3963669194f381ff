package fetchers

import "bytes"

func containsAll(text []byte, all [][]byte) bool {
	for _, part := range all {
		if !bytes.Contains(text, part) {
			return false
		}
	}
	return true
}
