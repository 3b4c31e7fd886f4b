package catalog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"search_issues":        "search issues",
		"getHTTPUrl_v2":        "get http url v2",
		"read-file.now":        "read file now",
		"XMLHttpRequest":       "xml http request",
		"ABC":                  "abc",
		"it's 3d":              "it s 3d",
		"查询数据":                 "查询 询数 数据",
		"get查询":                "get 查询",
		"größeÄndern":          "größe ändern",
		"":                     "",
		"…/":                   "",
		"browser_take_Snap":    "browser take snap",
		"a b":                  "a b",
		"listPRsForRepository": "list p rs for repository",
	} {
		if got := strings.Join(words(in), " "); got != want {
			t.Errorf("words(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestStem(t *testing.T) {
	t.Parallel()
	for _, forms := range []string{
		"issue issues", "create creates created creating creation", "delete deletes deleted deleting deletion",
		"query queries", "file files", "list lists listed listing", "run runs running", "navigate navigates navigation navigating",
		"box boxes", "match matches matching", "branch branches", "execute execution executing", "move moving moved", "process processes",
	} {
		all := strings.Fields(forms)
		for _, form := range all {
			if got, want := stem(form), stem(all[0]); got != want {
				t.Errorf("stem(%q) = %q, stem(%q) = %q", form, got, all[0], want)
			}
		}
	}
	for _, apart := range [][2]string{{"status", "stat"}, {"news", "new"}, {"string", "str"}, {"this", "th"}, {"thing", "th"}} {
		if stem(apart[0]) == stem(apart[1]) && apart[0] != "news" {
			t.Errorf("stem(%q) = stem(%q) = %q", apart[0], apart[1], stem(apart[0]))
		}
	}
}

// office is a small office of servers.
func office(t testing.TB) []Doc {
	t.Helper()
	var docs []Doc
	for ns, tools := range map[string][]string{
		"github": {
			`{"name":"create_issue","description":"Create a new issue in a GitHub repository","inputSchema":{"properties":{"owner":{},"repo":{},"title":{},"labels":{}}}}`,
			`{"name":"list_issues","description":"List issues in a repository","inputSchema":{"properties":{"state":{"enum":["open","closed"]}}}}`,
			`{"name":"add_issue_comment","description":"Add a comment to an existing issue"}`,
			`{"name":"search_code","description":"Search for code across repositories"}`,
			`{"name":"create_pull_request","description":"Create a new pull request","inputSchema":{"properties":{"base":{},"head":{}}}}`,
			`{"name":"merge_pull_request","description":"Merge a pull request","inputSchema":{"properties":{"merge_method":{"enum":["squash","rebase"]}}}}`,
			`{"name":"get_file_contents","description":"Get the contents of a file or directory from a repository"}`,
			`{"name":"fork_repository","description":"Fork a repository to your account"}`,
		},
		"files": {
			`{"name":"read_text_file","description":"Read the complete contents of a file as text. Handles various encodings."}`,
			`{"name":"write_file","description":"Create a new file or completely overwrite an existing file"}`,
			`{"name":"list_directory","description":"Get a detailed listing of all files and directories in a path"}`,
			`{"name":"move_file","description":"Move or rename files and directories"}`,
			`{"name":"search_files","description":"Recursively search for files matching a pattern"}`,
			`{"name":"create_directory","description":"Create a new directory"}`,
		},
		"browser": {
			`{"name":"browser_navigate","description":"Navigate to a URL","inputSchema":{"properties":{"url":{}}}}`,
			`{"name":"browser_take_screenshot","description":"Take a screenshot of the current page"}`,
			`{"name":"browser_click","description":"Perform click on a web page"}`,
			`{"name":"browser_type","description":"Type text into editable element"}`,
			`{"name":"browser_close","description":"Close the page"}`,
			`{"name":"browser_wait_for","description":"Wait for text to appear or disappear or a specified time to pass"}`,
		},
		"slack": {
			`{"name":"slack_post_message","description":"Post a new message to a Slack channel"}`,
			`{"name":"slack_list_channels","description":"List public channels in the workspace"}`,
			`{"name":"slack_get_users","description":"Get a list of all users in the workspace"}`,
		},
		"db": {
			`{"name":"query","description":"Run a read-only SQL query"}`,
			`{"name":"describeTable","description":"Columns of a table"}`,
			`{"name":"查询数据","description":"查询数据库"}`,
		},
	} {
		for _, raw := range tools {
			docs = append(docs, Doc{Namespace: ns, Tool: tool(t, raw)})
		}
	}
	slices.SortFunc(docs, func(a, b Doc) int { return strings.Compare(a.Namespace+a.Tool.Name, b.Namespace+b.Tool.Name) })
	return docs
}

func TestSearch(t *testing.T) {
	t.Parallel()
	ix := NewIndex(office(t))
	for _, test := range []struct{ words, want string }{
		{"create issue", "create_issue"},
		{"createIssue", "create_issue"},
		{"create_issue", "create_issue"},
		{"open a new ticket issue", "create_issue"},
		{"list issues", "list_issues"},
		{"closed issues", "list_issues"},
		{"reply to an issue", "add_issue_comment"},
		{"add pr", "create_pull_request"},
		{"squash", "merge_pull_request"},
		{"merging pull requests", "merge_pull_request"},
		{"read file", "read_text_file"},
		{"reading files as text", "read_text_file"},
		{"list folder", "list_directory"},
		{"mkdir make directory", "create_directory"},
		{"rename file", "move_file"},
		{"find files by pattern", "search_files"},
		{"save a file", "write_file"},
		{"go to url", "browser_navigate"},
		{"screenshot", "browser_take_screenshot"},
		{"screnshot", "browser_take_screenshot"},
		{"create_isue", "create_issue"},
		{"serach code", "search_code"},
		{"mkdir", "create_directory"},
		{"list prs", "create_pull_request"},
		{"screensh", "browser_take_screenshot"},
		{"press button click", "browser_click"},
		{"navigation", "browser_navigate"},
		{"sleep until text appears", "browser_wait_for"},
		{"send a message", "slack_post_message"},
		{"people in the workspace", "slack_get_users"},
		{"rooms", "slack_list_channels"},
		{"run sql", "query"},
		{"table structure", "describeTable"},
		{"describe table", "describeTable"},
		{"查询", "查询数据"},
		{"the code", "search_code"},
	} {
		hits := ix.Search(test.words, 3)
		if len(hits) == 0 || hits[0].Tool.Name != test.want {
			var got []string
			for _, h := range hits {
				got = append(got, fmt.Sprintf("%s %.2f", h.Tool.Name, h.Score))
			}
			t.Errorf("Search(%q) = %q, want %s first", test.words, got, test.want)
		}
	}
}

func TestSearchFindsNothing(t *testing.T) {
	t.Parallel()
	docs := office(t)
	for _, words := range []string{"", "  ", "…", "xylophone", "qqq"} {
		if hits := NewIndex(docs).Search(words, 5); len(hits) != 0 {
			t.Errorf("Search(%q) = %v", words, hits)
		}
	}
	if hits := NewIndex(docs).Search("查找", 5); len(hits) != 0 { // one letter of two is no slip of the pen
		t.Errorf("Search of other letters = %v", hits)
	}
	if hits := NewIndex(docs).Search("issue", 0); len(hits) != 0 {
		t.Errorf("with limit 0: %v", hits)
	}
	if hits := NewIndex(nil).Search("issue", 5); len(hits) != 0 {
		t.Errorf("in no docs: %v", hits)
	}
	if hits := NewIndex(docs).Search("create", 2); len(hits) != 2 {
		t.Errorf("with limit 2: %v", hits)
	}
}

func TestTextsAreReadInPart(t *testing.T) {
	t.Parallel()
	long := tool(t, `{"name":"big","description":"The last word is far. `+strings.Repeat("filler ", 5000)+`faraway","inputSchema":{"properties":{"p":{"description":"`+strings.Repeat("padding ", 5000)+`remote"}}}}`)
	ix := NewIndex([]Doc{{"s", long}})
	if len(ix.terms) > 30 || len(ix.Search("filler", 1)) != 1 || len(ix.Search("faraway", 1)) != 0 || len(ix.Search("remote", 1)) != 0 {
		t.Errorf("%d terms: %q", len(ix.terms), ix.terms)
	}
	if hits := ix.Search(strings.Repeat("nothing ", 500)+"far", 1); len(hits) != 1 {
		t.Errorf("a word that is repeated counts more than once: %v", hits)
	}
	var many strings.Builder
	for i := range 500 {
		fmt.Fprintf(&many, "w%d ", i)
	}
	if asked := ix.asked(many.String()); len(asked) != maxAsked {
		t.Errorf("%d words are asked for, want %d", len(asked), maxAsked)
	}
}

func TestTheOrderOfHitsDoesNotDependOnTheOrderOfDocs(t *testing.T) {
	t.Parallel()
	docs := office(t)
	docs = append(docs, Doc{"zz", docs[0].Tool}, Doc{"aa", docs[0].Tool})
	want := NewIndex(docs).Search("create a new file in the repository", 10)
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		got := NewIndex(docs).Search("create a new file in the repository", 10)
		if !slices.Equal(got, want) {
			t.Fatalf("Search = %v, want %v", got, want)
		}
	}
}

func TestAnIndexIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	ix := NewIndex(office(t))
	want := ix.Search("list files", 5)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if got := ix.Search("list files", 5); !slices.Equal(got, want) {
					t.Errorf("Search = %v, want %v", got, want)
				}
			}
		})
	}
	group.Wait()
}

func FuzzSearch(f *testing.F) {
	for _, words := range []string{"create issue", "查询", "\xff\xfe", strings.Repeat("a ", 5000), "ſ K ŉ"} {
		f.Add(words)
	}
	ix := NewIndex(office(f))
	f.Fuzz(func(t *testing.T, words string) {
		hits := ix.Search(words, 5)
		if len(hits) > 5 {
			t.Errorf("%d hits", len(hits))
		}
		for i, h := range hits {
			if h.Score <= 0 || i > 0 && h.Score > hits[i-1].Score {
				t.Errorf("Search(%q): hit %d has score %v", words, i, h.Score)
			}
		}
	})
}

// crowd makes docs as a very large company would have them.
func crowd(t testing.TB, n int) []Doc {
	t.Helper()
	verbs := strings.Fields("create get list update delete search add remove send read write run start stop move copy merge assign close open")
	nouns := strings.Fields("issue comment file directory message channel user repository branch commit table row query page event invoice order " +
		"customer ticket report webhook token label milestone release deployment secret cluster node volume image")
	var docs []Doc
	r := rand.New(rand.NewPCG(7, 7))
	for i := range n {
		verb, noun, other := verbs[r.IntN(len(verbs))], nouns[r.IntN(len(nouns))], nouns[r.IntN(len(nouns))]
		docs = append(docs, Doc{
			Namespace: fmt.Sprintf("server%d", i/50),
			Tool: tool(t, fmt.Sprintf(`{"name":"%[1]s_%[2]s_%[3]s_%[4]d","description":"%[1]s a %[2]s of the %[3]s%[4]d. Some more words describe it at length.","inputSchema":{"properties":{"%[2]s_id":{"type":"string","description":"The id of the %[2]s"},"%[3]s":{"enum":["a%[4]d","b"]}}}}`,
				verb, noun, other, i)),
		})
	}
	return docs
}

func BenchmarkSearch(b *testing.B) {
	ix := NewIndex(crowd(b, 10_000))
	for _, words := range []string{"create issue", "get the list of all messages in a channel", "delte custmer", "xyzzyplugh", "a1234"} {
		b.Run(words, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ix.Search(words, 10)
			}
		})
	}
}

func BenchmarkIndex(b *testing.B) {
	for _, n := range []int{300, 10_000} {
		docs := crowd(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				NewIndex(docs)
			}
		})
	}
}
