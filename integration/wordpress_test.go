package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// wordpressConfig is what its owner writes into wp-config.php. Its cron is run
// by visits, as it is unless somebody changes that.
const wordpressConfig = `<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:%s');
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
foreach (array('AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT') as $key) { define($key, "of a test: $key"); }
$table_prefix = 'wp_';
define('WP_HTTP_BLOCK_EXTERNAL', true); // but for this machine: nothing of a test asks strangers
define('WP_ACCESSIBLE_HOSTS', '127.0.0.1');
if (!defined('ABSPATH')) { define('ABSPATH', __DIR__ . '/'); }
require_once ABSPATH . 'wp-settings.php';
`

// blog is a running WordPress, and its owner's browser.
type blog struct {
	t       testing.TB
	address string
	browser *http.Client
	nonce   string
	server  *process
}

const blogOwner, blogPassword = "owner", "a long password of a test"

func newBlog(t testing.TB) *blog {
	t.Helper()
	const source = "/usr/share/wordpress"
	if _, err := os.Stat(source); err != nil {
		lacking(t, "wordpress", "WordPress is not installed (make realservers installs it)")
	}
	php := tool(t, "wordpress", "php")
	socket := newMariaDB(t)
	site := filepath.Join(t.TempDir(), "site")
	mustRun(t, exec.Command("cp", "-rL", source, site))
	must(t, os.WriteFile(filepath.Join(site, "wp-config.php"), fmt.Appendf(nil, wordpressConfig, socket), 0o600))
	listen := freeAddress(t)
	server := exec.Command(php, "-d", "opcache.enable_cli=1", "-d", "sendmail_path=/bin/true", "-S", listen, "-t", site)
	server.Env = append(os.Environ(), "PHP_CLI_SERVER_WORKERS=4", "http_proxy=") // its cron asks itself
	jar, err := cookiejar.New(nil)
	must(t, err)
	b := &blog{t: t, address: "http://" + listen, browser: &http.Client{Jar: jar, Timeout: time.Minute}}
	b.server = runServer(t, syscall.SIGTERM, server)
	b.server.serves(t, 20*time.Second, b.address+"/wp-admin/install.php")
	b.form("/wp-admin/install.php?step=2", url.Values{
		"weblog_title": {"A blog"}, "user_name": {blogOwner}, "admin_password": {blogPassword}, "admin_password2": {blogPassword},
		"admin_email": {"owner@example.org"}, "blog_public": {"1"}, "Submit": {"Install WordPress"},
	}, "Success!")
	b.page("/wp-login.php") // which sets the cookie that it tests
	b.form("/wp-login.php", url.Values{"log": {blogOwner}, "pwd": {blogPassword}, "testcookie": {"1"}}, "Dashboard")
	b.nonce = b.page("/wp-admin/admin-ajax.php?action=rest-nonce")
	return b
}

// newMariaDB is a database server with an empty database, and where it listens.
func newMariaDB(t testing.TB) (socket string) {
	t.Helper()
	program, install := tool(t, "wordpress", "mariadbd", "/usr/sbin/mariadbd"), tool(t, "wordpress", "mariadb-install-db")
	dir, as := serverDir(t)
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "s")
	begin := exec.Command(install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
	begin.SysProcAttr, begin.Dir = as, dir
	mustRun(t, begin)
	server := exec.Command(program, "--no-defaults", "--datadir="+data, "--socket="+socket, "--pid-file="+filepath.Join(dir, "pid"),
		"--skip-networking", "--innodb-flush-log-at-trx-commit=0")
	server.SysProcAttr, server.Dir = as, dir
	runServer(t, syscall.SIGTERM, server)
	client := tool(t, "wordpress", "mariadb")
	until(t, 30*time.Second, "the database", func() bool {
		return exec.Command(client, "--no-defaults", "--socket="+socket, "--user=root", "--execute=CREATE DATABASE IF NOT EXISTS wordpress").Run() == nil
	})
	return socket
}

func (b *blog) do(req *http.Request) string {
	b.t.Helper()
	resp, err := b.browser.Do(req)
	must(b.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(b.t, err)
	if resp.StatusCode/100 != 2 {
		b.t.Fatalf("WordPress: %s %s: %s %s", req.Method, req.URL, resp.Status, tail(string(text)))
	}
	return string(text)
}

func (b *blog) page(path string) string {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), "GET", b.address+path, nil)
	must(b.t, err)
	return b.do(req)
}

// form sends a form, and fails unless the page that follows says so.
func (b *blog) form(path string, values url.Values, says string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), "POST", b.address+path, strings.NewReader(values.Encode()))
	must(b.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if page := b.do(req); !strings.Contains(page, says) {
		b.t.Fatalf("WordPress: %s does not say %q: %s", path, says, tail(page))
	}
}

// post asks the API as the editor does: to publish, to change, to delete.
func (b *blog) post(method, path string, body any) (id int, link string) {
	b.t.Helper()
	text, err := json.Marshal(body)
	must(b.t, err)
	route, query, _ := strings.Cut(path, "?")
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.address+"/?rest_route=/wp/v2/posts"+route+"&"+query, strings.NewReader(string(text)))
	must(b.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-WP-Nonce", b.nonce)
	var made struct {
		ID   int    `json:"id"`
		Link string `json:"link"`
	}
	answer := b.do(req)
	if err := json.Unmarshal([]byte(answer), &made); err != nil {
		b.t.Fatalf("%v: %s", err, answer)
	}
	return made.ID, made.Link
}

var nonceField = regexp.MustCompile(`name="_wpnonce" value="([^"]+)"`)

// updateService is Settings, Writing, Update Services.
func (b *blog) updateService(address string) {
	b.t.Helper()
	found := nonceField.FindStringSubmatch(b.page("/wp-admin/options-writing.php"))
	if found == nil {
		b.t.Fatal("no nonce on the page of the settings")
	}
	b.form("/wp-admin/options.php", url.Values{
		"option_page": {"writing"}, "action": {"update"}, "_wpnonce": {found[1]}, "_wp_http_referer": {"/wp-admin/options-writing.php"},
		"default_category": {"1"}, "default_post_format": {"0"}, "ping_sites": {address}, "submit": {"Save Changes"},
	}, address)
}

// TestWordPress publishes, corrects and deletes in WordPress as its owner does.
// The peer beside it looks once an hour, or at once when it is pinged, and its
// address is set where docs/publishers.md says.
func TestWordPress(t *testing.T) {
	t.Parallel() // it waits more than it works
	b := newBlog(t)
	feed := b.address + "/?feed=rss2"
	n := newNetwork(t, "300ms", "--interval", "1h")
	p := n.peer(nil, "news=blog@"+feed)
	reader := n.peer([]*peer{p}, "sport=sport@"+newOrigin(t).feed(newFeed("sport", 1)))
	n.formed(map[string]int{"news": 1, "sport": 1}, p, reader)
	// Who follows before the first look is told of history by its number alone.
	until(t, 20*time.Second, "the first look", func() bool { return p.entriesHeld(t) == 1 })
	follower := n.follow(reader, "--theme", "news", "--updates")
	follower.event(t, 20*time.Second, "the first post", func(o object) bool { return o.str("title") == "Hello world!" })
	follower.event(t, 20*time.Second, "the first answer", func(o object) bool { return o.str("event") == "answered" })
	b.updateService(p.http + "/RPC2")

	id, link := b.post("POST", "", map[string]any{"title": "News of today", "content": "<p>As it was.</p>", "status": "publish"})
	b.page("/wp-admin/edit.php") // any visit runs its cron, which pings
	told, at := follower.event(t, 30*time.Second, "what was published", func(o object) bool { return o.str("title") == "News of today" })
	if told.str("url") != link || !strings.Contains(told.str("content_html")+told.str("summary"), "As it was.") {
		t.Errorf("the follower is told %v, not %s", told, link)
	}

	// WordPress derives its feed's validators from the second of the last change.
	until(t, 5*time.Second, "the next second", func() bool { return time.Now().Unix() > at.Unix() })
	b.post("POST", fmt.Sprintf("/%d", id), map[string]any{"content": "<p>As it should be.</p>"})
	b.page("/wp-admin/edit.php")
	corrected, _ := follower.event(t, 30*time.Second, "the correction", func(o object) bool {
		return strings.Contains(o.str("content_html")+o.str("summary"), "As it should be.")
	})
	if corrected.str("id") != told.str("id") {
		t.Errorf("the correction is another entry: %v", corrected)
	}

	b.post("DELETE", fmt.Sprintf("/%d?force=true", id), nil)
	if strings.Contains(b.page("/?feed=rss2"), "News of today") {
		t.Error("WordPress still has it")
	}
	if r := command(t, "retract", "--data", p.data, link); r.code != 0 {
		t.Errorf("retract: %v", r)
	}
	follower.event(t, 20*time.Second, "it is taken back", func(o object) bool {
		return o.str("event") == "retracted" && o.str("id") == told.str("id")
	})
	for _, at := range []*peer{p, reader} {
		if titles := n.titles(at, "--theme", "news"); len(titles) != 1 || titles[0] != "Hello world!" {
			t.Errorf("left are %v", titles)
		}
	}
}
