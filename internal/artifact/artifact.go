// Package artifact keeps what scripts want kept beyond their run: bytes under the state
// directory, by their sha256, with an index of who has kept them under which name.
//
//	artifacts/index.db      the registrations: what List and Get know of
//	artifacts/blobs/SHA256  the bytes, once for all registrations of them
//	artifacts/making/…      what is still being written
//
// A registration has a random id, which is the only way to what it keeps: who knows the
// hash of some bytes learns nothing by it. Bytes are written aside and get their name in
// the transaction that registers them, so that an id never leads to a part of them. They go
// with their last registration.
package artifact

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/store"
)

// Artifact is what is known of one.
type Artifact struct {
	ID      string // 128 bits that nobody can guess
	Name    string // as Clean makes it
	MIME    string
	Size    int64
	SHA256  string
	Created time.Time
	Expires time.Time // zero: never
	Path    string    // of the bytes; they are not to be changed
}

// URI names the artifact without telling where it is.
func (a Artifact) URI() string { return "artifact://" + a.ID + "/" + a.Name }

// ErrNone says that no artifact has the id, or that it is gone.
var ErrNone = errors.New("there is no such artifact")

// Store is a folder of artifacts. It may be used by several processes at once. It holds
// nothing open between its methods.
type Store struct {
	Dir   string        // absolute; empty keeps nothing
	Max   int64         // bytes of one; 0 is no limit
	Quota int64         // distinct bytes of all; 0 is no limit
	TTL   time.Duration // how long what is kept now is kept; 0 is for ever
}

const (
	indexFile = "index.db"
	blobs     = "blobs"
	making    = "making"
)

const schema = `
CREATE TABLE blob (sha TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE artifact (
	id TEXT PRIMARY KEY, name TEXT NOT NULL, mime TEXT NOT NULL,
	sha TEXT NOT NULL REFERENCES blob(sha), created INTEGER NOT NULL, expires INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX artifact_sha ON artifact(sha);
CREATE INDEX artifact_expires ON artifact(expires);
CREATE TABLE swept (at INTEGER NOT NULL);
INSERT INTO swept VALUES (0);`

// Put keeps data under a name. An empty kind is found from the name and the data. The
// error's kind is limit for data that is too large or finds no room, and unavailable if
// the disk does not take it.
func (s Store) Put(ctx context.Context, name, kind string, data []byte) (Artifact, error) {
	if s.Max > 0 && int64(len(data)) > s.Max && s.Dir != "" {
		return Artifact{}, fault.Limitf("the artifact %q has %d bytes, %d are allowed", name, len(data), s.Max).
			Hintf("keep less, or raise artifacts.maxBytes")
	}
	d, err := s.New(name)
	if err != nil {
		return Artifact{}, err
	}
	if _, err := d.Write(data); err != nil {
		d.Discard()
		return Artifact{}, err
	}
	return d.Keep(ctx, kind)
}

// PutFrom keeps what r gives, likewise.
func (s Store) PutFrom(ctx context.Context, name, kind string, r io.Reader) (Artifact, error) {
	d, err := s.New(name)
	if err != nil {
		return Artifact{}, err
	}
	if _, err := io.Copy(d, r); err != nil {
		d.Discard()
		return Artifact{}, err
	}
	return d.Keep(ctx, kind)
}

// Draft is an artifact that is being written. It ends with Keep or Discard.
type Draft struct {
	s      Store
	name   string
	f      *os.File
	sum    hash.Hash
	size   int64
	begins []byte // the first bytes, which tell what it is
	err    error
}

// sniffed is how many bytes tell what it is.
const sniffed = 512

// New begins an artifact.
func (s Store) New(name string) (*Draft, error) {
	if s.Dir == "" {
		return nil, fault.Unavailablef("there is no state directory to keep artifacts in").Hintf("set MCPX_STATE_DIR or HOME")
	}
	dir := filepath.Join(s.Dir, making)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, s.unkept(name, err)
	}
	f, err := os.CreateTemp(dir, "*.part")
	if err != nil {
		return nil, s.unkept(name, err)
	}
	return &Draft{s: s, name: name, f: f, sum: sha256.New()}, nil
}

func (s Store) unkept(name string, err error) error {
	return fault.Unavailablef("the artifact %q cannot be kept: %w", name, reason(err)).Hintf("set MCPX_STATE_DIR to a directory that can be written")
}

// Write adds to the artifact. Its error is that of Keep; of kind limit for what is too large.
func (d *Draft) Write(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	if most := d.s.Max; most > 0 && d.size+int64(len(p)) > most {
		d.err = fault.Limitf("the artifact %q has more than the %d bytes that one may have", d.name, most).
			Hintf("keep less, or raise artifacts.maxBytes")
		return 0, d.err
	}
	if room := sniffed - len(d.begins); room > 0 {
		d.begins = append(d.begins, p[:min(room, len(p))]...)
	}
	n, err := d.f.Write(p)
	d.sum.Write(p[:n])
	d.size += int64(n)
	if err != nil {
		d.err = d.s.unkept(d.name, err)
	}
	return n, d.err
}

// Discard forgets what was written. After Keep it does nothing.
func (d *Draft) Discard() {
	if d.f != nil {
		_ = d.f.Close()
		_ = os.Remove(d.f.Name())
		d.f = nil
	}
}

// Keep registers what was written.
func (d *Draft) Keep(ctx context.Context, kind string) (Artifact, error) {
	defer d.Discard()
	if d.err != nil {
		return Artifact{}, d.err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	a := Artifact{
		ID: strings.ToLower(rand.Text()), Name: Clean(d.name), MIME: mediaType(kind, d.name, d.begins), Size: d.size,
		SHA256: hex.EncodeToString(d.sum.Sum(nil)), Created: now,
	}
	if d.s.TTL > 0 {
		a.Expires = now.Add(d.s.TTL)
	}
	a.Path = d.s.blob(a.SHA256)
	err := d.f.Chmod(0o400)
	if err == nil {
		err = d.f.Close()
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(a.Path), 0o700)
	}
	if err != nil {
		return Artifact{}, d.s.unkept(d.name, err)
	}
	err = d.s.change(ctx, func(tx *sql.Tx) error {
		if err := d.s.sweep(ctx, tx); err != nil {
			return err
		}
		if err := d.s.room(ctx, tx, a); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO blob (sha, size) VALUES (?, ?) ON CONFLICT DO NOTHING", a.SHA256, a.Size); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO artifact (id, name, mime, sha, created, expires) VALUES (?, ?, ?, ?, ?, ?)",
			a.ID, a.Name, a.MIME, a.SHA256, stamp(a.Created), stamp(a.Expires)); err != nil {
			return err
		}
		// The same bytes may be there. If the transaction does not come about, a sweep finds
		// these without a row.
		if info, err := os.Stat(a.Path); err == nil && info.Size() == a.Size {
			return nil
		}
		if err := os.Rename(d.f.Name(), a.Path); err != nil {
			return d.s.unkept(d.name, err)
		}
		return nil
	})
	if err != nil {
		return Artifact{}, err
	}
	return a, nil
}

// room says whether another artifact fits.
func (s Store) room(ctx context.Context, tx *sql.Tx, a Artifact) error {
	if s.Quota <= 0 {
		return nil
	}
	var used int64
	err := tx.QueryRowContext(ctx, "SELECT coalesce(sum(size), 0) FROM blob WHERE sha <> ?", a.SHA256).Scan(&used)
	if err != nil {
		return err
	}
	if used+a.Size > s.Quota {
		return fault.Limitf("there is no room for an artifact of %d bytes: all of them may have %d, and have %d", a.Size, s.Quota, used).
			Hintf("mcpx artifact delete removes one, or raise artifacts.quota")
	}
	return nil
}

// List returns the artifacts, the newest first.
func (s Store) List(ctx context.Context) ([]Artifact, error) {
	if !s.exists() {
		return nil, nil
	}
	var list []Artifact
	err := s.open(ctx, func(db *sql.DB) error {
		rows, err := db.QueryContext(ctx, query+" ORDER BY created DESC, id", stamp(time.Now()))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			a, err := s.scan(rows)
			if err != nil {
				return err
			}
			list = append(list, a)
		}
		return rows.Err()
	})
	return list, err
}

// Get returns one artifact. The error is ErrNone, of kind notfound, if there is none.
func (s Store) Get(ctx context.Context, id string) (Artifact, error) {
	var a Artifact
	if !s.exists() {
		return a, none(id)
	}
	err := s.open(ctx, func(db *sql.DB) error {
		var err error
		a, err = s.scan(db.QueryRowContext(ctx, query+" AND id = ?", stamp(time.Now()), id))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return a, none(id)
	}
	return a, err
}

// Open opens the bytes of one artifact. The caller must close them.
func (s Store) Open(ctx context.Context, id string) (Artifact, *os.File, error) {
	a, err := s.Get(ctx, id)
	if err != nil {
		return a, nil, err
	}
	f, err := os.Open(a.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return a, nil, none(id) // it has gone at this moment
	case err != nil:
		return a, nil, fault.Unavailablef("the artifact %s cannot be read: %w", id, reason(err))
	}
	return a, f, nil
}

// Delete forgets one artifact. The error is ErrNone, of kind notfound, if there is none.
func (s Store) Delete(ctx context.Context, id string) (Artifact, error) {
	a, err := s.Get(ctx, id)
	if err != nil {
		return a, err
	}
	err = s.change(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, "DELETE FROM artifact WHERE id = ?", id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err == nil && n == 0 {
			return none(id)
		}
		return nil
	})
	if err != nil {
		return a, err
	}
	return a, s.change(ctx, func(tx *sql.Tx) error { return s.drop(ctx, tx) })
}

func none(id string) error {
	return fault.NotFoundf("%w: %q", ErrNone, id).Hintf("mcpx artifact list shows them; each is kept as long as artifacts.ttl says")
}

// Sweep forgets what is past its time.
func (s Store) Sweep(ctx context.Context) error {
	if !s.exists() {
		return nil
	}
	return s.change(ctx, func(tx *sql.Tx) error { return s.sweep(ctx, tx) })
}

// sweep forgets what is past its time. Its bytes go now if nothing else keeps them: if the
// transaction does not come about, rows without bytes are past their time all the same, and
// are seen by nobody.
func (s Store) sweep(ctx context.Context, tx *sql.Tx) error {
	now := time.Now()
	done, err := tx.ExecContext(ctx, "DELETE FROM artifact WHERE expires > 0 AND expires <= ?", stamp(now))
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n > 0 {
		if err := s.drop(ctx, tx); err != nil {
			return err
		}
	}
	var last int64
	if err := tx.QueryRowContext(ctx, "SELECT at FROM swept").Scan(&last); err != nil {
		return err
	}
	if now.Sub(time.UnixMilli(last)) < strayEvery {
		return nil
	}
	if err := s.strays(ctx, tx, now); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE swept SET at = ?", stamp(now))
	return err
}

const (
	// strayEvery is how often it is looked for files that no row knows.
	strayEvery = 10 * time.Minute
	// abandoned is how old a file must be that nobody has finished.
	abandoned = time.Hour
)

// drop removes the bytes that nothing keeps any more. Nobody can begin to keep them
// meanwhile: that takes a transaction too.
func (s Store) drop(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, "DELETE FROM blob WHERE NOT EXISTS (SELECT 1 FROM artifact WHERE artifact.sha = blob.sha) RETURNING sha")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var sha string
		if err := rows.Scan(&sha); err != nil {
			return err
		}
		_ = remove(s.blob(sha)) // a later sweep finds what cannot be removed now
	}
	return rows.Err()
}

// strays removes what writers have left that were killed.
func (s Store) strays(ctx context.Context, tx *sql.Tx, now time.Time) error {
	left, _ := os.ReadDir(filepath.Join(s.Dir, making)) // without one there is nothing
	for _, e := range left {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > abandoned {
			_ = remove(filepath.Join(s.Dir, making, e.Name()))
		}
	}
	have, _ := os.ReadDir(filepath.Join(s.Dir, blobs))
	for _, e := range have {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM blob WHERE sha = ?", e.Name()).Scan(&n); err != nil {
			return err
		}
		if n == 0 {
			_ = remove(filepath.Join(s.Dir, blobs, e.Name()))
		}
	}
	return nil
}

// remove removes a file that is not to be written, which Windows does not let one.
func remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrPermission) {
		_ = os.Chmod(path, 0o600)
		err = os.Remove(path)
	}
	return err
}

func (s Store) blob(sha string) string { return filepath.Join(s.Dir, blobs, sha) }

// exists reports whether anything was ever kept.
func (s Store) exists() bool {
	if s.Dir == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(s.Dir, indexFile))
	return err == nil
}

const query = "SELECT id, name, mime, size, artifact.sha, created, expires FROM artifact JOIN blob ON blob.sha = artifact.sha WHERE (expires = 0 OR expires > ?)"

func (s Store) scan(row interface{ Scan(to ...any) error }) (Artifact, error) {
	var a Artifact
	var created, expires int64
	if err := row.Scan(&a.ID, &a.Name, &a.MIME, &a.Size, &a.SHA256, &created, &expires); err != nil {
		return a, err
	}
	a.Created = time.UnixMilli(created).UTC()
	if expires != 0 {
		a.Expires = time.UnixMilli(expires).UTC()
	}
	a.Path = s.blob(a.SHA256)
	return a, nil
}

// stamp is a time as the index has it; 0 is none.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// open has f use the index.
func (s Store) open(ctx context.Context, f func(db *sql.DB) error) error {
	return store.UseDatabase(ctx, filepath.Join(s.Dir, indexFile), f, schema)
}

// change has f change the index, whole or not at all. No other process changes it meanwhile.
func (s Store) change(ctx context.Context, f func(tx *sql.Tx) error) error {
	return s.open(ctx, func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to take back
		if err := f(tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}

func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
