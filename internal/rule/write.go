package rule

import "slices"

// Policy says whether tools that may write can be called.
type Policy string

// The policies, those that allow less first.
const (
	Deny  Policy = "deny"
	Ask   Policy = "ask"
	Allow Policy = "allow"
)

var policies = []Policy{Deny, Ask, Allow}

// IsPolicy reports whether a word is one.
func IsPolicy(word string) bool { return slices.Contains(policies, Policy(word)) }

// tighter reports whether p allows less than q.
func (p Policy) tighter(q Policy) bool { return slices.Index(policies, p) < slices.Index(policies, q) }

// Writing returns the policy for a server, and where it stands if that is with the server.
// InForce is the setting, and asked what the user has said for this run, if anything: a
// server's own policy stands in the place of the setting, but for a run it is only
// tightened. A guest's only tightens.
func (r *Rules) Writing(inForce, asked Policy) (Policy, *Origin) {
	policy, from := inForce, (*Origin)(nil)
	if r == nil {
		return policy, from
	}
	set := func(b *Block) { policy, from = b.Write, &b.WriteFrom }
	own := r.Own
	if own != nil && own.Write != "" && !own.Guest {
		set(own)
		if asked != "" && asked.tighter(policy) {
			policy, from = asked, nil
		}
		return policy, from
	}
	// An entry that took another's place does not get more than that had.
	blocks := r.Replaced
	if own != nil {
		blocks = append([]*Block{own}, blocks...)
	}
	for _, b := range blocks {
		if b.Write != "" && b.Write.tighter(policy) {
			set(b)
		}
	}
	return policy, from
}
