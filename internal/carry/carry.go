// Package carry appends data to a copy of this program's file, and reads it in that copy: a
// script and all that it needs become a program of their own.
//
// A program that carries something says so in its own image, so that what has been cut
// off or changed is noticed: then there is an error, and nothing is done. What stands
// behind the image is
//
//	what is carried | its length (8 bytes) | its SHA-256 (32 bytes) | the mark (16 bytes)
package carry

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"mcpx/internal/fault"
)

// image stands in the program's data. Its last byte is 1 in a program that carries
// something. It must be a variable that is not known when this is compiled.
var image = [...]byte{
	0x9e, 'm', 'c', 'p', 'x', ' ', 'c', 'a', 'r', 'r', 'i', 'e', 's', ' ', 's', 'o', 'm', 'e', 't', 'h', 'i', 'n', 'g', ':', ' ', 0xc3, 0x1f, 0x00, '0',
}

const (
	mark        = "\x8fmcpx carried 1\n"
	trailerSize = 8 + sha256.Size + len(mark)
)

// Max is how much a program carries at most.
const Max = 256 << 20

// Marked reports whether this program carries something. Where images cannot be changed,
// since they are signed, it is for Read to find out.
func Marked() bool { return image[len(image)-1] == '1' }

// Asks reports whether it is worth a Read of this program's own file.
func Asks() bool { return Marked() || runtime.GOOS == "darwin" }

// Append returns a copy of the program with payload behind it. The error's kind is usage if
// program is no mcpx of this build's making, or carries something already.
func Append(program, payload []byte) ([]byte, error) {
	if len(payload) > Max {
		return nil, fault.Limitf("a program can carry %d MiB at most", Max>>20)
	}
	if bytes.HasSuffix(program, []byte(mark)) {
		return nil, fault.Usagef("the program carries a script already").Hintf("build from mcpx itself")
	}
	plain := image
	plain[len(plain)-1] = '0'
	at := bytes.Index(program, plain[:])
	switch {
	case at < 0:
		return nil, fault.Usagef("the program is no mcpx, or one of another version that carries nothing").
			Hintf("give the file of an mcpx of this version")
	case bytes.Contains(program[at+1:], plain[:]):
		return nil, fault.Usagef("the program is not one mcpx alone")
	}
	out := make([]byte, 0, len(program)+len(payload)+trailerSize)
	out = append(out, program...)
	if !isMachO(program) { // the image of one is signed
		out[at+len(plain)-1] = '1'
	}
	out = append(out, payload...)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(payload)))
	sum := sha256.Sum256(payload)
	out = append(out, sum[:]...)
	return append(out, mark...), nil
}

// isMachO reports whether a program is one of macOS.
func isMachO(program []byte) bool {
	if len(program) < 4 {
		return false
	}
	switch binary.LittleEndian.Uint32(program) {
	case 0xfeedfacf, 0xfeedface, 0xcafebabe, 0xbebafeca:
		return true
	}
	return false
}

// Read returns what the program at path carries; nil if nothing. marked says that its image
// says so. What is damaged is an error.
func Read(path string, marked bool) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Unavailablef("the program cannot read its own file: %w", err)
	}
	defer f.Close()
	payload, err := read(f)
	switch {
	case err != nil:
		return nil, damaged(err)
	case payload == nil && marked:
		return nil, damaged(errors.New("the end of the file is missing"))
	}
	return payload, nil
}

func damaged(err error) error {
	return fault.Usagef("this program is damaged and does nothing: %w", err).Hintf("build it again, or copy it again from where it came from")
}

// Inspect returns what the program at path carries, and the SHA-256 of that.
func Inspect(path string) (payload []byte, digest string, err error) {
	program, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	marked := image
	marked[len(marked)-1] = '1'
	if payload, err = Read(path, bytes.Contains(program, marked[:])); err != nil || payload == nil {
		return nil, "", err
	}
	sum := sha256.Sum256(payload)
	return payload, hex.EncodeToString(sum[:]), nil
}

// IsProgram reports whether the file at path is an mcpx, with something behind it or not.
func IsProgram(path string) (bool, error) {
	program, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	common := image
	return bytes.Contains(program, common[:len(common)-1]), nil
}

// read returns what stands behind an image; nil if nothing does.
func read(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if size < int64(trailerSize) {
		return nil, nil
	}
	trailer := make([]byte, trailerSize)
	if _, err := f.ReadAt(trailer, size-int64(trailerSize)); err != nil {
		return nil, err
	}
	if !bytes.HasSuffix(trailer, []byte(mark)) {
		return nil, nil
	}
	length := binary.LittleEndian.Uint64(trailer)
	if length > Max || int64(length) > size-int64(trailerSize) {
		return nil, fmt.Errorf("what it carries would have %d bytes", length)
	}
	payload := make([]byte, length)
	if _, err := f.ReadAt(payload, size-int64(trailerSize)-int64(length)); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if sum := sha256.Sum256(payload); !bytes.Equal(sum[:], trailer[8:8+sha256.Size]) {
		return nil, errors.New("what it carries has been changed")
	}
	return payload, nil
}
