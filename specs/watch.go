package specs

import "github.com/sessevents/sessevents/engine"

var _ engine.Watcher = (*Source)(nil)

// Watch is [engine.Watcher.Watch]: what the steps of target read on this disk. A step whose options cannot be known
// before the poll is left to the interval.
func (s *Source) Watch(target engine.Target) (paths []string) {
	values, err := s.target.values(target.Value)
	if err != nil {
		return nil
	}
	env := map[string]any{"target": values, budgetName: &budget{poll: maxPollSteps}}
	for _, st := range s.steps {
		if st.fetcher.Watch == nil {
			continue
		}
		options := map[string]any{}
		known := true
		for _, o := range st.options {
			v, err := o.value(env)
			if known = known && err == nil; known && v != nil {
				options[o.Name] = v
			}
		}
		if known {
			paths = append(paths, st.fetcher.Watch(options)...)
		}
	}
	return paths
}
