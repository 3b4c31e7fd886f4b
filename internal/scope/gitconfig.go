package scope

import "strings"

// parseConfig reads the text of a configuration file of git and calls each for its
// variables: section and key in small letters, without variables of subsections. bare
// says that there was no equals sign. It reports whether the text could be read, and
// ends when each returns false.
func parseConfig(text string, each func(section, key, value string, bare bool) bool) bool {
	p := configParser{rest: strings.TrimPrefix(text, "\ufeff")}
	section := ""
	for {
		p.skip()
		switch c := p.peek(); {
		case c == 0:
			return p.rest == ""
		case c == '[':
			name, ok := p.section()
			if !ok {
				return false
			}
			section = name
		case letter(c):
			key := p.word()
			value, bare, ok := p.value()
			if !ok {
				return false
			}
			if section != "" && !each(section, strings.ToLower(key), value, bare) {
				return false
			}
		default:
			return false
		}
	}
}

type configParser struct{ rest string }

// peek returns the next byte; 0 at the end.
func (p *configParser) peek() byte {
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

// skip passes by blanks and comments.
func (p *configParser) skip() {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\r\n\v\f")
		if c := p.peek(); c != '#' && c != ';' {
			return
		}
		_, p.rest, _ = strings.Cut(p.rest, "\n")
	}
}

// section reads [name] or [name "sub"]; of the latter the name is empty.
func (p *configParser) section() (string, bool) {
	end := strings.IndexAny(p.rest, "]\"\n")
	if end < 0 || p.rest[end] == '\n' {
		return "", false
	}
	name := p.rest[1:end]
	if p.rest[end] == ']' {
		p.rest = p.rest[end+1:]
		return strings.ToLower(name), name != "" && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-.") == ""
	}
	for i := end + 1; i < len(p.rest); i++ {
		switch p.rest[i] {
		case '\\':
			i++
		case '\n':
			return "", false
		case '"':
			if !strings.HasPrefix(p.rest[i+1:], "]") {
				return "", false
			}
			p.rest = p.rest[i+2:]
			return "", true
		}
	}
	return "", false
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func (p *configParser) word() string {
	n := 0
	for n < len(p.rest) && (letter(p.rest[n]) || p.rest[n] == '-' || p.rest[n] >= '0' && p.rest[n] <= '9') {
		n++
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	return word
}

// value reads what follows the name of a variable, to the end of its line.
func (p *configParser) value() (text string, bare, ok bool) {
	p.rest = strings.TrimLeft(p.rest, " \t")
	switch p.peek() {
	case '=':
		p.rest = strings.TrimLeft(p.rest[1:], " \t")
	case 0, '\n', '\r', '#', ';':
		return "", true, true
	default:
		return "", false, false
	}
	var out []byte
	quoted, kept := false, 0 // blanks behind kept are dropped at the end
	for i := 0; i < len(p.rest); i++ {
		c := p.rest[i]
		switch {
		case c == '\n':
			p.rest = p.rest[i+1:]
			return string(out[:kept]), false, !quoted
		case c == '\r' && strings.HasPrefix(p.rest[i+1:], "\n"):
		case !quoted && (c == '#' || c == ';'):
			_, p.rest, _ = strings.Cut(p.rest[i:], "\n")
			return string(out[:kept]), false, true
		case c == '"':
			quoted = !quoted
			kept = len(out)
		case c == '\\':
			i++
			if i == len(p.rest) {
				return "", false, false
			}
			if p.rest[i] == '\r' && strings.HasPrefix(p.rest[i+1:], "\n") {
				i++
			}
			at := strings.IndexByte("\nntb\\\"", p.rest[i])
			if at < 0 {
				return "", false, false
			}
			if at > 0 {
				out = append(out, " \n\t\b\\\""[at])
				kept = len(out)
			}
		case !quoted && (c == ' ' || c == '\t'):
			out = append(out, c)
		default:
			out = append(out, c)
			kept = len(out)
		}
	}
	p.rest = ""
	return string(out[:kept]), false, !quoted
}
