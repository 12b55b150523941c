//go:build linux || darwin || freebsd

package doctor

import "syscall"

// freeBytes are what this user may still write to the disk of a folder.
func freeBytes(dir string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil //nolint:gosec,unconvert // their types differ between systems
}
