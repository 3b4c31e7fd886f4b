package zlib

import (
	"fmt"

	"github.com/dop251/goja"

	"mcpx/stdlib/internal/native"
)

// settings say how something is transformed.
type settings struct {
	kind       kind
	level      int
	huffman    bool // the strategy Z_HUFFMAN_ONLY
	dictionary []byte
	partial    bool // an end in the middle of the data is none of an error
	most       int  // how long the output may become
	info       bool

	quality, window int // of Brotli
}

const (
	paramQuality = 1 // BROTLI_PARAM_QUALITY
	paramWindow  = 2 // BROTLI_PARAM_LGWIN
	huffmanOnly  = 2 // Z_HUFFMAN_ONLY
	syncFlush    = 2 // Z_SYNC_FLUSH
	flushBrotli  = 1 // BROTLI_OPERATION_FLUSH
)

// settings reads and checks options.
func (m *module) settings(k kind, options goja.Value) *settings {
	s := &settings{kind: k, level: -1, most: maxOutput, quality: 11, window: 22}
	o, ok := options.(*goja.Object)
	if !ok {
		return s
	}
	// number reads an option; one that is no number counts as none.
	number := func(name string, low, high float64, set func(int)) {
		v := o.Get(name)
		if v == nil || goja.IsUndefined(v) || goja.IsNumber(v) && goja.IsNaN(v) {
			return
		}
		if !goja.IsNumber(v) {
			panic(native.InvalidType(m.vm, "options."+name, "of type number", v))
		}
		if f := v.ToFloat(); !(f >= low && f <= high) {
			want := fmt.Sprintf(">= %.0f and <= %.0f", low, high)
			if high >= native.MaxSafe {
				want = fmt.Sprintf(">= %.0f", low)
			}
			panic(native.OutOfRange(m.vm, "options."+name, want, v))
		}
		if set != nil {
			set(int(v.ToFloat()))
		}
	}
	number("chunkSize", 64, native.MaxSafe, nil)
	last := 5.0
	if k.brotli() {
		last = 3
	}
	number("flush", 0, last, nil)
	number("finishFlush", 0, last, func(n int) { s.partial = n == syncFlush && !k.brotli() || n == flushBrotli && k.brotli() })
	number("maxOutputLength", 1, native.MaxSafe, func(n int) { s.most = min(n, maxOutput) })
	if v := o.Get("info"); v != nil {
		s.info = v.ToBoolean()
	}
	if k.brotli() {
		if params, ok := o.Get("params").(*goja.Object); ok {
			for id, into := range map[int]*int{paramQuality: &s.quality, paramWindow: &s.window} {
				if v := params.Get(fmt.Sprint(id)); v != nil && goja.IsNumber(v) {
					*into = int(v.ToInteger())
				}
			}
			s.quality, s.window = min(max(s.quality, 0), 11), min(max(s.window, 10), 24)
		}
		return s
	}
	number("level", -1, 9, func(n int) { s.level = n })
	least := 8.0
	if k.class == "Gzip" || k.class == "Deflate" || k.class == "DeflateRaw" {
		least = 9
		if k.class != "Gzip" {
			least = 8
		}
	}
	if k.reads && o.Get("windowBits") != nil && o.Get("windowBits").ToFloat() == 0 {
		least = 0
	}
	number("windowBits", least, 15, nil)
	number("memLevel", 1, 9, nil)
	number("strategy", 0, 4, func(n int) { s.huffman = n == huffmanOnly })
	if v := o.Get("dictionary"); v != nil && !goja.IsUndefined(v) {
		b, ok := m.octets.Bytes(v)
		if !ok {
			panic(native.InvalidType(m.vm, "options.dictionary", "an instance of Buffer, TypedArray, DataView, or ArrayBuffer", v))
		}
		s.dictionary = append([]byte{}, b...)
	}
	return s
}
