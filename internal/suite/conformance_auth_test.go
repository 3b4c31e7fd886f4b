//go:build unix

package suite

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"mcpx/mcp/auth"
	"mcpx/mcp/client"
)

// documentAddress is the address of a document about the client that the suite knows.
const documentAddress = "https://conformance-test.local/client-metadata.json"

// authorizer logs in for the scenarios that are about it: what a scenario gives the client
// goes where a person would write it, and a browser that agrees to everything stands in for
// the person.
func authorizer(scenario, url string) (client.Authorizer, error) {
	if !strings.HasPrefix(scenario, "auth/") {
		return nil, nil //nolint:nilnil // the others are not about that
	}
	var given struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Issuer string `json:"issuer"`
		Key    string `json:"private_key_pem"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return nil, err
		}
	}
	c := auth.Client{ID: given.ID, Secret: given.Secret, Issuer: given.Issuer, PrivateKey: given.Key}
	c.Credentials = strings.HasPrefix(scenario, "auth/client-credentials-")
	if c.ID == "" {
		c.ID = documentAddress
	}
	return auth.New(auth.Options{
		Server: "conformance", URL: url, Client: c,
		Login: &auth.Login{Show: agree, Timeout: 10 * time.Second},
	}), nil
}

// agree opens an address as a browser whose user agrees: it follows where it is sent.
func agree(address string) error {
	resp, err := http.Get(address) //nolint:noctx // a browser has none
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	fmt.Fprintf(os.Stderr, "the browser ends at %s: %s\n", resp.Status, text)
	return nil
}
