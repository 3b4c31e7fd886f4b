package catalog

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"mcpx/internal/schema"
	"mcpx/internal/spelling"
	"mcpx/mcp"
)

// Doc is one tool that can be found.
type Doc struct {
	Namespace string
	Tool      *mcp.Tool
}

// Hit is a tool that was found. A higher score is a better match; scores of
// different requests do not compare.
type Hit struct {
	Doc
	Score float64
}

// Index finds tools by words in their names, descriptions, parameters and the values
// that those may have. It does not change and is safe for concurrent use.
type Index struct {
	docs   []Doc
	names  []float64        // what the words in the name of each doc count in all
	reads  []bool           // whether a doc says that it only reads
	forms  map[string][]int // docs by the words in their names, as they are written
	ids    map[string]int   // of terms, which are stems
	terms  []string         // by id
	sorted []int            // ids in the order of their terms
	masks  []uint64         // of the letters in each term
	found  [][]occurrence   // by id, in the order of the docs
	rarity []float64        // by id
}

// occurrence is a term in a doc.
type occurrence struct {
	doc    int
	weight float64 // how much of the doc's meaning the term carries, 0 to 1
	name   float64 // what it counts as a word of the doc's name, 0 if it is none
}

// What a word counts by where it stands.
const (
	inName        = 6.0
	inNameJoined  = 3.0 // two words of the name, written as one
	inTitle       = 3.0
	inNamespace   = 1.6
	inFirst       = 1.8 // the first sentence of the description
	inDescription = 0.8
	inParameter   = 0.9
	inValue       = 0.6
	inNote        = 0.3 // the description of a parameter
	saturation    = 2.2 // the sum at which a term carries half of what it can
)

// NewIndex indexes docs.
func NewIndex(docs []Doc) *Index {
	ix := &Index{docs: docs, names: make([]float64, len(docs)), reads: make([]bool, len(docs)), forms: map[string][]int{}, ids: map[string]int{}}
	repeated := prefixes(docs)
	sums := map[int]float64{}
	names := map[int]float64{}
	seen := map[string]int{}
	var order []int
	for i, d := range docs {
		clear(sums)
		clear(names)
		order = order[:0]
		add := func(term string, weight float64) int {
			id, ok := ix.ids[term]
			if !ok {
				id = len(ix.terms)
				ix.ids[term] = id
				ix.terms = append(ix.terms, term)
				ix.found = append(ix.found, nil)
			}
			if _, ok := sums[id]; !ok {
				order = append(order, id)
			}
			sums[id] += weight
			return id
		}
		text := func(s string, weight float64) {
			clear(seen)
			for _, w := range words(s[:min(len(s), maxText)]) {
				if isCommon(w) {
					continue
				}
				t := stem(w)
				seen[t]++ // the second time says half as much, the third a third
				add(t, weight/float64(seen[t]))
			}
		}
		name := words(d.Tool.Name)
		ix.reads[i] = d.Tool.ReadOnly()
		for j, w := range name {
			ix.reads[i] = ix.reads[i] || isReading(w)
			id := add(stem(w), 0)
			if names[id] == 0 {
				names[id] = meaning(w)
				worth := inName
				if repeated[[2]string{d.Namespace, w}] {
					names[id], worth = asPrefixOfAll, inNamespace
				}
				ix.names[i] += names[id]
				sums[id] += worth
				ix.forms[w] = append(ix.forms[w], i)
			}
			if j > 0 {
				add(stem(name[j-1]+w), inNameJoined)
			}
		}
		text(d.Namespace, inNamespace)
		text(d.Tool.Title, inTitle)
		first, rest := sentence(d.Tool.Description)
		text(first, inFirst)
		text(rest, inDescription)
		in := schema.WordsOf(d.Tool.InputSchema)
		text(strings.Join(in.Names, " "), inParameter)
		text(strings.Join(in.Values, " "), inValue)
		text(strings.Join(in.Descriptions, " "), inNote)
		for _, id := range order {
			sum := sums[id]
			ix.found[id] = append(ix.found[id], occurrence{i, sum / (sum + saturation), names[id]})
		}
	}
	ix.finish()
	return ix
}

// What the words of a name count when it is asked how much of the name a request holds.
const (
	asSubject     = 1.0
	asPlainVerb   = 0.4 // it is what a request wants that names no verb
	asPrefixOfAll = 0.1 // the word stands in the names of most tools of the namespace
)

// meaning is what a word counts in a name.
func meaning(w string) float64 {
	switch w {
	case "get", "list", "read", "show", "take", "set", "add", "create", "run", "start", "do", "handle", "perform":
		return asPlainVerb
	}
	return asSubject
}

// isReading reports whether a word in a name says that the tool looks and does not touch.
func isReading(w string) bool {
	switch w {
	case "get", "list", "read", "show", "search", "find", "describe":
		return true
	}
	return false
}

// prefixes returns the words that stand in the names of most tools of a namespace, by
// namespace and word: browser_click, browser_type, …
func prefixes(docs []Doc) map[[2]string]bool {
	tools := map[string]int{}
	with := map[[2]string]int{}
	for _, d := range docs {
		tools[d.Namespace]++
		name := words(d.Tool.Name)
		for i, w := range name {
			if !slices.Contains(name[:i], w) {
				with[[2]string{d.Namespace, w}]++
			}
		}
	}
	out := map[[2]string]bool{}
	for key, n := range with {
		if all := tools[key[0]]; all >= 4 && 4*n >= 3*all {
			out[key] = true
		}
	}
	return out
}

func (ix *Index) finish() {
	n := float64(len(ix.docs))
	ix.rarity = make([]float64, len(ix.terms))
	ix.masks = make([]uint64, len(ix.terms))
	ix.sorted = make([]int, len(ix.terms))
	for id, term := range ix.terms {
		in := float64(len(ix.found[id]))
		ix.rarity[id] = math.Log(1 + (n-in+0.5)/(in+0.5))
		ix.masks[id] = letters(term)
		ix.sorted[id] = id
	}
	slices.SortFunc(ix.sorted, func(a, b int) int { return strings.Compare(ix.terms[a], ix.terms[b]) })
}

// Bounds of what is read.
const (
	maxText  = 8000 // bytes of a description, of all those of parameters, of a request
	maxAsked = 50   // words of a request
)

// sentence divides a description after its first sentence or line.
func sentence(s string) (first, rest string) {
	s = strings.TrimSpace(s[:min(len(s), maxText)])
	end := len(s)
	for _, mark := range []string{". ", "\n", "。"} {
		if i := strings.Index(s, mark); i >= 0 {
			end = min(end, i)
		}
	}
	return s[:end], s[end:]
}

// letters returns a set of the letters of a term, to tell most terms apart at once.
func letters(term string) uint64 {
	var mask uint64
	for i := range len(term) {
		mask |= 1 << (term[i] % 64)
	}
	return mask
}

// What a term counts that is not the word itself.
const (
	asPrefix = 0.75 // and less, the longer the term is
	asTypo   = 0.7
	asOrigin = 0.5 // the term is the beginning of the word
)

// maxExpansion bounds the terms that one word may begin.
const maxExpansion = 64

// expand returns the terms that a word of a request may mean, with what they count.
func (ix *Index) expand(word string) map[int]float64 {
	out := map[int]float64{}
	add := func(id int, factor float64) { out[id] = max(out[id], factor) }
	term := stem(word)
	id, known := ix.ids[term]
	if known {
		add(id, 1)
	}
	for _, s := range synonyms()[term] {
		if id, ok := ix.ids[s.term]; ok {
			add(id, s.factor)
		}
	}
	if len(term) >= 3 {
		from, _ := slices.BinarySearchFunc(ix.sorted, term, func(id int, t string) int { return strings.Compare(ix.terms[id], t) })
		for _, id := range ix.sorted[from:min(len(ix.sorted), from+maxExpansion)] {
			longer := ix.terms[id]
			if !strings.HasPrefix(longer, term) {
				break
			}
			add(id, asPrefix*float64(len(term)+3)/float64(len(longer)+3))
		}
		for n := len(term) - 1; n >= 4; n-- {
			if id, ok := ix.ids[term[:n]]; ok {
				add(id, asOrigin)
			}
		}
	}
	if first, _ := utf8.DecodeRuneInString(word); !known && len(word) >= 4 && !isDense(first) {
		ix.typos(term, add)
	}
	return out
}

// typos finds the terms that differ from one in a letter or two.
func (ix *Index) typos(term string, add func(id int, factor float64)) {
	limit := 1
	if len(term) >= 8 {
		limit = 2
	}
	mask := letters(term)
	for id, mine := range ix.masks {
		t := ix.terms[id]
		if t[0] != term[0] { // people get the first letter right
			continue
		}
		if d := len(t) - len(term); d > limit || -d > limit || bits.OnesCount64(mask^mine) > 2*limit || len(t) < 3 {
			continue
		}
		if d := spelling.Distance(term, t, limit); d <= limit {
			add(id, asTypo/float64(d))
		}
	}
}

// What else moves a score.
const (
	asCommon  = 0.25 // a word such as "for" or "my", which counts in names alone
	likeForms = 0.12 // a word that stands in the name as it is written: issues, not issue
	reading   = 0.04 // what is added to a tool that only reads: of two that fit alike it does less harm
	wholeName = 0.6  // what is added to it if the request holds the whole name
)

// Search returns the docs that match words best, at most limit of them, best first.
// Docs that match equally well stand in the order of their names.
func (ix *Index) Search(request string, limit int) []Hit { return ix.SearchAmong(request, limit, nil) }

// SearchAmong is Search among the docs that keep, if it is not nil, says yes to.
func (ix *Index) SearchAmong(request string, limit int, keep func(Doc) bool) []Hit {
	asked := ix.asked(request)
	if len(asked) == 0 || limit <= 0 {
		return nil
	}
	var (
		n       = len(ix.docs)
		all     = make([]float64, 6*n)
		total   = all[:n]
		matched = all[n : 2*n]   // how much of the request
		named   = all[2*n : 3*n] // and how much of the name
		best    = all[3*n : 4*n] // of one word
		exact   = all[4*n : 5*n] // its best factor on the name
		sure    = all[5*n:]      // and anywhere
		touched []int
		reached []int
		weight  float64 // of the request
	)
	for _, word := range asked {
		if !word.common {
			weight++
		}
		expansion := ix.expand(word.text)
		ids := make([]int, 0, len(expansion))
		rarity := 0.0
		for id := range expansion {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		for _, id := range ids {
			// A rare synonym of a common word is not worth more than the word.
			if expansion[id] == 1 {
				rarity = ix.rarity[id]
			}
		}
		touched = touched[:0]
		for _, id := range ids {
			factor := expansion[id]
			worth := ix.rarity[id]
			if rarity > 0 {
				worth = min(worth, rarity)
			}
			worth *= factor
			for _, o := range ix.found[id] {
				if word.common && o.name == 0 {
					continue
				}
				if sure[o.doc] == 0 {
					touched = append(touched, o.doc)
				}
				best[o.doc] = max(best[o.doc], worth*o.weight)
				sure[o.doc] = max(sure[o.doc], factor)
				exact[o.doc] = max(exact[o.doc], factor*o.name)
			}
		}
		for _, d := range touched {
			if word.common {
				total[d] += best[d] * asCommon
			} else {
				if matched[d] == 0 {
					reached = append(reached, d)
				}
				total[d] += best[d]
				matched[d] += sure[d]
			}
			named[d] += exact[d]
			best[d], sure[d], exact[d] = 0, 0, 0
		}
		if !word.common && meaning(word.text) == asSubject {
			for _, d := range ix.forms[word.text] {
				total[d] *= 1 + likeForms
			}
		}
	}
	var hits []Hit
	for _, d := range reached {
		if keep != nil && !keep(ix.docs[d]) {
			continue
		}
		coverage := min(1, matched[d]/weight)
		name := min(1, named[d]/ix.names[d])
		score := total[d] * coverage * (1 + wholeName*name)
		if ix.reads[d] {
			score *= 1 + reading
		}
		hit := Hit{ix.docs[d], math.Round(score*1e6) / 1e6}
		if len(hits) == limit && order(hit, hits[limit-1]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(hits, hit, order)
		hits = slices.Insert(hits, at, hit)
		hits = hits[:min(len(hits), limit)]
	}
	return hits
}

// asking is one word of a request.
type asking struct {
	text   string
	common bool
}

// asked returns the words of a request. If all of them are common, none counts as such.
func (ix *Index) asked(request string) []asking {
	var all []string
	for _, w := range words(request[:min(len(request), maxText)]) {
		_, known := ix.ids[stem(w)]
		if long := command(w); long != "" && !known {
			all = append(all, strings.Fields(long)...)
		} else {
			all = append(all, w)
		}
	}
	var out []asking
	seen := map[string]bool{}
	telling := false
	add := func(w string, common bool) {
		if !seen[w] && len(out) < maxAsked {
			seen[w] = true
			out = append(out, asking{w, common})
			telling = telling || !common
		}
	}
	for i, w := range all {
		add(w, isCommon(w))
		if i > 0 { // "file system" may be filesystem
			joined := all[i-1] + w
			if _, ok := ix.ids[stem(joined)]; ok {
				add(joined, false)
			}
		}
	}
	if !telling {
		for i := range out {
			out[i].common = false
		}
	}
	return out
}

// order puts better hits first, and those that are as good by name.
func order(a, b Hit) int {
	return cmp.Or(
		cmp.Compare(b.Score, a.Score),
		strings.Compare(a.Namespace, b.Namespace),
		strings.Compare(a.Tool.Name, b.Tool.Name),
	)
}
