// Package export writes what the panel knows of a tenant into one archive
// (docs/tenants.md, "Data export").
package export

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"hostpanel/domain/field"
	"hostpanel/projections"
)

// A Part writes what one area knows of the tenant that the scope reads for.
type Part func(ctx context.Context, scope projections.Scope, to *Archive) error

// An Archive is a ZIP that is being written. Its files stand in the order of the parts.
type Archive struct {
	zip   *zip.Writer
	at    time.Time
	later []func(context.Context) error
	lacks []string
}

// A Snapshot lets read see all tables as they are at one moment.
type Snapshot func(ctx context.Context, read func(projections.Scope) error) error

// Make writes the parts as they are at one moment into a file without a name, which is gone
// once it is closed. So no archive is in memory, and no slow client holds the database.
func Make(ctx context.Context, at time.Time, language string, of Snapshot, parts ...Part) (_ *os.File, err error) {
	file, err := os.CreateTemp("", "hostpanel-export-*") // with mode 0600
	if err != nil {
		return nil, fmt.Errorf("make a file for an export: %w", err)
	}
	defer func() {
		if err != nil {
			_ = file.Close()
		}
	}()
	if err := os.Remove(file.Name()); err != nil {
		return nil, fmt.Errorf("take the name of an export: %w", err)
	}
	buffer := bufio.NewWriterSize(file, 64<<10)
	a := &Archive{zip: zip.NewWriter(buffer), at: at.UTC()}
	if err := a.fill(ctx, language, of, parts); err != nil {
		return nil, err
	}
	if err := errors.Join(a.zip.Close(), buffer.Flush()); err != nil {
		return nil, fmt.Errorf("write an export: %w", err)
	}
	return file, nil
}

// fill writes the parts, then what they have left for later, and in the end what the reader
// has to know.
func (a *Archive) fill(ctx context.Context, language string, of Snapshot, parts []Part) error {
	err := of(ctx, func(scope projections.Scope) error {
		for _, part := range parts {
			if err := part(ctx, scope, a); err != nil {
				return err
			}
		}
		return nil
	})
	for _, write := range a.later {
		if err == nil {
			err = write(ctx)
		}
	}
	if err != nil {
		return err
	}
	return a.File("README.txt", []byte(a.readme(language)))
}

// Later writes something after all parts, when the moment is no more held: what never
// changes, and takes long.
func (a *Archive) Later(write func(context.Context) error) { a.later = append(a.later, write) }

// Lacks tells the reader that a file could not be had.
func (a *Archive) Lacks(file string) { a.lacks = append(a.lacks, file) }

// File adds a file.
func (a *Archive) File(name string, content []byte) error {
	return a.write(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

func (a *Archive) write(name string, write func(io.Writer) error) error {
	w, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: a.at})
	if err == nil {
		err = write(w)
	}
	if err != nil {
		return fmt.Errorf("write %s into an export: %w", name, err)
	}
	return nil
}

// pageSize is how many records are in memory at a time.
const pageSize = 500

// Records adds a list as a file of JSON, a record a line, the oldest first. They are read
// page by page.
func Records[R any](
	ctx context.Context, to *Archive, name string,
	list func(context.Context, projections.Listing) (projections.Listed[R], error), fields func(*R) field.Set,
) error {
	return to.write(name, func(w io.Writer) error {
		separator := "[\n"
		for offset := int64(0); ; offset += pageSize {
			page, err := list(
				ctx,
				projections.Listing{Order: []projections.Ordering{{Field: "created_at"}}, Offset: offset, Limit: pageSize},
			)
			if err != nil {
				return err
			}
			for i := range page.Rows {
				line := fields(&page.Rows[i]).AppendJSON([]byte(separator))
				if _, err := w.Write(line); err != nil {
					return err
				}
				separator = ",\n"
			}
			if offset+pageSize >= page.Count {
				break
			}
		}
		end := "\n]\n"
		if separator == "[\n" {
			end = "[]\n"
		}
		_, err := io.WriteString(w, end)
		return err
	})
}
