package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// lockPause is how long to wait before a lock that another process has is tried again.
const lockPause = 20 * time.Millisecond

// Lock keeps other processes, and other callers in this one, out of what path stands for,
// until unlock is called or the process ends. It waits for whoever has the lock until ctx is
// done, and returns ctx's cause then. The file is made if it is missing, and stays: two
// processes that lock a file which a third removes between them would not see each other.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		got, err := TryLock(f)
		switch {
		case err != nil:
			_ = f.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		case got:
			return func() { _ = f.Close() }, nil
		}
		t := time.NewTimer(lockPause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			_ = f.Close()
			return nil, context.Cause(ctx)
		}
	}
}
