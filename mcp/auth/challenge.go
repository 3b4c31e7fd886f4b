package auth

import "strings"

// maxChallenge bounds what is read of a WWW-Authenticate header.
const maxChallenge = 16 << 10

// bearer returns the parameters of the first Bearer challenge among the values of
// WWW-Authenticate, with their names in lower case; an empty map if there is none. It takes
// what it can of values that are not well-formed.
func bearer(values []string) map[string]string {
	for _, v := range values {
		if len(v) > maxChallenge {
			continue
		}
		if params := bearerOf(v); params != nil {
			return params
		}
	}
	return map[string]string{}
}

// bearerOf reads one value, which may hold several challenges: SCHEME, or SCHEME name=value, …
func bearerOf(s string) map[string]string {
	var found map[string]string
	ours := false
	for s = trim(s); s != ""; s = trim(s) {
		word := s[:tokenLength(s)]
		if word == "" {
			s = s[1:]
			continue
		}
		rest := strings.TrimLeft(s[len(word):], " \t")
		if !strings.HasPrefix(rest, "=") { // a scheme
			if found != nil {
				return found
			}
			if ours = strings.EqualFold(word, "Bearer"); ours {
				found = map[string]string{}
			}
			s = rest
			continue
		}
		value, after := valueOf(strings.TrimLeft(rest[1:], " \t"))
		if name := strings.ToLower(word); ours {
			if _, twice := found[name]; !twice {
				found[name] = value
			}
		}
		s = after
	}
	return found
}

func trim(s string) string { return strings.TrimLeft(s, " \t,") }

// valueOf reads a token or a quoted string, and returns what follows it.
func valueOf(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		n := strings.IndexAny(s, " \t,")
		if n < 0 {
			n = len(s)
		}
		return s[:n], s[n:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:]
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// tokenLength is the length of the token that s begins with.
func tokenLength(s string) int {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return i
		}
	}
	return len(s)
}
