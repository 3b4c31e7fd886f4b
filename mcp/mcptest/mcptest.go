// Package mcptest is a small real MCP server for tests, which can be told to behave
// badly.
//
// How it starts, shakes hands and lists its tools is said by a Script; the zero
// Script is a well-behaved server of the legacy era. What happens during a call is
// said by the tool that is called: echo answers, stall never does, crash ends the
// server, and so on (see Script.Tools for all of them).
//
// A server runs in memory,
//
//	c := mcptest.Start(mcptest.Script{})
//	defer c.Close()
//	c.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
//	line, err := c.Receive()
//
// or as a process of its own: a test binary whose TestMain begins with Main is the
// server when it is started as Command says.
//
//	func TestMain(m *testing.M) {
//		mcptest.Main()
//		os.Exit(m.Run())
//	}
//
//	cmd := mcptest.Command(mcptest.Script{Stderr: []string{"cannot read config"}, Exit: 3})
//	exec.Command(cmd.Path, cmd.Args...) // with cmd.Env added to its environment
package mcptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
)

// Script says how a server behaves before and between the calls of its tools.
// It can be encoded as JSON, which is how it reaches a child process.
type Script struct {
	// Start.

	Stderr []string `json:"stderr,omitempty"` // lines written to standard error at start
	Noise  []string `json:"noise,omitempty"`  // lines written to standard output at start and before each answer
	Exit   int      `json:"exit,omitempty"`   // if not 0, exit with this code at start; in memory, hang up
	// Mute servers read everything and never answer.
	Mute bool `json:"mute,omitempty"`
	// Stubborn servers ignore the end of their input and SIGTERM.
	Stubborn bool `json:"stubborn,omitempty"`
	// Spawn makes a child process start a child of its own, which does nothing and
	// ignores SIGTERM. The tool "pid" tells its id.
	Spawn bool `json:"spawn,omitempty"`

	// Handshake.

	Discover Discover `json:"discover,omitempty"` // what answers server/discover
	// Revisions are those that initialize accepts; a request for another gets the first
	// of them, or an error that lists them if Strict. Empty means every legacy revision.
	Revisions []string `json:"revisions,omitempty"`
	Strict    bool     `json:"strict,omitempty"`
	// Bare answers initialize with a protocol version and nothing else.
	Bare         bool   `json:"bare,omitempty"`
	Instructions string `json:"instructions,omitempty"`
	// Before are requests and notifications sent to the client before initialize is
	// answered; answers to the requests are not waited for.
	Before []Ask `json:"before,omitempty"`

	// Answers.

	// Capabilities is what is declared; nil declares tools and logging.
	Capabilities json.RawMessage `json:"capabilities,omitempty"`
	// Answers are results, raw, for methods that the server does not know by itself, such
	// as prompts/list. "METHOD WHICH" is the answer for the page, the uri or the name
	// WHICH. An object with a code is an error.
	Answers map[string]json.RawMessage `json:"answers,omitempty"`
	// IDs is how the ids of responses are spelled.
	IDs IDs `json:"ids,omitempty"`

	// Tools.

	// Tools are the entries of tools/list, raw, so that they can be wrong. Nil lists the
	// built-in tools; any of those can be called, listed or not:
	//
	//	echo {message}        answers message
	//	stall                 does not answer; ends when it is cancelled
	//	slow {ms}             answers after ms milliseconds
	//	crash {code, signal, stderr}
	//	                      ends the server with an exit code or by a signal's number
	//	fail {message}        answers with isError
	//	error {code, message, data}
	//	                      answers with a JSON-RPC error
	//	huge {bytes}          answers with a text of that many bytes, on one line
	//	result {value}        answers with exactly this result
	//	ask {method, params, count, together, related}
	//	                      sends the client a request and answers with its response; with a
	//	                      count that many, in turn or together, and answers with the list;
	//	                      related ones are sent in answer to the call, where HTTP can say so
	//	need {params, count}  answers, as the modern era does it, count times with a result that
	//	                      asks for params, and then with the list of what it was given
	//	announce {method, params, count}
	//	                      sends notifications, in the modern era to who subscribed to them;
	//	                      with a count each has its number
	//	progress {count, ms}  sends progress notifications, ms milliseconds apart
	//	log {lines, related}  sends log notifications
	//	stderr {lines}        writes to standard error
	//	received              answers with the methods that have been received so far
	//	cancelled             answers with the ids that have been cancelled so far
	//	pid                   answers with the process ids: its own and that of the Spawn
	Tools []json.RawMessage `json:"tools,omitempty"`
	// CrashEvery ends the server with code 9 at each call whose number is a multiple of it.
	CrashEvery int `json:"crashEvery,omitempty"`
	// PageSize splits tools/list in pages; 0 sends all at once.
	PageSize int `json:"pageSize,omitempty"`
	// Loop makes the last page name the first again as the next.
	Loop bool `json:"loop,omitempty"`
}

// Discover is what a server does with server/discover.
type Discover string

const (
	DiscoverUnknown Discover = ""       // the method is unknown: a legacy server
	DiscoverModern  Discover = "modern" // it serves the modern era, and the legacy one too
	DiscoverEmpty   Discover = "empty"  // answers {} though it knows nothing of the modern era
	DiscoverSilent  Discover = "silent" // does not answer
	DiscoverFatal   Discover = "fatal"  // exits with code 1
	// DiscoverOther answers every modern request with -32022 and an offer of
	// revisions that nobody knows.
	DiscoverOther Discover = "other"
)

// IDs is how a server spells the ids of its responses.
type IDs string

const (
	IDsAsGiven IDs = ""
	IDsText    IDs = "text"  // a number becomes a text
	IDsFloat   IDs = "float" // 3 becomes 3.0
	IDsTwice   IDs = "twice" // every response is sent twice
	IDsWrong   IDs = "wrong" // a response with a foreign id goes before each
)

// Ask is a request that the server sends to its client, or a notification if it has
// no ID.
type Ask struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// Conn is the client's end of a connection to a server in memory.
type Conn struct {
	toServer, toClient chan []byte
	gone               chan struct{} // the client has closed
	over               chan struct{} // the server has ended
	close              sync.Once
}

// Start runs a server in memory. The caller must Close the connection.
func Start(s Script) *Conn {
	c := &Conn{
		toServer: make(chan []byte, 64),
		toClient: make(chan []byte, 64),
		gone:     make(chan struct{}),
		over:     make(chan struct{}),
	}
	sv := newServer(s, memory{c}, io.Discard)
	go func() {
		defer close(c.over)
		sv.run()
	}()
	return c
}

// Send gives the server one line. It fails once the server has hung up.
func (c *Conn) Send(line []byte) error {
	select {
	case <-c.gone:
		return io.ErrClosedPipe
	case <-c.over:
		return io.ErrClosedPipe
	default:
	}
	select {
	case c.toServer <- bytes.Clone(line):
		return nil
	case <-c.gone:
	case <-c.over:
	}
	return io.ErrClosedPipe
}

// Receive returns the next line of the server, without its newline. The error is
// io.EOF after the server has hung up or the connection was closed.
func (c *Conn) Receive() ([]byte, error) {
	select {
	case line := <-c.toClient:
		return line, nil
	case <-c.gone:
		return nil, io.EOF
	case <-c.over:
	}
	select { // what it said before it ended
	case line := <-c.toClient:
		return line, nil
	default:
		return nil, io.EOF
	}
}

// Close hangs up and returns when the server has ended.
func (c *Conn) Close() error {
	c.close.Do(func() { close(c.gone) })
	<-c.over
	return nil
}

// wire is the server's end of a connection.
type wire interface {
	// input returns the lines of the client. No more come once lines is closed or gone is.
	input() (lines <-chan []byte, gone <-chan struct{})
	send(line []byte) error
	// die ends the server at once. It returns only in memory, where the server hangs up.
	die(code int, sig syscall.Signal)
}

type memory struct{ c *Conn }

func (m memory) input() (<-chan []byte, <-chan struct{}) { return m.c.toServer, m.c.gone }

func (m memory) send(line []byte) error {
	select {
	case m.c.toClient <- line:
		return nil
	case <-m.c.gone:
		return io.ErrClosedPipe
	}
}

func (m memory) die(int, syscall.Signal) {}

// process is the wire of a child process: its standard streams.
type process struct {
	in *bufio.Reader
	mu sync.Mutex // orders writes
}

// input starts the goroutine that reads standard input. It ends with the process.
func (p *process) input() (<-chan []byte, <-chan struct{}) {
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		for {
			line, err := p.in.ReadBytes('\n')
			if len(line) > 0 {
				lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return lines, nil
}

func (p *process) send(line []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := os.Stdout.Write(append(line, '\n'))
	return err
}

func (p *process) die(code int, sig syscall.Signal) {
	if sig != 0 {
		_ = kill(sig)
		select {}
	}
	os.Exit(code)
}

const (
	environment = "MCPX_MCPTEST" // holds the script of a child
	idle        = "idle"         // in place of a script: do nothing until killed
)

// Executable is how to start a server as a child process.
type Executable struct {
	Path string
	Args []string // after the program's name; none is needed
	Env  []string // NAME=VALUE, to be added
}

// Command returns how to start this test binary as a server. Its TestMain must begin
// with Main.
func Command(s Script) Executable {
	script, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("mcptest: %v", err)) // a raw message that is no JSON
	}
	self, err := os.Executable()
	if err != nil {
		panic(fmt.Sprintf("mcptest: %v", err))
	}
	return Executable{Path: self, Env: []string{environment + "=" + string(script)}}
}

// Main runs the server and exits, if this process was started as Command says.
// Otherwise it does nothing. Call it first in TestMain.
func Main() {
	text, ok := os.LookupEnv(environment)
	if !ok {
		return
	}
	if text == idle {
		signal.Ignore(syscall.SIGTERM)
		select {}
	}
	var s Script
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		fmt.Fprintf(os.Stderr, "mcptest: %v\n", err)
		os.Exit(2)
	}
	if s.Stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	sv := newServer(s, &process{in: bufio.NewReader(os.Stdin)}, os.Stderr)
	if s.Spawn {
		sv.spawned = spawn()
	}
	sv.run()
	if s.Stubborn {
		select {}
	}
	os.Exit(0)
}

// spawn starts a process that stays until it is killed.
func spawn() int {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), environment+"="+idle)
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "mcptest: %v\n", err)
		os.Exit(2)
	}
	return cmd.Process.Pid
}
