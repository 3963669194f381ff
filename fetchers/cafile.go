package fetchers

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// maxCA bounds the file of certificates: that of a whole system has about 250 KB.
const maxCA = megabyte

// fileID tells whether a file is still the one that was read, also where it was replaced by one of the same size.
type fileID struct {
	device, inode    uint64
	size             int64
	written, changed time.Time
}

func fileIDOf(info fs.FileInfo) fileID {
	id := fileID{size: info.Size(), written: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		id.device, id.inode, id.changed = uint64(st.Dev), uint64(st.Ino), time.Unix(ctime(st)) // the widths differ between systems
	}
	return id
}

// trusting is the client that trusts the certificates of a file beside those of the system.
func (s *Set) trusting(path string, now time.Time) (*client, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0) // a pipe in its place must not hold us
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a file")
	}
	id := fileIDOf(info)
	if c := s.living(path, id, now); c != nil {
		return c, nil
	}
	pem, err := io.ReadAll(io.LimitReader(f, maxCA+1))
	if err != nil {
		return nil, err
	}
	if len(pem) > maxCA {
		return nil, fmt.Errorf("more than %d bytes", maxCA)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("those of the system: %w", err)
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("there is none in it")
	}
	return s.adopt(path, &client{Transport: newTransport(roots), born: now, file: id}), nil
}
