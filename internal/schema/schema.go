// Package schema reads the JSON Schemas that tools describe themselves with: it
// writes them as TypeScript, converts arguments that are text to the type a schema
// names, checks arguments, and finds the names that a script may use.
//
// Servers send schemas of every draft and with every mistake. Nothing here fails on
// one: what is not understood counts as not said.
package schema
