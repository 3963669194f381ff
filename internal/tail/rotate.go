package tail

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// maxSiblings bounds how many entries of a folder are looked through for a file that was renamed.
const maxSiblings = 10_000

// follow finds every known file again and orders what is to be read: files that were rotated away first, then what is
// under the watched names. A file is the one we know if what we read of it is still there; its inode only decides
// between several.
func (s *scan) follow(known []File, present []*seen) ([]job, error) {
	m := &match{scan: s, known: known, present: present, at: make([]*seen, len(known)), taken: map[*seen]bool{}, found: map[string]bool{}, names: map[string][]string{}}
	for _, step := range []func() error{m.sameInode, m.renamed, m.sameName, m.copied, m.held} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	var plan []job
	for i, f := range known {
		if at := m.at[i]; at == nil {
			if j, keep := m.lost(i); keep {
				plan = append(plan, j)
			}
		} else if !m.taken[at] { // found, but under a name that is not watched
			plan = append(plan, m.rotated(i, f, at)...)
		}
	}
	owner := map[*seen]int{}
	for i, at := range m.at {
		if at != nil {
			owner[at] = i
		}
	}
	for _, p := range present {
		f := p.fresh()
		if i, ok := owner[p]; ok {
			f = known[i]
			f.Path, f.Dev, f.Inode, f.Since, f.Was, f.Gone = p.path, p.dev, p.inode, 0, "", false
		}
		plan = append(plan, job{f, p})
	}
	return plan, nil
}

// match is the search for the known files among those that are there now.
type match struct {
	*scan
	known   []File
	present []*seen
	at      []*seen // where known[i] is now
	taken   map[*seen]bool
	found   map[string]bool // paths beside the watched ones that have been given to a known file
	names   map[string][]string
	tries   int // files that were opened to look for content that had moved
}

// maxTries bounds the search of one read for content that had moved: a thousand files that go while a thousand come
// are not a million comparisons.
const maxTries = 10_000

// moved says whether what was read of f is now in p.
func (m *match) moved(f File, p *seen) (bool, error) {
	if m.tries++; m.tries > maxTries {
		return false, nil
	}
	return p.is(f)
}

func (m *match) claim(i int, p *seen) {
	m.at[i], m.taken[p] = p, true
}

// sameInode is the common case: nothing happened but growth.
func (m *match) sameInode() error {
	byInode := make(map[uint64]*seen, len(m.present))
	for _, p := range m.present {
		byInode[p.inode] = p
	}
	for i, f := range m.known {
		p := byInode[f.Inode]
		if p == nil || m.taken[p] {
			continue
		}
		if f.Gone && (f.Born == 0 || f.Born != born(p.path)) {
			continue
		}
		ok := f.Offset == 0 && p.bears(f)
		if !ok {
			var err error
			if ok, err = p.is(f); err != nil {
				return err
			}
		}
		if ok {
			m.claim(i, p)
		}
	}
	return nil
}

// renamed looks for files that were rotated away: the same inode under another name in the same folder.
func (m *match) renamed() error {
	for i, f := range m.known {
		if m.at[i] != nil || f.Gone {
			continue
		}
		at, err := m.sibling(f, func(p *seen) bool { return p.inode == f.Inode })
		if err != nil {
			return err
		}
		m.at[i] = at
	}
	return nil
}

// sameName finds a file that was written anew, whole, under its name: other inode, but what we read is still there.
func (m *match) sameName() error {
	byPath := make(map[string]*seen, len(m.present))
	for _, p := range m.present {
		byPath[p.path] = p
	}
	return m.unclaimed(func(f File) []*seen {
		if p := byPath[f.Path]; p != nil {
			return []*seen{p}
		}
		return nil
	})
}

// copied finds a file whose content was copied away before it was cut to nothing: under another watched name, or
// beside it.
func (m *match) copied() error {
	if err := m.unclaimed(func(File) []*seen { return m.present }); err != nil {
		return err
	}
	for i, f := range m.known {
		if m.at[i] != nil || f.Since != 0 {
			continue
		}
		at, err := m.sibling(f, func(p *seen) bool { return p.inode != f.Inode })
		if err != nil {
			return err
		}
		m.at[i] = at
	}
	return nil
}

// held finds files that have no name any more by the descriptors that are held of them.
func (m *match) held() error {
	for i, f := range m.known {
		if m.at[i] != nil || f.Gone || m.handles == nil {
			continue
		}
		file := m.handles.dup(f.Dev, f.Inode)
		if file == nil {
			continue
		}
		info, err := file.Stat()
		ok := err == nil && info.Size() >= f.Offset
		if ok && f.Offset > 0 {
			ok, err = holds(file, f)
		}
		file.Close()
		if err == nil && ok && !m.inUse(f) {
			m.at[i] = newSeen(f.Path, f.Path, info)
			m.at[i].held, m.at[i].elsewhere = true, links(info) > 0
		}
	}
	return nil
}

// inUse says that the inode of f is watched: a file that was cut, whose rest is not in it any more.
func (m *match) inUse(f File) bool {
	return slices.ContainsFunc(m.present, func(p *seen) bool { return p.inode == f.Inode && p.dev == f.Dev })
}

// unclaimed gives files that still have no place to the first candidate with their content.
func (m *match) unclaimed(candidates func(File) []*seen) error {
	for i, f := range m.known {
		if m.at[i] != nil || f.Since != 0 {
			continue
		}
		for _, p := range candidates(f) {
			if m.taken[p] {
				continue
			}
			ok, err := m.moved(f, p)
			if err != nil {
				return err
			}
			if ok {
				m.claim(i, p)
				break
			}
		}
	}
	return nil
}

// sibling finds f under another name in its folder. Errors of single candidates do not count: they are not what the
// user named.
func (m *match) sibling(f File, fits func(*seen) bool) (*seen, error) {
	watched := map[string]bool{}
	for _, p := range m.present {
		watched[p.path] = true
	}
	names, err := m.siblings(f.watched())
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(f.watched())
	for _, name := range names {
		path := filepath.Join(dir, name)
		if watched[path] || m.found[path] || m.ctx.Err() != nil {
			continue
		}
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		p := newSeen(path, path, info)
		if !fits(p) {
			continue
		}
		ok := f.Offset == 0 && p.bears(f) && rotatedName(name, filepath.Base(f.watched()))
		if !ok {
			ok, _ = m.moved(f, p)
		}
		if ok {
			m.found[path] = true
			return p, nil
		}
	}
	return nil, m.ctx.Err()
}

// siblings are the names in the folder of path that a rotation could have given it, its own first.
func (m *match) siblings(path string) ([]string, error) {
	base := filepath.Base(path)
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	names, err := m.folder(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, stem)
		if name == base || !ok || rest != "" && wordRune(rest[0]) {
			continue
		}
		out = append(out, name)
	}
	sort.Strings(out)
	return append([]string{base}, out...), nil
}

// folder lists a folder, each only once in a read.
func (m *match) folder(path string) ([]string, error) {
	if names, ok := m.names[path]; ok {
		return names, nil
	}
	dir, err := os.Open(path)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxSiblings)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	m.names[path] = names
	return names, nil
}

// lost is a known file that is nowhere.
func (m *match) lost(i int) (job, bool) {
	f := m.known[i]
	cut := false
	for _, p := range m.present {
		cut = cut || p.path == f.Path || p.inode == f.Inode
	}
	if f.Since == 0 && f.Unread > 0 {
		m.note("%s was rotated, %d bytes unread", f.Path, f.Unread)
	} else if f.Since == 0 && cut && f.Offset > 0 {
		m.note("%s was cut or replaced and is read from its start", f.Path)
	}
	if cut || f.Offset == 0 {
		return job{}, false
	}
	if f.Since == 0 {
		f.Since = m.now.Unix()
	}
	f.Gone, f.Unread = true, 0
	return job{f, nil}, true
}

// rotated is a file that lost its watched name, and the files that came and went between it and the present one.
func (m *match) rotated(i int, f File, at *seen) []job {
	was := f.watched()
	f.Path, f.Dev, f.Inode, f.Was = at.path, at.dev, at.inode, was
	if f.Since == 0 || f.Since > m.now.Unix() {
		f.Since = m.now.Unix()
	}
	plan := []job{{f, at}}
	for _, later := range m.known[i+1:] {
		if later.watched() == was {
			return plan // what came after it is known
		}
	}
	names, err := m.siblings(filepath.Join(filepath.Dir(at.path), filepath.Base(was)))
	if err != nil {
		m.note("files between %s and %s cannot be listed", at.path, was)
		return plan
	}
	base := filepath.Base(was)
	for _, name := range between(names, base, filepath.Base(at.path)) {
		p, err := lookAt(filepath.Join(filepath.Dir(at.path), name), folders{})
		if err != nil || p == nil || m.knows(p) {
			continue
		}
		g := p.fresh()
		g.Since, g.Was = m.now.Unix(), was
		plan = append(plan, job{g, p})
	}
	return plan
}

// watched is the watched name that a file has or had last.
func (f File) watched() string {
	if f.Was != "" {
		return f.Was
	}
	return f.Path
}

// knows says that p is watched, or is where a known file was found.
func (m *match) knows(p *seen) bool {
	for _, at := range append(slices.Clone(m.at), m.present...) {
		if at != nil && at.inode == p.inode && at.dev == p.dev {
			return true
		}
	}
	return false
}
