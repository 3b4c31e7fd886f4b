package sql_test

import (
	"strings"
	"testing"

	"mcpx/stdlib/console"
	"mcpx/stdlib/internal/declared"
	"mcpx/stdlib/internal/trial"
	"mcpx/stdlib/sql"
)

func run(code string) string {
	stdout, stderr := trial.Run(`import { open } from "mcpx:sql"; const db = open(); const show = (v) => console.log(JSON.stringify(v, (k, x) => typeof x === "bigint" ? x + "n" : x));
		const fails = (fn) => { try { console.log("?", fn()) } catch (e) { console.log(e.name, e.code, e.message) } };`+code, nil, console.Module(), sql.Module())
	return stdout + stderr
}

func TestDatabase(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, code, want string }{
		{
			"rows", `db.exec("create table t (a integer primary key, b); insert into t (b) values ('x'), ('y');"); show(db.query("select * from t order by a desc"))`,
			`[{"a":2,"b":"y"},{"a":1,"b":"x"}]`,
		},
		{"values by place", `show(db.query("select ? as a, ? || 'é' as b, ?1 as c", 1, "ü"))`, `[{"a":1,"b":"üé","c":1}]`},
		{"values by name", `show(db.query("select :a as a, @b as b, $a as c", { a: 1, b: null }))`, `[{"a":1,"b":null,"c":1}]`},
		{
			"changes", `db.exec("create table t (a)"); show([db.run("insert into t values (1), (2)"), db.run("update t set a = 3 where a > ?", 1), db.run("select 1"), db.run("drop table t")])`,
			`[{"changes":2,"lastInsertRowid":2},{"changes":1,"lastInsertRowid":2},{"changes":0,"lastInsertRowid":2},{"changes":0,"lastInsertRowid":2}]`,
		},
		{
			"integers", `show(db.query("select ? as a, ? as b, ? as c, typeof(?3) as t", 2 ** 53 - 1, 2n ** 63n - 1n, 1n)); show(db.query("select 9007199254740993 as a, -9223372036854775808 as b"))`,
			`[{"a":9007199254740991,"b":"9223372036854775807n","c":1,"t":"integer"}]` + "\n" + `[{"a":"9007199254740993n","b":"-9223372036854775808n"}]`,
		},
		{
			"numbers", `show(db.query("select typeof(?) a, typeof(?) b, typeof(?) c, 1.5 d, 1e300 e, ? f", 1, 1.5, 2 ** 53, NaN))`,
			`[{"a":"integer","b":"real","c":"real","d":1.5,"e":1e+300,"f":null}]`,
		},
		{"infinity", `const [r] = db.query("select 9e999 a, ? b", -Infinity); console.log(r.a, r.b)`, `Infinity -Infinity`},
		{"booleans and dates", `show(db.query("select ? a, ? b, ? c", true, false, new Date(0)))`, `[{"a":1,"b":0,"c":"1970-01-01T00:00:00.000Z"}]`},
		{"undefined is null", `show(db.query("select ? is null a", undefined))`, `[{"a":1}]`},
		{
			"bytes", `const [r] = db.query("select ? a, x'' b, typeof(?2) t, ? d", new Uint8Array([0, 255]).subarray(1), new ArrayBuffer(0), new Uint16Array([1])); console.log(r.a, r.b, r.t, r.d)`,
			`Uint8Array(1) [ 255 ] Uint8Array(0) [] blob Uint8Array(2) [ 1, 0 ]`,
		},
		{"text with zeros and halves", `const [r] = db.query("select ? a, length(?) n", "a\0b", "\uD800"); show([r.a.length, r.n])`, `[3,1]`},
		{"columns by name", `show(db.query("select 1 as __proto__, 2 as constructor, 3 as a, 4 as a"))`, `[{"__proto__":1,"constructor":2,"a":4}]`},
		{"many statements", `db.exec("create table t (a)"); for (let i = 0; i < 100; i++) db.run("insert into t values (" + i + ")"); show(db.query("select count(*) n, sum(a) s from t"))`, `[{"n":100,"s":4950}]`},
		{
			"a table that changes under a statement", `db.exec("create table t (a)"); db.run("insert into t values (1)"); show(db.query("select * from t")); db.exec("alter table t add column b default 2"); show(db.query("select * from t")); db.exec("alter table t rename column b to c"); show(db.query("select * from t"))`,
			"[{\"a\":1}]\n[{\"a\":1,\"b\":2}]\n[{\"a\":1,\"c\":2}]",
		},
		{"transactions", `db.exec("create table t (a)"); db.exec("begin"); db.run("insert into t values (1)"); db.exec("rollback"); show(db.query("select * from t"))`, `[]`},
		{"text search", `db.exec("create virtual table d using fts5(body)"); db.insert("d", [{ body: "the quick fox" }, { body: "slow" }]); show(db.query("select body from d where d match 'quick'"))`, `[{"body":"the quick fox"}]`},
		{"JSON", `show(db.query("select json_extract(?, '$.a[1]') a", '{"a":[1,2]}'))`, `[{"a":2}]`},
		{"windows and recursion", `show(db.query("with recursive n(i) as (select 1 union all select i + 1 from n where i < 4) select i, sum(i) over (order by i) s from n where i > 2"))`, `[{"i":3,"s":3},{"i":4,"s":7}]`},
		{
			"insert", `show([db.insert("t", [{ a: 1, "b c": "x" }, { a: 2, d: { e: [1] } }]), db.insert("t", new Set([{ a: 3n }])), db.insert("t", []), db.query("select * from t")])`,
			`[2,1,0,[{"a":1,"b c":"x","d":null},{"a":2,"b c":null,"d":"{\"e\":[1]}"},{"a":3,"b c":null,"d":null}]]`,
		},
		{
			"insert is one change", `db.exec("create table t (a unique)"); fails(() => db.insert("t", [{ a: 1 }, { a: 1 }])); show(db.query("select * from t"))`,
			"Error SQLITE_CONSTRAINT_UNIQUE UNIQUE constraint failed: t.a\n[]",
		},
		{
			"insert leaves no table behind", `fails(() => db.insert("t", [{ a: 1, A: 2 }])); fails(() => db.query("select * from t"))`,
			"Error SQLITE_ERROR duplicate column name: A\nError SQLITE_ERROR no such table: t",
		},
		{"names are quoted", `db.insert('a"; drop table x; --', [{ 'b")': 1 }]); show(db.query("select name from sqlite_schema"))`, `[{"name":"a\"; drop table x; --"}]`},
		{"an error says where", "fails(() => db.exec(`create table t (a);\n  selec 1`))", `Error SQLITE_ERROR near "selec": syntax error (line 2, column 3)`},
		{
			"a constraint", `db.exec("create table p (a primary key); create table c (a references p)"); fails(() => db.run("insert into c values (1)"))`,
			`Error SQLITE_CONSTRAINT_FOREIGNKEY FOREIGN KEY constraint failed`,
		},
		{"a name in quotes is no text", `fails(() => db.query('select "x"'))`, `Error SQLITE_ERROR no such column: "x" - should this be a string literal in single-quotes? (line 1, column 8)`},
		{
			"the number of values", `fails(() => db.query("select ?, ?", 1)); fails(() => db.query("select :a", { b: 1 })); fails(() => db.query("select :a", { a: 1, b: 1 })); fails(() => db.query("select ?", { a: 1 })); fails(() => db.exec("select ?", 1))`,
			"Error SQLITE_MISUSE the statement has 2 parameters, and 1 values are given\nError SQLITE_MISUSE there is no value for :a\nError SQLITE_MISUSE the statement has no parameter :b\n" +
				"Error SQLITE_MISUSE parameter 1 has no name; give the values by their place\nTypeError undefined exec takes no values, because its text may hold several statements; run and query do",
		},
		{
			"what is no value", `for (const v of [[1], Symbol(), () => 1]) fails(() => db.query("select ?", 1, v)); fails(() => db.query("select ?", 2n ** 63n))`,
			"TypeError ERR_INVALID_ARG_TYPE The \"params[1]\" argument must be a number, a bigint, a string, a boolean, bytes, a Date or null. Received an instance of Array\n" +
				"TypeError ERR_INVALID_ARG_TYPE The \"params[1]\" argument must be a number, a bigint, a string, a boolean, bytes, a Date or null. Received type symbol (Symbol())\n" +
				"TypeError ERR_INVALID_ARG_TYPE The \"params[1]\" argument must be a number, a bigint, a string, a boolean, bytes, a Date or null. Received function\n" +
				"RangeError ERR_OUT_OF_RANGE The value of \"params[0]\" is out of range. It must be >= -2n ** 63n and < 2n ** 63n. Received 9_223_372_036_854_775_808n",
		},
		{
			"one statement", `fails(() => db.query("select 1; select 2")); fails(() => db.run(" -- nothing")); show(db.query("select 1 a; -- that is all"))`,
			"Error SQLITE_MISUSE there is more than one statement in the text; exec takes several (line 1, column 10)\nError SQLITE_MISUSE there is no statement in the text\n[{\"a\":1}]",
		},
		{
			"closed", `db.close(); db.close(); fails(() => db.query("select 1")); fails(() => open().query.call({}, "select 1"))`,
			"Error SQLITE_MISUSE the database is closed\nTypeError undefined it is called on something that is no Database",
		},
		{"using", `{ using one = open(); one.exec("create table t (a)"); globalThis.kept = one } fails(() => kept.exec("select 1"))`, "Error SQLITE_MISUSE the database is closed"},
		{
			"two databases", `const other = open(); other.exec("create table t (a)"); fails(() => db.query("select * from t")); show(other.query("select count(*) n from t"))`,
			"Error SQLITE_ERROR no such table: t\n[{\"n\":0}]",
		},
		{"too long", `fails(() => db.query("select length(zeroblob(300000000))"))`, "RangeError SQLITE_TOOBIG string or blob too big"},
		{"a value that uses the database", `db.exec("create table t (a)"); const rows = [{ get a() { db.run("insert into t values (1)"); return 2 } }]; db.insert("t", rows); show(db.query("select * from t"))`, `[{"a":1},{"a":2}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.ReplaceAll(strings.TrimSuffix(run(tt.code), "\n"), " \n", "\n"); got != tt.want {
				t.Errorf("%s\nwrote %s\n want %s", tt.code, got, tt.want)
			}
		})
	}
}

// TestADatabaseReachesNothingElse tries the ways out of it that SQLite has.
func TestADatabaseReachesNothingElse(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/x.db"
	statements := []string{
		"attach 'FILE' as x", "attach ':memory:' as x", "attach 'file:FILE?mode=rwc' as x", "attach '' as x", "attach ? as x", "detach main",
		"vacuum into 'FILE'", "vacuum main into 'file:FILE'", "vacuum",
		"select load_extension('FILE')", "select load_extension('FILE', 'x')", "select fts3_tokenizer('simple')",
		"select readfile('/etc/passwd')", "select writefile('FILE', 'x')", "select edit('x')",
		"pragma temp_store_directory = '/tmp'", "pragma data_store_directory = '/tmp'", "pragma temp_store = 1", "pragma journal_mode = wal", "pragma mmap_size = 1000000",
		"pragma writable_schema = 1", "pragma trusted_schema = 1", "pragma schema_version = 7", "pragma key = 'x'", "pragma cache_size = 1000000000", "pragma hard_heap_limit = 1",
		"pragma soft_heap_limit = 1", "pragma threads = 8", "pragma shrink_memory", "pragma wal_checkpoint", "pragma locking_mode = exclusive", "pragma max_page_count = 1",
		"select * from pragma_temp_store_directory",
		"create virtual table x using csv(filename='/etc/passwd')", "create virtual table x using dbstat", "create virtual table x using sqlite_dbpage",
		"update sqlite_schema set sql = 'x'", "insert into sqlite_dbpage values (1, zeroblob(4096), 'main')",
	}
	for _, s := range statements {
		s = strings.ReplaceAll(s, "FILE", file)
		got := run("try { db.query(`" + s + "`" + map[bool]string{true: ", '" + file + "'"}[strings.Contains(s, "?") && !strings.Contains(s, "file:")] + `); console.log("done") } catch (e) { console.log(e.code) }`)
		switch strings.TrimSpace(got) {
		case "SQLITE_AUTH", "SQLITE_ERROR", "SQLITE_READONLY":
		default:
			t.Errorf("%s: %s", s, got)
		}
	}
	got := run(`try { db.exec("attach '/x' as y") } catch (e) { console.log(e.message) } try { db.exec("pragma cache_size = 1") } catch (e) { console.log(e.message) }`)
	if want := "ATTACH, or VACUUM is not available: the database is in memory and reaches nothing else\nPRAGMA cache_size is not available: the database is in memory and reaches nothing else\n"; got != want {
		t.Errorf("said %q", got)
	}
	if got := run(`show(db.query("select file from pragma_database_list")); db.exec("create temp table t (a); insert into t values (1)"); show(db.query("pragma database_list").map((d) => d.file))`); got != "[{\"file\":\"\"}]\n[\"\",\"\"]\n" {
		t.Errorf("its files: %s", got)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	declared.Check(t, sql.Module())
}
