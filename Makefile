# make demo | build | deep | test, from a fresh clone on Debian 12. CMake does the work: see CMakePresets.json.
# They share build/release, so the library is compiled only once.

BUILD := build/release
# Continuous integration sets CI. Warnings are errors there.
CONFIGURE := $(if $(filter true 1,$(CI)),-DCOTERIE_WARNINGS_AS_ERRORS=ON,-DCOTERIE_WARNINGS_AS_ERRORS=OFF)
# Chosen once per build folder. Another launcher later would change all command lines, so everything would be compiled again.
LAUNCHER = $(if $(wildcard $(BUILD)/CMakeCache.txt),,$$(command -v ccache >/dev/null && echo -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache))
FORMAT := clang-format-14
SOURCES = git ls-files -z -- '*.cpp' '*.hpp' ':!*/vendor/*'

# $(call configure,PRESET,MORE) and $(call compile,TARGETS)
define configure
@mkdir -p build
@cmake --preset $(1) $(CONFIGURE) $(LAUNCHER) $(2) >$(BUILD).configure.log 2>&1 || { cat $(BUILD).configure.log; exit 1; }
endef
compile = @ninja -C $(BUILD) $(if $(JOBS),-j$(JOBS)) $(1)

.DEFAULT_GOAL := help
.PHONY: help build deep demo python build-tests test test-slow lint coverage sanitize sanitize-packages sanitize-asan sanitize-tsan benchmark docs format check-format clean

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | sort | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'

build: ## The command, build/release/cli/coterie, and the library
	@scripts/install-packages packages-build.txt
	$(call configure,command)
	$(call compile)

deep: ## The same with networks: installs LibTorch
	@scripts/install-packages packages-build.txt packages-deep.txt
	$(call configure,command)
	$(call compile)

demo: build ## A first look: five data sets, k-means and the method that suits each
	@scripts/demo

# A virtual environment for the Python package: Debian's interpreter, PyPI's packages.
VENV := build/venv
PYTHON := $(firstword $(wildcard /usr/bin/python3) python3)
$(VENV)/ready: requirements-python.txt packages-python.txt
	@scripts/install-packages packages-python.txt
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement requirements-python.txt
	@touch $@

# scikit-build-core calls CMake and takes its variables. The wheel is tested in an environment with NumPy only.
python: $(VENV)/ready ## The Python package as a wheel, build/python/coterie-*.whl
	@scripts/install-packages packages-build.txt packages-python.txt
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" scripts/make-wheel --output build/python $(CONFIGURE)

build-tests: $(VENV)/ready # the command, the package, the tests and coterie-reproduce
	@scripts/install-packages packages-build.txt packages-deep.txt packages-test.txt packages-python.txt
	$(call configure,release,-DCOTERIE_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/bin/python)
	$(call compile)

# Repeats the summary line of ctest below its lists of times and skipped tests.
test: build-tests ## The fast tests
	@status=0; \
	ctest --test-dir $(BUILD) -LE slow --output-on-failure --no-label-summary -j2 --output-log $(BUILD).tests.log || status=$$?; \
	grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+' $(BUILD).tests.log | tail -n 1; \
	exit $$status

test-slow: build-tests ## The slow tests: MNIST compared with scikit-learn, all readers under libFuzzer with sanitizers
	@scripts/install-packages packages-slow.txt
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement requirements-slow.txt
	@ctest --test-dir $(BUILD) -L slow --output-on-failure --no-label-summary
	@cmake --preset fuzz >/dev/null && ninja -C build/fuzz && ctest --test-dir build/fuzz --output-on-failure --no-label-summary

# clang reads the command lines of GCC, so it must pass over flags that it does not know.
lint: ## Check the sources with clang-tidy (.clang-tidy)
	@scripts/install-packages packages-build.txt packages-deep.txt packages-test.txt packages-lint.txt
	$(call configure,lint)
	@run-clang-tidy-14 -p $(BUILD) -quiet -extra-arg=-Wno-unknown-warning-option $(if $(JOBS),-j$(JOBS)) '/(coterie|cli)/.*\.cpp' 2>build/lint.log >build/lint.txt \
	|| { cat build/lint.txt; exit 1; }
lint: BUILD := build/lint

coverage: ## The lines that the fast C++ tests run, build/coverage/lines.html
	@scripts/install-packages packages-build.txt packages-deep.txt packages-test.txt packages-lint.txt
	$(call configure,coverage)
	@ninja -C $(BUILD) $(if $(JOBS),-j$(JOBS))
	@ctest --test-dir $(BUILD) -LE slow -E '^(cli|package|agreement|reproduce|sources)' --output-on-failure --no-label-summary -j2
	@gcovr --root . --filter 'coterie/' --exclude '.*_test\.cpp' --exclude '.*/vendor/.*' --gcov-ignore-parse-errors --print-summary \
	  --html-details $(BUILD)/lines.html $(BUILD)
coverage: BUILD := build/coverage

# Tests that start other programs (cli, package, reproduce, agreement) run only in make test. A finding fails its test: sanitized code stops at the
# first one, and the leak check runs at the end. GCC 12's leak sanitizer crashes in the thread-local memory of libraries that are loaded later, such
# as LibTorch. intercept_tls_get_addr=0 prevents this.
SANITIZE := asan tsan
sanitize: $(SANITIZE:%=sanitize-%) ## The fast C++ tests under the sanitizers; one of them: make sanitize SANITIZE=asan

sanitize-packages:
	@scripts/install-packages packages-build.txt packages-deep.txt packages-test.txt

sanitize-asan sanitize-tsan: sanitize-%: sanitize-packages
	$(call configure,$*)
	@ninja -C $(BUILD) $(if $(JOBS),-j$(JOBS)) $$(ninja -C $(BUILD) -t targets all | sed -nE 's/^((test|example)_[a-z_]+|coterie_deep): phony$$/\1/p')
	@ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:detect_stack_use_after_return=1:check_initialization_order=1:strict_string_checks=1:intercept_tls_get_addr=0 \
	UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=$(CURDIR)/tests/thread_sanitizer.suppressions \
	ctest --test-dir $(BUILD) -L fast -E '^(cli|package|agreement|reproduce|sources|torch\.python|example\.predict)' --output-on-failure --no-label-summary
sanitize-asan: BUILD := build/asan
sanitize-tsan: BUILD := build/tsan

benchmark: ## Build the benchmarks (benchmarks/README.md explains how to run them)
	@scripts/install-packages packages-build.txt packages-deep.txt packages-test.txt packages-slow.txt
	@cmake --preset benchmark && ninja -C build/benchmark
	@test -d build/peers || python3 -m venv build/peers
	@build/peers/bin/pip install --quiet --requirement benchmarks/requirements.txt

docs: ## The site with the pages of docs/ and the public headers, build/docs/site/index.html
	@scripts/install-packages packages-docs.txt
	@scripts/make-site --output build/docs

format: ## Format the sources
	@$(SOURCES) | xargs -0 $(FORMAT) -i

check-format: ## List the sources that are not formatted
	@$(SOURCES) | xargs -0 $(FORMAT) --dry-run -Werror

clean: ## Remove the folder build
	@rm -rf build
