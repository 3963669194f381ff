package fetchers

import (
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
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
	exempt := os.Getenv("NO_PROXY")
	if exempt == "" {
		exempt = os.Getenv("no_proxy")
	}
	return func(r *http.Request) (*url.URL, error) {
		name := broken[r.URL.Scheme]
		if name == "" || goesWithout(r.URL, exempt) {
			return http.ProxyFromEnvironment(r)
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

// goesWithout says whether no proxy is used for an address, by NO_PROXY: hosts, domains with all that is below them,
// addresses and their ranges, each perhaps with a port, or * for all. This machine never is asked through one.
func goesWithout(u *url.URL, exempt string) bool {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	ip, err := netip.ParseAddr(host)
	if host == "localhost" || err == nil && ip.Unmap().IsLoopback() {
		return true
	}
	for entry := range strings.SplitSeq(strings.ToLower(exempt), ",") {
		entry = strings.TrimSpace(entry)
		if within, err := netip.ParsePrefix(entry); err == nil && within.Contains(ip.Unmap()) {
			return true
		}
		if rest, ok := strings.CutSuffix(entry, ":"+port(u)); ok && strings.Count(entry, ":") == 1 {
			entry = rest
		}
		domain := strings.TrimPrefix(strings.TrimPrefix(entry, "*"), ".")
		switch {
		case entry == "*", entry != "" && entry == host:
			return true
		case domain != "" && strings.HasSuffix(host, "."+domain) && !ip.IsValid():
			return true
		}
	}
	return false
}
