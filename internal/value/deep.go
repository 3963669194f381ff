package value

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"
)

// MaxDepth is how deep lists and objects may be nested in a value from outside: no document that people make comes near
// it. Much of what is done with a value takes time by its depth, for each of its parts once more, and some of it a part
// of the stack.
const MaxDepth = 1000

// ErrTooDeep says that a value is nested deeper than MaxDepth.
var ErrTooDeep = fmt.Errorf("nested deeper than %d levels", MaxDepth)

// TooDeep reports whether a value is nested deeper than MaxDepth. It looks no deeper itself.
func TooDeep(v any) bool { return deeper(v, MaxDepth) }

func deeper(v any, most int) bool {
	switch v := v.(type) {
	case []any:
		if most == 0 {
			return true
		}
		for _, e := range v {
			if deeper(e, most-1) {
				return true
			}
		}
	case map[string]any:
		if most == 0 {
			return true
		}
		for _, e := range v {
			if deeper(e, most-1) {
				return true
			}
		}
	}
	return false
}

// NormaliseAll is [Normalise] for many values that may share their parts, as the outputs of a jq program do: `..` gives
// each part of a document once for each level above it. It fails with ErrTooDeep, or when ctx ends.
func NormaliseAll(ctx context.Context, vs []any) error {
	w := walk{ctx: ctx}
	for i, v := range vs {
		n, err := w.bring(v, 0)
		if err != nil {
			return err
		}
		vs[i] = n
	}
	return nil
}

const (
	// rememberFrom is after how many parts a walk begins to remember where it was: what is smaller is faster walked
	// again.
	rememberFrom = 100_000
	// lookEvery is after how many parts it looks whether it should end.
	lookEvery = 10_000
)

// walk brings values behind the border, and those that it meets again and again only once.
type walk struct {
	ctx   context.Context
	steps int
	been  map[container]int // the depth at which it was there
}

// container is a map or the place of a list; size tells lists that begin at one place apart.
type container struct {
	at   unsafe.Pointer
	size int
}

// again notes a container at a depth, and says whether it need not be gone into.
func (w *walk) again(c container, depth int) (bool, error) {
	if depth >= MaxDepth {
		return false, ErrTooDeep
	}
	if w.steps < rememberFrom {
		return false, nil
	}
	if before, ok := w.been[c]; ok && before >= depth {
		return true, nil
	}
	if w.been == nil {
		w.been = map[container]int{}
	}
	w.been[c] = depth
	return false, nil
}

func (w *walk) bring(v any, depth int) (any, error) {
	if w.steps++; w.steps%lookEvery == 0 && w.ctx.Err() != nil {
		return nil, w.ctx.Err()
	}
	switch v := v.(type) {
	case []any:
		if again, err := w.again(container{unsafe.Pointer(unsafe.SliceData(v)), len(v)}, depth); again || err != nil {
			return v, err
		}
		for i, e := range v {
			n, err := w.bring(e, depth+1)
			if err != nil {
				return nil, err
			}
			if !same(n, e) {
				v[i] = n
			}
		}
		return v, nil
	case map[string]any:
		if again, err := w.again(container{reflect.ValueOf(v).UnsafePointer(), -1}, depth); again || err != nil {
			return v, err
		}
		for k, e := range v {
			n, err := w.bring(e, depth+1)
			if err != nil {
				return nil, err
			}
			if !same(n, e) {
				v[k] = n
			}
		}
		return v, nil
	}
	return Normalise(v), nil
}
