package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"modernc.org/sqlite"

	"mcpx/internal/fault"
)

// databasePatience is how long a statement waits for another process that writes.
const databasePatience = 30 * time.Second

// Database opens the database at path, which is made if it is missing, with the tables that
// the steps create. A step is a list of statements; those that a database has behind it are
// not run again, so that a later version adds steps and changes none. The caller must Close
// it.
//
// Transactions write, so that of two processes one waits for the other at their beginning.
// The error's kind is unavailable.
func Database(ctx context.Context, path string, steps ...string) (*sql.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, DatabaseError(path, err)
	}
	// SQLite makes the files beside it with the mode of the database.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, DatabaseError(path, err)
	}
	_ = f.Close()
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(" + strconv.FormatInt(databasePatience.Milliseconds(), 10) + ")", "synchronous(normal)", "foreign_keys(1)",
	}}
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(path), OmitHost: true, RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, DatabaseError(path, err)
	}
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, db, steps); err != nil {
		_ = db.Close()
		return nil, DatabaseError(path, err)
	}
	return db, nil
}

// UseDatabase opens a database as Database does, has f use it, and closes it. An error of f is
// DatabaseError's; sql.ErrNoRows, which says nothing of the database, comes back as it is.
func UseDatabase(ctx context.Context, path string, f func(db *sql.DB) error, steps ...string) error {
	db, err := Database(ctx, path, steps...)
	if err != nil {
		return err
	}
	defer db.Close()
	err = f(db)
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return DatabaseError(path, err)
}

// migrate runs the steps that a database does not have behind it.
func migrate(ctx context.Context, db *sql.DB, steps []string) error {
	var has int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&has); err != nil {
		return err
	}
	if has == len(steps) {
		return nil
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to take back
	// Another process may have been here meanwhile.
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&has); err != nil {
		return err
	}
	if has > len(steps) {
		return errors.New("a later version of mcpx has written it")
	}
	for _, step := range steps[has:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(steps))); err != nil {
		return err
	}
	return tx.Commit()
}

// Codes of SQLite.
const (
	codeCorrupt = 11
	codeNotOne  = 26 // there is something else in the file
)

// DatabaseError says what is wrong with the database at path. The kind is unavailable, if
// err has none.
func DatabaseError(path string, err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := fault.Unavailablef("the database %s: %w", path, err)
	if s, ok := errors.AsType[*sqlite.Error](err); ok && (s.Code()&0xff == codeCorrupt || s.Code()&0xff == codeNotOne) {
		return e.Hintf("it is damaged: remove it, and what it knew is forgotten")
	}
	return e.Hintf("set MCPX_STATE_DIR to a directory that can be written")
}
