package tail

import (
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

// between returns, oldest first, the names that a series of rotations made after the one called found: log.2 and log.1
// after log.3, or log-20261130 after log-20261129.
func between(names []string, base, found string) []string {
	prefix, digits, suffix := series(found, base)
	if digits == "" {
		return nil
	}
	counted := len(digits) <= 3 // a number counts up with age, a date goes on with time
	var out []string
	for _, name := range names {
		p, d, s := series(name, base)
		if d == "" || p != prefix || s != suffix || name == found {
			continue
		}
		if counted == (len(d) <= 3) && (less(d, digits) == counted) {
			out = append(out, name)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		_, a, _ := series(out[i], base)
		_, b, _ := series(out[j], base)
		return less(a, b) != counted
	})
	return out
}

// rotatedName says that name looks like one that a rotation gives to base. With no content to go by, an inode alone is
// not enough: it may have been given to any other file.
func rotatedName(name, base string) bool {
	_, digits, suffix := series(name, base)
	return strings.HasPrefix(name, base) || digits != "" && suffix == filepath.Ext(base)
}

// series takes a rotated name apart: what stands before its number or date, the digits alone, what stands behind.
func series(name, base string) (prefix, digits, suffix string) {
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	rest, ok := strings.CutPrefix(name, base)
	prefix = base
	if !ok {
		if rest, ok = strings.CutPrefix(name, stem); !ok {
			return "", "", ""
		}
		prefix = stem
	}
	i := strings.IndexAny(rest, "0123456789")
	if i < 0 {
		return "", "", ""
	}
	end := i
	for end < len(rest) && strings.ContainsRune("0123456789-_:T.", rune(rest[end])) {
		end++
	}
	for end > i && !unicode.IsDigit(rune(rest[end-1])) {
		end--
	}
	digits = strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, rest[i:end])
	return prefix + rest[:i], digits, rest[end:]
}

func less(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	if errX != nil || errY != nil {
		return a < b
	}
	return x < y
}

func wordRune(b byte) bool {
	return unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b))
}
