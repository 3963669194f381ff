package specs

// Text is the whole spec as it stands in its file: two specs of the same text are the same.
func (s *Spec) Text() string { return string(s.src.text) }
