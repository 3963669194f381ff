package fetchers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
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
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), proxyEnv+"=http://host.invalid/x", "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL)
	out, err := cmd.Output()
	if err != nil || string(out) != "for http://host.invalid/x" {
		t.Errorf("%v %q", err, out)
	}
}
