package engine

import (
	"embed"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// addition is something of ECMAScript that goja lacks, or does so that programs notice.
// It is installed before a script runs that mentions one of its words, so that other
// scripts pay nothing for it, and what is installed are plain properties.
type addition struct {
	words   string // separated by spaces
	install func(rt *Runtime)
}

// additions are installed in this order.
var additions = []addition{
	{"catch then allSettled", (*Runtime).installMending},
	{"JSON", (*Runtime).installJSON},
	{"RegExp hasIndices unicodeSets", (*Runtime).installRegExp},
	{"exec test matchAll", (*Runtime).installMatches},
	{"Proxy", (*Runtime).installProxy},
	{"shift unshift push slice splice concat sort toSorted flat flatMap", (*Runtime).installArrayMethods},
	{"concat", (*Runtime).installTextConcat},
	{"groupBy", inText("grouping", iterableNatives)},
	{"getOrInsert getOrInsertComputed", inText("upsert", nil)},
	{typedArrayWords, inText("typedarray", nil)},
	{"withResolvers try any", inText("promise", iterableNatives)},
	{"fromAsync", inText("fromasync", nil)},
	{"Iterator", (*Runtime).installIterator},
	{"iterator values keys entries matchAll " + generatorWord, (*Runtime).installIteratorLazily},
	{"WeakMap WeakSet WeakRef FinalizationRegistry", inText("weaksymbols", nil)},
	{"WeakRef FinalizationRegistry", inText("weak", weakNatives)},
	{"Array", (*Runtime).installArrayFrom},
	{"find findIndex findLast findLastIndex", (*Runtime).installFind},
	{"exec RegExp", (*Runtime).installRegExpMethods},
	{"toLocaleString", (*Runtime).installToLocaleString},
	{"BigInt BigUint64Array getBigUint64 " + bigIntWord, (*Runtime).installNumber},
	{"DisposableStack AsyncDisposableStack SuppressedError", inText("disposable", nil)},
	{"captureStackTrace stackTraceLimit", (*Runtime).installStackTrace},
	{"isWellFormed toWellFormed", inText("string", stringNatives)},
	{"sumPrecise", inText("math", mathNatives)},
	{mathWords, (*Runtime).installMath},
	{"f16round getFloat16 setFloat16 Float16Array", inText("float16", float16Natives)},
	{legacyWords, inText("legacy", nil)},
	{"transfer transferToFixedLength detached resizable maxByteLength", (*Runtime).installTransfer},
}

const (
	// generatorWord stands for a generator, which is an iterator that no word names.
	generatorWord = "function*"

	// bigIntWord stands for a literal such as 10n.
	bigIntWord = "1n"

	typedArrayWords = "Uint8Array Uint8ClampedArray Int8Array Uint16Array Int16Array Uint32Array Int32Array Float32Array Float64Array BigInt64Array BigUint64Array"

	legacyWords = "__defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ getYear setYear toGMTString " +
		"anchor big blink bold fixed fontcolor fontsize italics link small strike sub sup"
)

// everything are words of programs that may meet any addition without naming it.
const everything = "eval Function getOwnPropertyNames getOwnPropertyDescriptors ownKeys"

// wants is a set of additions, by index.
type wants uint64

// wanted says which additions each word asks for.
var wanted = sync.OnceValue(func() map[unistring.String]wants {
	m := map[unistring.String]wants{}
	for i, a := range additions {
		for word := range strings.FieldsSeq(a.words) {
			m[unistring.String(word)] |= 1 << i
		}
	}
	for word := range strings.FieldsSeq(everything) {
		m[unistring.String(word)] = 1<<len(additions) - 1
	}
	return m
})

// mention notes a name that the script uses.
func (w *wants) mention(word unistring.String) { *w |= wanted()[word] }

// mentionOwn notes a name that code of the compiler uses, which meets nothing that it
// does not name.
func (w *wants) mentionOwn(word unistring.String) {
	if all := wanted()[word]; all != 1<<len(additions)-1 {
		*w |= all
	}
}

// mentionIn notes the names in a text of the script, which may be those of properties.
func (w *wants) mentionIn(text string) {
	from := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z' || text[i] == '_') {
			if from < 0 {
				from = i
			}
			continue
		}
		if from >= 0 {
			w.mention(unistring.String(text[from:i]))
			from = -1
		}
	}
}

// add installs what a program wants.
func (rt *Runtime) add(w wants) {
	for i, a := range additions {
		if w&(1<<i) != 0 {
			a.install(rt)
		}
	}
}

//go:embed additions/*.js
var additionTexts embed.FS

// natives are functions of Go for one text.
type natives map[string]func(goja.FunctionCall) goja.Value

// inText returns the installer of a file of additions: a function of the kit and of its
// natives. The file is compiled once a process.
func inText(name string, make func(rt *Runtime) natives) func(rt *Runtime) {
	program := additionProgram(name)
	return func(rt *Runtime) {
		functions := rt.vm.NewObject()
		if make != nil {
			for name, fn := range make(rt) {
				if err := functions.Set(name, rt.Function(name, fn)); err != nil {
					panic(err)
				}
			}
		}
		rt.runText(program(), rt.kit(), functions)
	}
}

func additionProgram(name string) func() *goja.Program {
	return sync.OnceValue(func() *goja.Program {
		b, err := additionTexts.ReadFile("additions/" + name + ".js")
		if err != nil {
			panic(err)
		}
		return goja.MustCompile("mcpx:"+name, string(b), true)
	})
}

var (
	kitProgram            = additionProgram("kit")
	asyncGeneratorProgram = additionProgram("asyncgenerator")
)

// kit is what the texts share.
func (rt *Runtime) kit() goja.Value {
	if rt.textKit == nil {
		rt.textKit = rt.runText(kitProgram())
	}
	return rt.textKit
}

// runText calls the function that a text of ours is.
func (rt *Runtime) runText(p *goja.Program, args ...goja.Value) goja.Value {
	function, err := rt.vm.RunProgram(p)
	if err != nil {
		panic(err)
	}
	fn, _ := goja.AssertFunction(function)
	v, err := fn(goja.Undefined(), args...)
	if err != nil {
		panic(err)
	}
	return v
}

// asyncGenerators gives what esbuild's function for async generators makes the looks of
// one.
func (rt *Runtime) asyncGenerators(c goja.FunctionCall) goja.Value {
	dress, _ := goja.AssertFunction(rt.runText(asyncGeneratorProgram(), rt.kit()))
	v, err := dress(goja.Undefined(), c.Arguments...)
	must(err)
	return v
}
