package schema

// maxPairs bounds the arms of a union that is made of two.
const maxPairs = 4096

// meet returns the shape of a value that fits both. With deep, references are looked
// through where that joins two objects into one; without, they stay, which keeps
// objects that contain themselves from being joined for ever.
func (c *compiler) meet(a, b *shape, deep bool) *shape {
	if !c.spend(1) {
		return tooLarge
	}
	switch {
	case a.form == nothing || b.form == nothing:
		return neverShape
	case a.form == anything && (b.form != anything || a.text == ""):
		return b
	case b.form == anything:
		return a
	case a.form == named && b.form == named && a.target == b.target:
		return a
	case c.isObject(a) && isBare(b):
		return a
	case c.isObject(b) && isBare(a):
		return b
	}
	if deep && (a.form == named || b.form == named) {
		x, xok := c.behind(a)
		y, yok := c.behind(b)
		if xok && yok && (x.form != union || !c.isObject(x)) && (y.form != union || !c.isObject(y)) {
			return c.meet(x, y, true)
		}
	}
	if a.form == union || b.form == union {
		x, y := arms(a), arms(b)
		if c.isObject(a) && c.isObject(b) || len(x)*len(y) > maxPairs {
			return c.both(a, b)
		}
		var common []*shape
		for _, p := range x {
			for _, q := range y {
				common = append(common, c.meet(p, q, deep))
			}
		}
		return c.union(common)
	}
	return c.pair(a, b)
}

// pair is meet for two shapes that are no unions.
func (c *compiler) pair(a, b *shape) *shape {
	switch {
	case a.form == object && b.form == object:
		return c.merge(a, b)
	case a.implied && b.isFlat():
		return b
	case b.implied && a.isFlat():
		return a
	case a.isSequence() && b.form == list && b.rest.form == anything:
		return a
	case b.isSequence() && a.form == list && a.rest.form == anything:
		return b
	case a.kinds()&b.kinds() == 0:
		return neverShape
	case a.form == primitive && b.form == primitive && a.kind != b.kind: // an integer is a number
		return &shape{form: primitive, kind: kindInteger}
	case a.form == primitive && b.isFlat():
		return b
	case b.form == primitive && a.isFlat():
		return a
	case a.form == literal && b.form == literal:
		if a.text == b.text {
			return a
		}
		return neverShape
	}
	return c.both(a, b)
}

// both returns a shape that says that a value fits both, without looking inside.
func (c *compiler) both(a, b *shape) *shape {
	s := &shape{form: intersection}
	for _, part := range [2]*shape{a, b} {
		if part.form == intersection {
			s.items = append(s.items, part.items...)
		} else {
			s.items = append(s.items, part)
		}
	}
	if !c.spend(len(s.items)) {
		return tooLarge
	}
	return s
}

// merge joins two objects into one.
func (c *compiler) merge(a, b *shape) *shape {
	if isBare(a) {
		a, b = b, a
	}
	if isBare(b) {
		if !a.implied || b.implied {
			return a
		}
		s := *a
		s.implied = false
		return &s
	}
	if !c.spend(len(a.props) + len(b.props)) {
		return tooLarge
	}
	s := &shape{form: object, implied: a.implied && b.implied}
	at := make(map[string]int, len(a.props))
	for i, p := range a.props {
		at[p.name] = i
	}
	s.props = append(s.props, a.props...)
	for _, p := range b.props {
		i, ok := at[p.name]
		if !ok {
			s.props = append(s.props, p)
			continue
		}
		q := &s.props[i]
		q.shape = c.meet(q.shape, p.shape, false)
		q.required = q.required || p.required
		if q.doc == "" {
			q.doc = p.doc
		}
	}
	switch {
	case a.rest == nil || a.rest.form == nothing:
		s.rest = b.rest
	case b.rest == nil || b.rest.form == nothing:
		s.rest = a.rest
	default:
		s.rest = c.meet(a.rest, b.rest, false)
	}
	if s.rest != nil && s.rest.form == nothing {
		s.rest = nil
	}
	return s
}

// arms returns the parts of a union, or the shape itself.
func arms(s *shape) []*shape {
	if s.form == union {
		return s.items
	}
	return []*shape{s}
}

// isFlat reports whether a shape is of values without parts.
func (s *shape) isFlat() bool { return s.form == primitive || s.form == literal }

func (s *shape) isSequence() bool { return s.form == list || s.form == tuple }

// isBare reports whether a shape says of a value only that it is an object.
func isBare(s *shape) bool {
	return s.form == object && len(s.props) == 0 && (s.rest == nil || s.rest.form == anything)
}

// isObject reports whether a shape is of objects alone.
func (c *compiler) isObject(s *shape) bool {
	switch s.form {
	case object:
		return true
	case named:
		if is, ok := c.objects[s.target]; ok {
			return is
		}
		behind, ok := c.behind(s)
		if !ok || behind.form == named {
			return false
		}
		is := c.isObject(behind)
		c.objects[s.target] = is
		return is
	case union, intersection:
		for _, part := range s.items {
			if is := c.isObject(part); is != (s.form == union) {
				return is
			}
		}
		return s.form == union
	case anything, nothing, primitive, literal, list, tuple:
	}
	return false
}
