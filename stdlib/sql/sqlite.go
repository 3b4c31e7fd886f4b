package sql

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite "modernc.org/sqlite/lib"
)

// Bounds of a database.
const (
	maxLength     = 256 << 20 // bytes of one text or blob
	maxStatements = 32        // prepared ones that are kept
	lookEvery     = 10_000    // steps of SQLite's machine between two looks at whether the run has ended
)

var (
	started   atomic.Bool // SQLite counts what it holds
	exhausted atomic.Bool // there was no memory for it
)

// start makes SQLite ready, once a process, and has it count its memory. Where something
// else has used SQLite before, it does not.
var start = sync.OnceValue(func() int32 {
	tls := libc.NewTLS()
	defer tls.Close()
	list := libc.Xmalloc(tls, 8)
	if list == 0 {
		return sqlite.SQLITE_NOMEM
	}
	defer libc.Xfree(tls, list)
	counts := sqlite.Xsqlite3_config(tls, sqlite.SQLITE_CONFIG_MEMSTATUS, libc.VaList(list, int32(1))) == sqlite.SQLITE_OK
	rc := sqlite.Xsqlite3_initialize(tls)
	started.Store(counts && rc == sqlite.SQLITE_OK)
	return rc
})

// Exhausted is what Held returns when the system had no memory for a database.
const Exhausted = 1 << 60

// Held is how many bytes the databases of this process hold. They are no part of Go's
// heap. Any goroutine may call.
func Held() uint64 {
	switch {
	case exhausted.Load():
		return Exhausted
	case !started.Load():
		return 0
	}
	tls := libc.NewTLS()
	defer tls.Close()
	return uint64(max(0, sqlite.Xsqlite3_memory_used(tls)))
}

// conn is one database in memory. It is used under mu: by the script, and by whoever closes
// it when the run is over.
type conn struct {
	mu       sync.Mutex
	tls      *libc.TLS
	db       uintptr // 0 once it is closed
	over     func() bool
	out      [2]uintptr // what SQLite writes pointers to; this object does not move
	prepared map[string]*statement
	refused  string // what the last statement was not allowed

	// SQLite knows these by address: they live as long as this does.
	authorize func(tls *libc.TLS, arg uintptr, action int32, a, b, database, trigger uintptr) int32
	look      func(tls *libc.TLS, arg uintptr) int32
}

// statement is a prepared one.
type statement struct {
	ptr    uintptr
	params int
}

// failure is what SQLite says.
type failure struct {
	code    int32
	message string
	offset  int // in the text, -1 if it is about none
}

func (f *failure) Error() string { return f.message }

// noMemory is the failure of who gets no memory. Whoever looks at Held learns of it.
func noMemory() *failure {
	exhausted.Store(true)
	return &failure{code: sqlite.SQLITE_NOMEM, message: "out of memory", offset: -1}
}

// openConn makes a database. Its statements end early once ctx is done.
func openConn(ctx context.Context) (*conn, error) {
	if rc := start(); rc != sqlite.SQLITE_OK {
		return nil, &failure{code: rc, message: "SQLite cannot be started", offset: -1}
	}
	c := &conn{tls: libc.NewTLS(), over: func() bool { return ctx.Err() != nil }, prepared: map[string]*statement{}}
	name, vfs := c.text(":memory:"), c.text("memdb")
	defer c.free(name)
	defer c.free(vfs)
	if name == 0 || vfs == 0 {
		return nil, noMemory()
	}
	// memdb has no files at all: whatever else comes to be opened is in memory as well.
	const flags = sqlite.SQLITE_OPEN_READWRITE | sqlite.SQLITE_OPEN_CREATE | sqlite.SQLITE_OPEN_MEMORY | sqlite.SQLITE_OPEN_NOMUTEX | sqlite.SQLITE_OPEN_PRIVATECACHE
	rc := sqlite.Xsqlite3_open_v2(c.tls, name, c.slot(0), flags, vfs)
	c.db = c.out[0]
	if rc == sqlite.SQLITE_OK {
		rc = c.restrict()
	}
	if rc != sqlite.SQLITE_OK {
		err := c.failure(rc)
		c.close()
		return nil, err
	}
	return c, nil
}

// restrict takes from the database what reaches beyond it.
func (c *conn) restrict() int32 {
	sqlite.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	sqlite.Xsqlite3_limit(c.tls, c.db, sqlite.SQLITE_LIMIT_ATTACHED, 0)
	sqlite.Xsqlite3_limit(c.tls, c.db, sqlite.SQLITE_LIMIT_LENGTH, maxLength)
	sqlite.Xsqlite3_limit(c.tls, c.db, sqlite.SQLITE_LIMIT_WORKER_THREADS, 0)
	c.look = func(*libc.TLS, uintptr) int32 {
		if c.over() {
			return 1
		}
		return 0
	}
	sqlite.Xsqlite3_progress_handler(c.tls, c.db, lookEvery, *(*uintptr)(unsafe.Pointer(&c.look)), 0)
	// The allocator rounds up to powers of two, so that half of the memory of smaller pages
	// would be wasted; larger ones it takes from the system as they are.
	for _, setting := range []string{"PRAGMA page_size = 32768", "PRAGMA temp_store = 2", "PRAGMA foreign_keys = 1", "PRAGMA trusted_schema = 0"} {
		if err := c.exec(setting); err != nil {
			return sqlite.SQLITE_ERROR
		}
	}
	list := libc.Xmalloc(c.tls, 16)
	if list == 0 {
		return sqlite.SQLITE_NOMEM
	}
	defer libc.Xfree(c.tls, list)
	for _, set := range []struct{ option, to int32 }{
		{sqlite.SQLITE_DBCONFIG_DEFENSIVE, 1},
		{sqlite.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
		{sqlite.SQLITE_DBCONFIG_DQS_DML, 0}, // "x" is a name, and never a text
		{sqlite.SQLITE_DBCONFIG_DQS_DDL, 0},
	} {
		if rc := sqlite.Xsqlite3_db_config(c.tls, c.db, set.option, libc.VaList(list, set.to, uintptr(0))); rc != sqlite.SQLITE_OK {
			return rc
		}
	}
	c.authorize = func(_ *libc.TLS, _ uintptr, action int32, a, b, _, _ uintptr) int32 {
		if c.refused = forbidden(action, libc.GoString(a), libc.GoString(b)); c.refused != "" {
			return sqlite.SQLITE_DENY
		}
		return sqlite.SQLITE_OK
	}
	return sqlite.Xsqlite3_set_authorizer(c.tls, c.db, *(*uintptr)(unsafe.Pointer(&c.authorize)), 0)
}

// pragmas are those that a script may use: they tell, or are about the database alone.
var pragmas = []string{
	"application_id", "automatic_index", "collation_list", "compile_options", "count_changes", "data_version", "database_list",
	"defer_foreign_keys", "encoding", "foreign_key_check", "foreign_key_list", "foreign_keys", "freelist_count", "function_list",
	"ignore_check_constraints", "index_info", "index_list", "index_xinfo", "integrity_check", "module_list", "optimize", "page_count",
	"page_size", "pragma_list", "quick_check", "recursive_triggers", "reverse_unordered_selects", "table_info", "table_list", "table_xinfo",
	"user_version",
}

// modules are the kinds of virtual tables that a script may make.
var modules = []string{"fts5", "fts5vocab", "rtree", "rtree_i32", "geopoly"}

// forbidden says what of an action is not allowed; empty if it is.
func forbidden(action int32, a, b string) string {
	switch action {
	case sqlite.SQLITE_ATTACH:
		return "ATTACH, or VACUUM"
	case sqlite.SQLITE_DETACH:
		return "DETACH"
	case sqlite.SQLITE_PRAGMA:
		if !slices.Contains(pragmas, strings.ToLower(a)) {
			return "PRAGMA " + a
		}
	case sqlite.SQLITE_FUNCTION:
		switch name := strings.ToLower(b); name {
		case "load_extension", "fts3_tokenizer", "readfile", "writefile", "edit":
			return name + "()"
		}
	case sqlite.SQLITE_CREATE_VTABLE:
		if !slices.Contains(modules, strings.ToLower(b)) {
			return "a virtual table of the kind " + b
		}
	}
	return ""
}

func (c *conn) slot(i int) uintptr { return uintptr(unsafe.Pointer(&c.out[i])) }

// text copies a text to where SQLite can read it; 0 if there is no memory.
func (c *conn) text(s string) uintptr {
	p, err := libc.CString(s)
	if err != nil {
		return 0
	}
	return p
}

func (c *conn) free(p uintptr) {
	if p != 0 {
		libc.Xfree(c.tls, p)
	}
}

func (c *conn) failure(rc int32) error {
	if rc&0xFF == sqlite.SQLITE_NOMEM {
		return noMemory()
	}
	f := &failure{code: rc, message: libc.GoString(sqlite.Xsqlite3_errstr(c.tls, rc)), offset: -1}
	if c.db != 0 {
		f.message, f.offset = libc.GoString(sqlite.Xsqlite3_errmsg(c.tls, c.db)), int(sqlite.Xsqlite3_error_offset(c.tls, c.db))
	}
	if rc&0xFF == sqlite.SQLITE_AUTH && c.refused != "" {
		f.message = c.refused + " is not available: the database is in memory and reaches nothing else"
	}
	return f
}

// prepare compiles the first statement of a text. Size is that of the statement; s is nil
// if there is none, only space and comments.
func (c *conn) prepare(text string, lasting bool) (s *statement, size int, err error) {
	if len(text) > math.MaxInt32-1 {
		return nil, 0, &failure{code: sqlite.SQLITE_TOOBIG, message: "the statement is too long", offset: -1}
	}
	p := c.text(text)
	if p == 0 {
		return nil, 0, noMemory()
	}
	defer c.free(p)
	var flags uint32
	if lasting {
		flags = sqlite.SQLITE_PREPARE_PERSISTENT
	}
	c.refused = ""
	rc := sqlite.Xsqlite3_prepare_v3(c.tls, c.db, p, int32(len(text)), flags, c.slot(0), c.slot(1)) //nolint:gosec // bounded above
	size = int(c.out[1] - p)
	if rc != sqlite.SQLITE_OK {
		return nil, 0, c.failure(rc)
	}
	if c.out[0] == 0 {
		return nil, size, nil
	}
	s = &statement{ptr: c.out[0], params: int(sqlite.Xsqlite3_bind_parameter_count(c.tls, c.out[0]))}
	return s, size, nil
}

// columns are the names of the columns of a statement whose row has been read. A statement
// that is kept may have others than it had, if its tables were changed.
func (c *conn) columns(s *statement) []string {
	names := make([]string, sqlite.Xsqlite3_column_count(c.tls, s.ptr))
	for i := range names {
		names[i] = libc.GoString(sqlite.Xsqlite3_column_name(c.tls, s.ptr, int32(i))) //nolint:gosec // SQLite has some thousand
	}
	return names
}

// one returns the statement that a text is, which may hold no other.
func (c *conn) one(text string) (*statement, error) {
	if s := c.prepared[text]; s != nil {
		return s, nil
	}
	s, size, err := c.prepare(text, true)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, &failure{code: sqlite.SQLITE_MISUSE, message: "there is no statement in the text", offset: -1}
	}
	rest := text[size:]
	if strings.Trim(rest, " \t\r\n;") != "" {
		more, _, err := c.prepare(rest, false)
		if more != nil || err != nil {
			c.finalize(s)
			c.finalize(more)
			return nil, &failure{code: sqlite.SQLITE_MISUSE, message: "there is more than one statement in the text; exec takes several", offset: size}
		}
	}
	if len(c.prepared) >= maxStatements {
		for _, old := range c.prepared {
			c.finalize(old)
		}
		clear(c.prepared)
	}
	c.prepared[text] = s
	return s, nil
}

// done ends the use of a statement of one, which is kept for the next.
func (c *conn) done(s *statement) {
	sqlite.Xsqlite3_reset(c.tls, s.ptr)
	sqlite.Xsqlite3_clear_bindings(c.tls, s.ptr)
}

// again makes a statement ready for other values.
func (c *conn) again(s *statement) { sqlite.Xsqlite3_reset(c.tls, s.ptr) }

func (c *conn) finalize(s *statement) {
	if s != nil {
		sqlite.Xsqlite3_finalize(c.tls, s.ptr)
	}
}

// step reports whether there is another row.
func (c *conn) step(s *statement) (bool, error) {
	c.refused = ""
	if c.over() {
		return false, &failure{code: sqlite.SQLITE_INTERRUPT, message: "interrupted", offset: -1}
	}
	switch rc := sqlite.Xsqlite3_step(c.tls, s.ptr); rc {
	case sqlite.SQLITE_ROW:
		return true, nil
	case sqlite.SQLITE_DONE:
		return false, nil
	default:
		return false, c.failure(rc)
	}
}

// exec runs all statements of a text.
func (c *conn) exec(text string) error {
	for at := 0; at < len(text); {
		s, size, err := c.prepare(text[at:], false)
		if err != nil {
			if f := err.(*failure); f.offset >= 0 { //nolint:errorlint // it is one
				f.offset += at
			}
			return err
		}
		if at += size; s == nil {
			if size == 0 {
				return nil
			}
			continue
		}
		for more := true; more && err == nil; {
			more, err = c.step(s)
		}
		c.finalize(s)
		if err != nil {
			return err
		}
	}
	return nil
}

// bind gives a parameter, counted from 1, its value: nil, an int64, a float64, a string
// or bytes.
func (c *conn) bind(s *statement, at int, v any) error {
	i := int32(at) //nolint:gosec // SQLite has some ten thousand
	var rc int32
	switch v := v.(type) {
	case nil:
		rc = sqlite.Xsqlite3_bind_null(c.tls, s.ptr, i)
	case int64:
		rc = sqlite.Xsqlite3_bind_int64(c.tls, s.ptr, i, v)
	case float64:
		rc = sqlite.Xsqlite3_bind_double(c.tls, s.ptr, i, v)
	case string:
		rc = c.bindText(s, i, v, sqlite.Xsqlite3_bind_text)
	case []byte:
		if len(v) == 0 {
			rc = sqlite.Xsqlite3_bind_zeroblob(c.tls, s.ptr, i, 0)
		} else {
			rc = c.bindText(s, i, string(v), sqlite.Xsqlite3_bind_blob)
		}
	}
	if rc != sqlite.SQLITE_OK {
		return c.failure(rc)
	}
	return nil
}

func (c *conn) bindText(s *statement, i int32, text string, bind func(*libc.TLS, uintptr, int32, uintptr, int32, uintptr) int32) int32 {
	if len(text) > maxLength {
		return sqlite.SQLITE_TOOBIG
	}
	p := c.text(text)
	if p == 0 {
		return sqlite.SQLITE_NOMEM
	}
	defer c.free(p)
	const transient = math.MaxUint // SQLite takes a copy
	return bind(c.tls, s.ptr, i, p, int32(len(text)), transient)
}

// name is that of a parameter with its prefix; empty if it has none.
func (c *conn) name(s *statement, at int) string {
	return libc.GoString(sqlite.Xsqlite3_bind_parameter_name(c.tls, s.ptr, int32(at))) //nolint:gosec // see bind
}

// value is that of a column of the row, as bind takes it.
func (c *conn) value(s *statement, column int) any {
	i := int32(column) //nolint:gosec // SQLite has some thousand
	switch sqlite.Xsqlite3_column_type(c.tls, s.ptr, i) {
	case sqlite.SQLITE_INTEGER:
		return sqlite.Xsqlite3_column_int64(c.tls, s.ptr, i)
	case sqlite.SQLITE_FLOAT:
		return sqlite.Xsqlite3_column_double(c.tls, s.ptr, i)
	case sqlite.SQLITE_TEXT:
		p := sqlite.Xsqlite3_column_text(c.tls, s.ptr, i)
		return string(libc.GoBytes(p, int(sqlite.Xsqlite3_column_bytes(c.tls, s.ptr, i))))
	case sqlite.SQLITE_BLOB:
		p := sqlite.Xsqlite3_column_blob(c.tls, s.ptr, i)
		return append([]byte{}, libc.GoBytes(p, int(sqlite.Xsqlite3_column_bytes(c.tls, s.ptr, i)))...)
	}
	return nil
}

// total is how many rows all statements have changed so far, and changes how many the last
// one did that changed any.
func (c *conn) total() int64 { return sqlite.Xsqlite3_total_changes64(c.tls, c.db) }

func (c *conn) changes() int64 { return sqlite.Xsqlite3_changes64(c.tls, c.db) }

func (c *conn) lastRow() int64 { return sqlite.Xsqlite3_last_insert_rowid(c.tls, c.db) }

// close gives everything back. It may be called again.
func (c *conn) close() {
	if c.tls == nil {
		return
	}
	for _, s := range c.prepared {
		c.finalize(s)
	}
	c.prepared = nil
	if c.db != 0 {
		sqlite.Xsqlite3_close_v2(c.tls, c.db)
		c.db = 0
	}
	c.tls.Close()
	c.tls = nil
}
