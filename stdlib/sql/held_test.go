package sql

import (
	"context"
	"errors"
	"testing"
)

// TestHeld is about the whole process: it runs alone.
func TestHeld(t *testing.T) { //nolint:paralleltest // others have databases
	c, err := openConn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := Held()
	if before == 0 {
		t.Fatal("an open database holds nothing")
	}
	if err := c.exec("create table t (a); insert into t values (zeroblob(10000000))"); err != nil {
		t.Fatal(err)
	}
	if n := Held() - before; n < 9_000_000 || n > 13_000_000 {
		t.Errorf("ten million bytes are counted as %d", n)
	}
	c.close()
	if n := Held(); n >= before {
		t.Errorf("%d bytes are held when it is closed, %d when it was open", n, before)
	}
}

// TestAStatementEndsWithTheRun: it would take for ever.
func TestAStatementEndsWithTheRun(t *testing.T) { //nolint:paralleltest // see TestHeld
	ctx, cancel := context.WithCancel(t.Context())
	c, err := openConn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	looks := 0
	c.over = func() bool {
		if looks++; looks == 100 {
			cancel()
		}
		return ctx.Err() != nil
	}
	err = c.exec("with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n")
	if f, ok := errors.AsType[*failure](err); !ok || codeOf(f.code) != "SQLITE_INTERRUPT" {
		t.Errorf("it ended with %v", err)
	}
	_, err = c.step(&statement{})
	if f, ok := errors.AsType[*failure](err); !ok || codeOf(f.code) != "SQLITE_INTERRUPT" {
		t.Errorf("the next one: %v", err)
	}
}
