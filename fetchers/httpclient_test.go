package fetchers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const proxyEnv = "FETCHERS_ASK_THROUGH_PROXY"

func askThroughProxy() {
	answer, err := All["http"].Fetch(context.Background(), Request{Now: time.Now(), Options: map[string]any{
		"url": os.Getenv(proxyEnv), "accept": []int64{200}, "maxBytes": int64(1000), "parse": "text",
	}})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Print(answer.Doc.(map[string]any)["body"])
	os.Exit(0)
}

func TestProxyFromTheEnvironment(t *testing.T) {
	proxy := newSite(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "for "+r.URL.String()) })
	self, err := os.Executable()
	must(t, err)
	ask := func(url string, env ...string) (string, error) {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), append([]string{proxyEnv + "=" + url, "HTTP_PROXY=" + proxy.URL, "NO_PROXY=", "no_proxy="}, env...)...)
		out, err := cmd.Output()
		return string(out), err
	}
	if out, err := ask("http://host.invalid/x"); err != nil || out != "for http://host.invalid/x" {
		t.Errorf("%v %q", err, out)
	}
	if out, err := ask("http://host.invalid/x", "HTTPS_PROXY=http://[::1"); err != nil || out != "for http://host.invalid/x" {
		t.Errorf("the broken proxy of another scheme: %v %q", err, out)
	}
	direct := newSite(t, sends(200, "", "direct"))
	if out, err := ask(direct.URL, "HTTP_PROXY=http://[::1"); err != nil || out != "direct" {
		t.Errorf("this machine: %v %q", err, out)
	}
	if out, err := ask("http://host.invalid/x", "HTTP_PROXY=http://[::1", "NO_PROXY=host.invalid"); err == nil || !strings.Contains(out, "no such host") && !strings.Contains(out, "looked up") {
		t.Errorf("a host that goes without a proxy: %v %q", err, out)
	}
	for _, address := range []string{
		"http://user:hunter2@[::1", "http://user:hunter2@proxy.invalid:port", "user:hunter2@proxy.invalid:port", "ftp://user:hunter2@proxy.invalid",
		"http://user:hunter2@proxy.invalid:99999", "http://user:hunter2@", "http://user:hunter2%zz@proxy.invalid", "hunter2 or so", ":8080",
	} {
		for scheme, name := range map[string]string{"http": "HTTP_PROXY", "https": "HTTPS_PROXY"} {
			out, err := ask(scheme+"://host.invalid/x", name+"="+address)
			if err == nil || !strings.Contains(out, "the environment variable "+name+" is not the address of a proxy") || strings.Contains(out, "hunter2") {
				t.Errorf("%s=%s: %v %q", name, address, err, out)
			}
		}
	}
}
