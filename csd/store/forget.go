package store

import "fmt"

// Forget takes back that m is a worker, after an adoption that failed: its meta, index, marker and shim go. What was
// there before, its events and its home, stays for the next try.
func (r *Root) Forget(m Meta) error {
	return r.withMeta(m.TmuxName, func() error {
		err := removeAll(r.file(m.SessionID+metaEnd), r.indexed(m.TmuxName), r.file(m.TmuxName+markerEnd), r.file(m.TmuxName+stateEnd), r.Shim(m.TmuxName))
		if err != nil {
			return fmt.Errorf("forget worker %q: %w", m.TmuxName, err)
		}
		return nil
	})
}
