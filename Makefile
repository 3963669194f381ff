# The commands of this repository. `make demo` and `make test` are all that a newcomer needs.

GO          ?= go
STATICCHECK  = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT      = $(GO) run mvdan.cc/gofumpt@v0.12.0
PREFIX      ?= $(HOME)/.local

.PHONY: demo test check fmt bench clients install build

demo: build ## the main job on this machine, in seconds
	@scripts/demo bin/sessevents

build:
	@mkdir -p bin
	@CGO_ENABLED=0 $(GO) build -o bin/ ./cmd/...

test: ## every test; those with real agents say so and are left out where `make clients` was not run
	@# By default a program under the race detector sleeps a second before it ends, and the tests start thousands.
	GORACE=atexit_sleep_ms=0 $(GO) test -race -timeout 14m $$($(GO) list ./... | grep -v '/cmd/csd$$')
	$(GO) test -timeout 14m ./cmd/csd # thousands of short processes; the code in them was under the detector above

check: ## what has to hold besides the tests
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	$(STATICCHECK) ./...
	@unformatted=$$($(GOFUMPT) -l .); [ -z "$$unformatted" ] || { echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; }

fmt: ## format every file
	$(GOFUMPT) -w .

bench: build ## measure, in ratios against a peer in the same run
	@scripts/bench

clients: ## install the real agents, pinned, into a cache folder
	@scripts/clients

install: ## into $(PREFIX)/bin, and completions for bash, zsh and fish
	@scripts/install "$(PREFIX)"
