package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const nginxConfig = `daemon off; %[3]sworker_processes 2; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 100000000; sendfile on; tcp_nopush on; gzip_static on; open_file_cache max=10;
  client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  types { application/rss+xml xml; }
  server { listen %[2]s; root %[1]s/www; }
}
`

// nginxProgram is the system's nginx; empty: there is none.
func nginxProgram() string {
	path, err := exec.LookPath("nginx")
	if err != nil {
		path, _ = exec.LookPath("/usr/sbin/nginx") // which users' PATH lacks
	}
	return path
}

// nginx starts nginx with a document that is compressed already, and returns the
// document's address.
func (b *bench) nginx(plain, zipped []byte) string {
	www, address, user := filepath.Join(b.dir, "www"), freeAddress(), ""
	if os.Geteuid() == 0 {
		user = "user root; "
	}
	check(os.Mkdir(www, 0o755))
	check(os.WriteFile(filepath.Join(www, "feed.xml"), plain, 0o600))
	check(os.WriteFile(filepath.Join(www, "feed.xml.gz"), zipped, 0o600))
	config := filepath.Join(b.dir, "nginx.conf")
	check(os.WriteFile(config, fmt.Appendf(nil, nginxConfig, b.dir, address, user), 0o600))
	b.start(func(string) {}, nginxProgram(), "-c", config, "-p", b.dir)
	return "http://" + address + "/feed.xml"
}
