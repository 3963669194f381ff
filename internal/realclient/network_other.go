//go:build !linux

package realclient

import "errors"

// namespace is a network of one's own; there is none here.
type namespace struct{}

func (*namespace) open() error { return errors.New("there are no network namespaces on this system") }

func (*namespace) made() bool { return false }

func (*namespace) do(f func()) { f() }

func (*namespace) close() {}

func readAttempts() (Attempts, error) { return Attempts{}, errors.ErrUnsupported }
