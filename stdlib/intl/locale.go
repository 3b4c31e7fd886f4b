package intl

import (
	"strings"
	"sync"
)

// match finds the locale that serves a tag best: the tag itself or what is left of it as
// its subtags are dropped from the end. It is false if the language is not known.
func match(t tag) (supported tag, ok bool) {
	for name := t.base(); name != ""; {
		if strings.Contains(contents().supported, " "+name+" ") {
			found, _ := parseTag(name)
			return found, true
		}
		i := strings.LastIndexByte(name, '-')
		if i < 0 {
			break
		}
		name = name[:i]
	}
	return tag{}, false
}

// sources are where regions of a language without data of their own find it. "*" is for
// any region.
var sources = sync.OnceValue(func() map[string]map[string]string {
	return map[string]map[string]string{
		"en": {"US": "en", "AS": "en", "GU": "en", "MH": "en", "MP": "en", "PR": "en", "UM": "en", "VI": "en", "BI": "en", "*": "en-001"},
		"es": {"ES": "es", "EA": "es", "IC": "es", "GQ": "es", "PH": "es", "*": "es-419"},
		"pt": {"BR": "pt", "*": "pt-PT"},
		"zh": {"TW": "zh-Hant", "HK": "zh-Hant-HK", "MO": "zh-Hant-HK"},
		"sr": {"ME": "sr-Latn"},
		"de": {"LI": "de-CH"},
	}
})

// source is the locale whose data a supported one uses.
func source(t tag) string {
	known := contents().parents
	language := t.language
	if language == "no" {
		language = "nb"
	}
	script := language
	if t.script != "" {
		script += "-" + t.script
	}
	for _, name := range []string{script + "-" + t.region, script, language + "-" + t.region} {
		if _, ok := known[strings.TrimSuffix(name, "-")]; ok && (name != language || t.region == "") {
			return strings.TrimSuffix(name, "-")
		}
	}
	if regions, ok := sources()[language]; ok && t.region != "" && (t.script == "" || language != "zh") {
		if name, ok := regions[t.region]; ok {
			return name
		}
		if name, ok := regions["*"]; ok {
			return name
		}
	}
	if _, ok := known[language]; ok {
		return language
	}
	return "en"
}
