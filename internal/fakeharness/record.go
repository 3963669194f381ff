package fakeharness

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// object is JSON whose members keep their order, as those of the clients do.
type object []member

type member struct {
	name  string
	value any
}

// obj makes an object of names and values in turn.
func obj(pairs ...any) object {
	o := make(object, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		o = append(o, member{pairs[i].(string), pairs[i+1]})
	}
	return o
}

// and is the object with more members.
func (o object) and(pairs ...any) object {
	return append(o[:len(o):len(o)], obj(pairs...)...)
}

// MarshalJSON keeps the order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(m.name))
		b.WriteByte(':')
		b.Write(encode(m.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode is compact JSON as JavaScript makes it: "<" stays "<".
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // all of it is made here
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// appendLine adds a record to a file of them.
func appendLine(path string, v any) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(encode(v), '\n'))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// uuid4 is a random one, as Claude Code makes them.
func uuid4() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return uuid(b, 4)
}

// uuid7 begins with the time, as those of Codex and Pi.
func uuid7() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	binary.BigEndian.PutUint64(b[:8], uint64(time.Now().UnixMilli())<<16|uint64(b[6])<<8|uint64(b[7]))
	return uuid(b, 7)
}

func uuid(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// hexID is n random hexadecimal digits.
func hexID(n int) string {
	b := make([]byte, (n+1)/2)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)[:n]
}

// stamp is the time as the clients write it.
func stamp() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }
