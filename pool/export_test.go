package pool

// Waiting returns how many calls wait for their turn.
func (p *Pool) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, s := range p.sets {
		n += len(s.waiting)
	}
	return n
}

// Sets returns how many keys the pool remembers.
func (p *Pool) Sets() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sets)
}

// Ended reports whether no instance is left, not even one that is being cleared away.
func (p *Pool) Ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sets {
		if len(s.instances) > 0 {
			return false
		}
	}
	return true
}
