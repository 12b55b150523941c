package route

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Documents that are too long for the memory are files, which are sent part by part.

const filePart = 256 << 10 // bytes that a client takes at a time

// close ends the file of a document, if it has one.
func (d *Document) close() {
	if d != nil && d.File != nil {
		_ = d.File.Close() // it was only read
	}
}

// send sends the file of a document from its beginning. A client has a while for each part,
// however long all of it takes.
func (d *Document) send(x *exchange, status int) {
	length, err := d.File.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = d.File.Seek(0, io.SeekStart)
	}
	if err != nil {
		x.refuse(fmt.Errorf("read a file to send: %w", err))
		return
	}
	if !opens(x, status, length) {
		return
	}
	to := http.NewResponseController(x.w)
	for err == nil {
		err = to.SetWriteDeadline(x.t.options.Now().Add(writing))
		if err == nil || errors.Is(err, http.ErrNotSupported) {
			_, err = io.CopyN(x.w, d.File, filePart)
		}
	}
	if !errors.Is(err, io.EOF) {
		x.t.options.Log.DebugContext(x.r.Context(), "the client has gone", "request_id", x.call.RequestID, "err", err.Error())
	}
}
