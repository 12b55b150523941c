//go:build unix

package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// An owner is the user who runs the server and owns the cluster's files: the
// own user, or another one where we are root, as PostgreSQL refuses to run as
// root.
type owner struct {
	name       string
	credential *syscall.Credential // nil: ourselves
}

func isRoot() bool { return os.Geteuid() == 0 }

// ownerOf is the user whom the cluster belongs to already, or else the user for
// a new one.
func ownerOf(h home) (owner, error) {
	info, err := os.Stat(h.data())
	if err != nil && !os.IsNotExist(err) {
		return owner{}, err
	}
	if err != nil {
		return newOwner()
	}
	stat := info.Sys().(*syscall.Stat_t)
	name := nameOf(stat.Uid)
	switch {
	case int(stat.Uid) == os.Geteuid() && !isRoot():
		return owner{name: name}, nil
	case !isRoot():
		return owner{}, fmt.Errorf("the cluster belongs to user %s: run as that user or as root", name)
	case stat.Uid == 0:
		return owner{}, fmt.Errorf("the cluster belongs to root, as whom PostgreSQL does not run: chown -R postgres %s", h.data())
	}
	return owner{name, &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}}, nil
}

func nameOf(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

func newOwner() (owner, error) {
	if !isRoot() {
		return owner{name: nameOf(uint32(os.Geteuid()))}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return ownerFor(u)
		}
	}
	return owner{}, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody to run it as")
}

func ownerFor(u *user.User) (owner, error) {
	uid, err := strconv.ParseInt(u.Uid, 10, 64)
	gid, err2 := strconv.ParseInt(u.Gid, 10, 64)
	if err := errors.Join(err, err2); err != nil {
		return owner{}, fmt.Errorf("ids of user %s: %w", u.Username, err)
	}
	return owner{u.Username, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// own hands a file or folder of ours to the owner.
func (o owner) own(path string) error {
	if o.credential == nil {
		return nil
	}
	return os.Lchown(path, int(o.credential.Uid), int(o.credential.Gid))
}

// command is a program of PostgreSQL as it is always run: by the owner, in no
// terminal's group, and without our environment, which holds secrets.
func (o owner) command(cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: o.credential}
	return cmd
}

// mustReach tells what keeps the owner from path.
func (o owner) mustReach(path string) error {
	if o.credential == nil {
		return nil
	}
	for at := path; ; at = filepath.Dir(at) {
		ok, err := o.mayEnter(at)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf(
				"user %s, who runs PostgreSQL, cannot reach %s: %s keeps others out (choose another data directory, or chmod 0711 %s)",
				o.name, path, at, at,
			)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func (o owner) mayEnter(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	stat := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode().Perm(); {
	case stat.Uid == o.credential.Uid:
		return mode&0o100 != 0, nil
	case stat.Gid == o.credential.Gid:
		return mode&0o010 != 0, nil
	default:
		return mode&0o001 != 0, nil
	}
}
