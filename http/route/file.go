package route

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
)

// Documents that are too long for the memory are files, which are sent part by part.

const filePart = 256 << 10 // bytes that a client takes at a time

// close ends the file of a document, if it has one.
func (d *Document) close() {
	if d != nil && d.File != nil {
		_ = d.File.Close() // it was only read
	}
}

// sendFile sends a file from its beginning. A client has a while for each part, however
// long all of it takes.
func (x *exchange) sendFile(status int, file *os.File) {
	length, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		x.refuse(fmt.Errorf("read a file to send: %w", err))
		return
	}
	if !x.opens(status, length) {
		return
	}
	to := http.NewResponseController(x.w)
	for err == nil {
		err = to.SetWriteDeadline(x.t.options.Now().Add(writing))
		if err == nil || errors.Is(err, http.ErrNotSupported) {
			_, err = io.CopyN(x.w, file, filePart)
		}
	}
	if !errors.Is(err, io.EOF) {
		x.noteGone()
	}
}
