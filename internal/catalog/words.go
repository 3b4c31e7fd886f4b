package catalog

import (
	"strings"
	"sync"
	"unicode"
)

// words splits text and identifiers into small letters: "getHTTPUrl_v2" becomes get,
// http, url, v2. Runs of scripts that are written without spaces become pairs of
// characters.
func words(s string) []string {
	var out []string
	runes := []rune(s)
	start := -1
	end := func(i int) {
		if start >= 0 {
			out = append(out, split(runes[start:i])...)
			start = -1
		}
	}
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) {
			end(i)
			continue
		}
		if start < 0 {
			start = i
			continue
		}
		before := runes[i-1]
		switch {
		case unicode.IsUpper(r) && !unicode.IsUpper(before), // getUrl
			unicode.IsLower(r) && unicode.IsUpper(before) && i-2 >= start && unicode.IsUpper(runes[i-2]), // HTTPUrl
			isDense(r) != isDense(before):
			at := i
			if unicode.IsLower(r) && unicode.IsUpper(before) {
				at = i - 1
			}
			end(at)
			start = at
		}
	}
	end(len(runes))
	return out
}

func split(word []rune) []string {
	if !isDense(word[0]) || len(word) == 1 {
		return []string{strings.ToLower(string(word))}
	}
	var out []string
	for i := range len(word) - 1 {
		out = append(out, string(word[i:i+2]))
	}
	return out
}

// isDense reports whether a character is of a script that is written without spaces.
func isDense(r rune) bool {
	return r > 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// stem removes the endings in which the forms of an English word differ: issues and
// issue, creating, created and creation become the same. The result need not be a word.
func stem(w string) string {
	for i := range len(w) {
		if w[i] >= 0x80 {
			return w
		}
	}
	n := len(w)
	switch {
	case n > 4 && strings.HasSuffix(w, "ies"):
		w = w[:n-3] + "y"
	case n > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes")):
		w = w[:n-2]
	case (n > 3 || n == 3 && !hasVowel(w[1:2])) && w[n-1] == 's' && w[n-2] != 's' && w[n-2] != 'u' && w[n-2] != 'i':
		w = w[:n-1]
	}
	n = len(w)
	switch {
	case n > 5 && strings.HasSuffix(w, "ing") && hasVowel(w[:n-3]):
		w = undouble(w[:n-3])
	case n > 4 && strings.HasSuffix(w, "ed") && hasVowel(w[:n-2]):
		w = undouble(w[:n-2])
	case n > 6 && strings.HasSuffix(w, "ion") && (w[n-4] == 't' || w[n-4] == 's'):
		w = w[:n-3]
	}
	if n = len(w); n > 3 && w[n-1] == 'e' {
		w = w[:n-1]
	}
	return w
}

func hasVowel(w string) bool { return strings.ContainsAny(w, "aeiouy") }

// undouble turns runn into run; words that end in ll, ss or zz keep both.
func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeiouylsz", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}

// isCommon reports whether a word says nothing about what is looked for.
func isCommon(w string) bool {
	switch w {
	case "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "could",
		"did", "do", "does", "each", "for", "from", "had", "has", "have", "here", "how", "i", "if", "in", "into", "is",
		"it", "its", "just", "let", "like", "may", "me", "must", "my", "need", "now", "of", "on", "or", "our", "out",
		"please", "should", "so", "some", "than", "that", "the", "their", "them", "then", "there", "these", "they",
		"this", "to", "tool", "up", "us", "use", "using", "via", "want", "was", "we", "were", "what", "when", "where",
		"which", "why", "will", "with", "would", "you", "your":
		return true
	}
	return false
}

// A synonym is a term that people use for another, with what it counts.
type synonym struct {
	term   string
	factor float64
}

const (
	asSynonym      = 0.6
	asAbbreviation = 0.9
)

// synonyms holds, by stem, the other stems that may be meant.
var synonyms = sync.OnceValue(func() map[string][]synonym {
	out := map[string][]synonym{}
	add := func(groups []string, factor float64) {
		for _, group := range groups {
			members := strings.Fields(group)
			for _, a := range members {
				for _, b := range members {
					if a != b {
						out[stem(a)] = append(out[stem(a)], synonym{stem(b), factor})
					}
				}
			}
		}
	}
	add([]string{
		"pr pull pullrequest",
		"repository repo",
		"directory folder dir",
		"message msg",
		"database db",
		"image img",
		"document doc",
		"environment env",
		"information info",
		"configuration config",
		"authentication auth",
		"picture pic",
		"javascript js",
		"kubernetes k8s",
		"administrator admin",
		"application app",
		"argument arg",
		"parameter param",
		"command cmd",
		"address addr",
		"number num",
		"temporary temp tmp",
		"specification spec",
		"organization org organisation",
		"statistic stat",
		"synchronize sync",
		"screenshot snap",
	}, asAbbreviation)
	add([]string{
		"create add new make insert",
		"create write save",
		"write save store put",
		"create open",
		"publish release post",
		"delete remove drop destroy erase clear",
		"get read fetch show view retrieve load",
		"read cat content",
		"print echo show output",
		"list all enumerate browse every",
		"list get show display",
		"update edit modify change set patch alter replace",
		"search find query lookup grep locate",
		"send post publish",
		"run execute exec invoke eval evaluate call",
		"start launch run begin trigger dispatch",
		"stop kill terminate cancel abort end",
		"move rename mv",
		"copy duplicate clone",
		"retry rerun again restart",
		"undo revert restore back",
		"lock block protect",
		"request ask",
		"give grant add invite share",
		"access permission collaborator privilege",
		"approve accept review",
		"reject decline deny",
		"subscribe watch follow",
		"connect link attach join relation",
		"connection session client",
		"file document",
		"image picture photo media",
		"screenshot capture snapshot",
		"record capture trace video screencast",
		"javascript script code",
		"database sql",
		"schema structure column definition describe",
		"comment reply note",
		"user member person people account someone somebody everyone who",
		"assignee owner responsible assign",
		"me myself i authenticated",
		"presence online available active away",
		"navigate goto go visit open browse",
		"click press tap",
		"type fill enter input",
		"key keyboard press",
		"sum plus total add",
		"information detail describe status metadata",
		"merge combine",
		"compare diff difference change",
		"wait sleep pause delay",
		"upload attach share",
		"download fetch export",
		"import load upload",
		"export dump backup save",
		"channel room conversation",
		"label tag",
		"history log commit past",
		"recent latest last newest history",
		"error exception failure fail bug",
		"issue bug ticket",
		"suggest recommend missing propose",
		"reminder remind remember",
		"variable env",
		"size big large long",
		"current running active progress",
		"multiple several many batch bulk",
		"slow performance speed fast",
		"compress zip gzip archive",
		"build workflow pipeline ci job",
		"test check verify assert",
		"select choose pick",
		"dialog alert confirm popup prompt",
		"emoji reaction react",
		"direct dm private",
		"email mail",
		"schedule later cron",
		"tab page window",
		"website site page url web link",
		"page browser",
		"row record entry",
		"limit maximum quota",
		"secret token credential password key",
		"vulnerable vulnerability security",
		"dependency package library",
		"folder tree path",
		"style css",
		"request network http api",
		"entity node object item",
		"fact observation note",
		"memory knowledge remember",
	}, asSynonym)
	return out
})

// command returns what a command of the shell does, in the words of tools, "" if w is
// none. It counts only where no tool has the word itself.
func command(w string) string {
	switch w {
	case "mkdir":
		return "create directory"
	case "ls":
		return "list directory"
	case "rm", "rmdir", "unlink":
		return "delete file"
	case "mv":
		return "move file"
	case "cp":
		return "copy file"
	case "cat", "head", "tail":
		return "read file"
	case "touch":
		return "create file"
	case "grep", "rg":
		return "search files content"
	case "stat":
		return "file information"
	case "du":
		return "file size"
	case "ps":
		return "list process"
	case "curl", "wget":
		return "fetch url"
	case "psql":
		return "run sql query"
	}
	return ""
}
