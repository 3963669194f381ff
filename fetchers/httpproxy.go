package fetchers

import (
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// proxyVariables are those that name the proxy for a scheme; the first one that is set counts.
var proxyVariables = map[string][]string{"http": {"HTTP_PROXY", "http_proxy"}, "https": {"HTTPS_PROXY", "https_proxy"}}

// proxyOfEnvironment is [http.ProxyFromEnvironment], but for variables that name no proxy: that one goes without, which
// whoever set them does not want, and nobody would hear of it. What they hold may be a password and is not named.
func proxyOfEnvironment() func(*http.Request) (*url.URL, error) {
	broken := map[string]string{} // the variable, by scheme
	for scheme, names := range proxyVariables {
		if at := slices.IndexFunc(names, func(name string) bool { return os.Getenv(name) != "" }); at >= 0 && !isProxy(os.Getenv(names[at])) {
			broken[scheme] = names[at]
		}
	}
	if len(broken) == 0 {
		return http.ProxyFromEnvironment
	}
	config := httpproxy.FromEnvironment() // what goes without a proxy does so whichever it is
	config.HTTPProxy, config.HTTPSProxy = "http://any.invalid", "http://any.invalid"
	wants := config.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) {
		name := broken[r.URL.Scheme]
		if name == "" {
			return http.ProxyFromEnvironment(r)
		}
		if proxy, err := wants(r.URL); proxy == nil || err != nil {
			return nil, err
		}
		return nil, failf("invalid", "the environment variable %s is not the address of a proxy, such as http://host:port", name)
	}
}

// isProxy says whether net/http can use a proxy of this address: a URL, or a host with a port.
func isProxy(address string) bool {
	u, err := url.Parse(address)
	if !strings.Contains(address, "://") {
		u, err = url.Parse("http://" + address)
	}
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return false
	}
	_, err = strconv.ParseUint(u.Port(), 10, 16)
	return err == nil || u.Port() == ""
}
