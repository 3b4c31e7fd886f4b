package config

// aliasKey is AliasOf as it is written.
func (s *Server) aliasKey() string {
	if s.lines["aliasOf"] != 0 {
		return "aliasOf"
	}
	return "mcpx.aliasOf"
}

// findAlias looks up the server whose process an entry shares. What is wrong with that is
// a problem of the entry.
func (s *Server) findAlias(c *Config) {
	if s.AliasOf == "" || s.Problem != nil {
		return
	}
	key := s.aliasKey()
	other, ok := c.Server(s.AliasOf)
	switch {
	case !ok:
		s.Problem = s.wrong(key, "no server is called %q", s.AliasOf).Hintf("name another entry, whose process this one shares")
	case other == s || other.AliasOf != "":
		s.Problem = s.wrong(key, "%q is itself an alias", s.AliasOf).Hintf("name the entry with the command or the url")
	default:
		s.alias, s.Transport = other, other.Transport
	}
}
